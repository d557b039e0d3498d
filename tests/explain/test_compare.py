"""Where a model is wrong about a world, and where two models disagree.

The texts that people read are golden files (see tests/support/golden.py).
"""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import treethink as tt
from golden import check_golden
from models import learned, learned_from
from strategies import Stream, streams
from treethink.errors import SettingError, WrongTypeError
from treethink.explain.compare import diff
from treethink.explain.compare.diff import RuleDifference, outline, situations
from treethink.explain.compare.minimize import minimize
from treethink.explain.distributions import differ_significantly
from treethink.metrics import distance, marginals
from treethink.model import TreeThink
from treethink.repro.runner import TOLERANCE
from treethink.rules import Rule
from treethink.state import Object, State
from treethink.worlds import World

MANY = settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
FEW = settings(MANY, max_examples=4)
any_stream = streams(criteria=("wilson", "evidence"), memories=("none", "long"), units=True)


# ------------------------------------------------------------------------- minimizing


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 40), st.data())
def test_a_minimized_state_has_only_the_needed_objects(n: int, data: st.DataObject) -> None:
    schema = tt.Schema({"lamp": ["on"]}, {"on": 1}, [])
    state = State(schema, [Object(i, "lamp", on=0) for i in range(n)])
    needed = data.draw(st.sets(st.integers(0, n - 1)))
    assert set(minimize(state, lambda some: needed <= set(some.ids)).ids) == needed


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 12), st.data())
def test_no_object_of_a_minimized_state_can_be_removed(n: int, data: st.DataObject) -> None:
    """Some objects can only be removed after others."""
    schema = tt.Schema({"lamp": ["on"]}, {"on": 1}, [])
    state = State(schema, [Object(i, "lamp", on=0) for i in range(n)])
    some = st.integers(0, n - 1)
    pairs = data.draw(st.lists(st.tuples(some, some), max_size=12))
    needed = data.draw(st.sets(some, max_size=2))

    def is_enough(fewer: State) -> bool:
        closed = all(b in fewer for a, b in pairs if a in fewer)
        return closed and needed <= set(fewer.ids)

    smallest = minimize(state, is_enough)
    assert is_enough(smallest)
    for each in smallest.ids:
        assert not is_enough(State(schema, [other for other in smallest if other.id != each]))


# -------------------------------------------------------------------------- checking


def test_check_finds_nothing_wrong_with_an_exact_model() -> None:
    report = learned("maze", 5000).check(tt.make("maze"), 500)
    assert not report and report.example is None
    assert (report.tried, report.wrong) == (500, 0)
    assert str(report) == "nothing wrong in 500 transitions of maze"
    unstated = {"times": 0, "likely": 0, "expected": 0.0, "unsure": 0, "never_seen": 0}
    expected = {"world": "maze", "tried": 500, "wrong": 0, "example": None, "unstated": unstated}
    expected |= {"stress": 0, "wrong_stress": 0}
    assert report.to_dict() == expected
    assert report.explanations() == []


def test_a_model_that_never_saw_a_goal_is_wrong_about_goals() -> None:
    """The counterexample has only three objects."""
    world, blind = tt.make("maze"), learned("maze", 3000, goals=0)
    report = blind.check(world, 1000)
    assert report and report.example is not None
    state = report.example.state
    assert sorted(each.class_name for each in state) == ["game", "goal", "player"]
    assert len(report.example.met) > len(state)
    (wrong,) = report.example.wrong
    assert (wrong.attribute, wrong.outright) == ("score", True)
    check_golden("check_maze.txt", str(report) + "\n")


def _true_outcomes(state: State, truth: Any, each: Any) -> Any:
    key = (each.object_id, each.attribute)
    return truth.get(key, {state.value(*key): 1.0})


def _is_as_wrong(model: Any, world: Any, state: State, action: str, wrong: Any) -> bool:
    """Return whether the prediction and the truth of the wrong values are the same there."""
    try:
        truth = marginals(state, world.distribution(state, action))
    except Exception:  # not a state of this world
        return False
    prediction = model.predict(state, action)
    return all(
        each.object_id in state
        and prediction.outcomes(each.object_id, each.attribute) == each.predicted
        and _true_outcomes(state, truth, each) == each.true
        for each in wrong
    )


@pytest.mark.parametrize(("name", "steps"), [("keys", 1500), ("coins", 400), ("lights", 60)])
def test_a_counterexample_is_wrong_and_minimal(name: str, steps: int) -> None:
    world, model = tt.make(name), learned(name, steps)
    report = model.check(world, 600, seed=3)
    assert report.example is not None
    state, action = report.example.state, report.example.action
    truth = world.distribution(state, action)
    assert tt.error(model.predict(state, action), truth) > TOLERANCE
    for each in report.example.wrong:
        key = (each.object_id, each.attribute)
        assert model.predict(state, action).outcomes(*key) == each.predicted
        assert distance(each.predicted, each.true) > TOLERANCE
    for removed in state.ids:  # each object is needed
        fewer = State(world.schema, [each for each in state if each.id != removed])
        assert not _is_as_wrong(model, world, fewer, action, report.example.wrong)
    json.dumps(report.to_dict())
    assert str(report) == str(model.check(world, 600, seed=3))
    assert len(report.explanations()) == len(report.example.wrong)


def test_outright_errors_come_before_inexact_probabilities() -> None:
    """A leaf with stray observations has inexact probabilities, also in smaller states."""
    report = learned("maze", 300).check(tt.make("maze"), 1000)
    assert report.example is not None
    assert any(each.outright for each in report.example.wrong)


class Fragile(World):
    """Three lamps that a press switches on; raises a KeyError if one of them is missing."""

    name = "fragile"
    schema = tt.Schema({"lamp": ["on"]}, {"on": 1}, ["press"])

    def reset(self, seed: int) -> State:
        return State(self.schema, [Object(i, "lamp", on=0) for i in range(3)])

    def dynamics(self, state: State, action: str) -> list[tuple[State, float]]:
        lamps = {each.id: each for each in state}
        return [(state.replace_many({lamps[i].id: {"on": 1} for i in range(3)}), 1.0)]


class Onward(Fragile):
    """The same world, but it only steps onward from its current state."""

    pure = False

    def truth(self, before: State, action: str, after: State) -> State:
        return after


@pytest.mark.parametrize("world", [Fragile(), Onward()])
def test_a_counterexample_keeps_all_objects_that_the_world_needs(world: World) -> None:
    report = TreeThink(world.schema).check(world, 5)
    assert report.example is not None
    assert report.example.state == report.example.met == world.reset(0)
    assert [each.object_id for each in report.example.wrong] == [0, 1, 2]
    assert "(as it was met)" in str(report)


class Tossed(World):
    """A biased coin whose world does not state its probabilities."""

    name = "tossed"
    pure = False
    schema = tt.Schema({"coin": ["side"]}, {"side": tt.Attribute(1, outcomes="value")}, ["toss"])

    def reset(self, seed: int) -> State:
        return State(self.schema, [Object(0, "coin", side=0)])

    def dynamics(self, state: State, action: str) -> list[tuple[State, float]]:
        return [(state.replace(0, side=side), chance) for side, chance in ((0, 0.3), (1, 0.7))]

    def truth(self, before: State, action: str, after: State) -> State:
        return after


def test_inexact_probabilities_are_not_wrong_if_the_world_does_not_state_them() -> None:
    model = TreeThink(Tossed.schema)
    model.observe_many(tt.transitions(Tossed(), 1_000, 0))
    report = model.check(Tossed(), 500, seed=1)
    assert not report and report.wrong == 0
    text = " ".join(str(report).split())
    assert text.startswith("nothing wrong in 500 transitions of tossed this world does not state")
    assert f"followed {report.unstated.likely} of 500 times" in text and "to be expected" in text
    assert report.to_dict()["unstated"]["times"] == 500
    assert abs(report.unstated.likely - report.unstated.expected) < 50
    # An outcome that the model considers impossible still counts as wrong.
    report = TreeThink(Tossed.schema).check(Tossed(), 500, seed=1)
    assert report and report.wrong == 500 - report.unstated.likely > 200
    assert "does not state its chances" in str(report) and "predicted 0 (never seen)" in str(report)


def test_a_report_on_a_deterministic_world_does_not_mention_chances() -> None:
    model = TreeThink(Onward.schema)
    model.observe_many(tt.transitions(Onward(), 200, 0))
    assert str(model.check(Onward(), 100)).strip() == "nothing wrong in 100 transitions of fragile"
    assert str(learned("maze", 5000).check(tt.make("maze"), 100)).count("chances") == 0


def test_learned_probabilities_of_a_random_world_need_not_be_exact() -> None:
    assert not learned("fish", 4000).check(tt.make("fish"), 300)


def test_a_check_finds_what_random_play_does_not_show() -> None:
    world = tt.make("push", boxes=1, goals=1, scored=0)
    model = TreeThink(world.schema)
    model.observe_many(tt.transitions(world, 6_000, 0))
    check = model.check(world, 300)
    assert (check.tried, check.wrong, check.stress) == (300, 0, 300)
    assert check and check.wrong_stress > 0
    example = check.example
    assert example is not None and len(example.state) < len(example.met)
    assert f"0 of 300 transitions of push and {check.wrong_stress} of 300 situations" in str(check)
    assert check.to_dict()["wrong_stress"] == check.wrong_stress

    model.observe_many(tt.transitions(world, 9_000, 1))
    again = model.check(world, 300)
    assert not again
    assert " ".join(str(again).split()) == (
        "nothing wrong in 300 transitions of push and 300 situations put together at random"
    )


def test_worlds_without_such_situations_are_checked_by_play_alone() -> None:
    world = tt.make("maze")
    check = TreeThink(world.schema).check(world, 50)
    assert check.stress == check.wrong_stress == 0
    assert "put together" not in str(check)


@pytest.mark.parametrize(
    ("world", "n", "error", "message"),
    [
        ("maze", 10, WrongTypeError, "needs a World, such as make"),
        (tt.make("keys"), 10, SettingError, "does not fit world 'keys'"),
        (tt.make("maze"), 0, SettingError, "n must be at least 1"),
    ],
)
def test_check_refuses_invalid_arguments(world: Any, n: int, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        learned("maze", 5000).check(world, n)


# --------------------------------------------------------------------------- diff


@MANY
@given(any_stream)
def test_a_model_agrees_with_itself(stream: Stream) -> None:
    model = learned_from(stream)
    difference = model.diff(model, n=50)
    assert not difference and difference.tried == 50
    assert "no rule differs" in str(difference)


@FEW
@given(any_stream, any_stream)
def test_disagreements_are_real_small_and_mutual(stream: Stream, other: Stream) -> None:
    half = Stream(stream.schema, {**other.settings}, stream.shape)
    model, late = learned_from(stream), TreeThink(half.schema, **half.settings)
    late.observe_many(half.transitions[: len(half.transitions) // 3])
    difference, reverse = model.diff(late, n=60), late.diff(model, n=60)
    assert {each.key for each in difference.rules} == {each.key for each in reverse.rules}
    for each in difference.rules:
        assert each.example is not None or outline(each.ours) != outline(each.theirs)
        if each.example is not None:
            state, action = each.example.state, each.example.action
            key = (each.example.object_id, each.example.attribute)
            ours, theirs = (m.predict(state, action).outcomes(*key) for m in (model, late))
            assert (ours, theirs) == (each.example.ours, each.example.theirs)
            seen = (m.predict(state, action).support(*key) for m in (model, late))
            assert differ_significantly(ours, theirs, *seen)
    json.dumps(difference.to_dict())
    assert str(difference) == str(model.diff(late, n=60))


def test_a_diff_matches_the_golden_file() -> None:
    blind, model = learned("maze", 3000, goals=0), learned("maze", 5000)
    difference = blind.diff(model, tt.make("maze"))
    # A rule that one of the models never observed differs too.
    assert {each.key[:2] for each in difference.rules} == {("game", "score"), ("goal", "pos")}
    assert all(len(each.example.state) == 3 for each in difference.rules if each.example)
    check_golden("diff_maze.txt", str(difference) + "\n")
    without_world = blind.diff(model)
    assert {each.key for each in without_world.rules} == {each.key for each in difference.rules}
    assert sum(each.disagreements > 0 for each in without_world.rules) == 5


def test_large_rules_are_compared_line_by_line_quickly() -> None:
    """The rules have 900 tests that differ only in numbers, and share 600 of them."""

    def rule(first: int) -> Rule:
        nodes: list[Any] = []
        for n in range(first, first + 900):
            test = ("equality", ("x",), ("dot",), (0,), (3 * n % 1000,))
            nodes += [(len(nodes) + 1, len(nodes) + 2, ("dot",), {}, test)]
            nodes += [(None, None, ("dot",), {(n % 3,): 1}, None)]
        nodes.append((None, None, ("dot",), {(9,): 1}, None))
        return Rule("dot.x when go", ("dot",), 1, {(0,): 1}, nodes, ("dot", "x", "go"))

    ours, theirs = rule(0), rule(300)
    start = time.perf_counter()
    lines = RuleDifference(("dot", "x", "go"), ours, theirs, 0, 0, None).text.splitlines()
    assert time.perf_counter() - start < 10  # word by word, it took minutes
    assert [line[2:] for line in lines if line[0] != "+"] == outline(ours)
    assert [line[2:] for line in lines if line[0] != "-"] == outline(theirs)
    same = RuleDifference(("dot", "x", "go"), ours, ours, 0, 0, None).text.splitlines()
    assert same == [f"  {line}" for line in outline(ours)]


def lamps(n: int, action: str) -> tuple[State, str]:
    schema = tt.Schema({"lamp": ["on"], "cat": ["on"]}, {"on": 1}, ["press", "wait"])
    return State(schema, [Object(i, "lamp", on=0) for i in range(n)]), action


def test_a_situation_counts_once_and_only_for_rules_that_apply(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Six of ten situations have the action `press`; five of these have a lamp or more."""
    states_and_actions = [lamps(n, "press") for n in (0, 1, 2, 3, 4, 5)] + [lamps(3, "wait")] * 4
    monkeypatch.setattr(diff, "situations", lambda *_: iter(states_and_actions))
    schema = states_and_actions[0][0].schema
    ours, theirs = TreeThink(schema), TreeThink(schema)
    before = State(schema, [Object(1, "lamp", on=0), Object(2, "cat", on=0)])
    for model, value in [(ours, 1), (theirs, 0)]:
        model.observe(before, "press", before.replace(1, on=value))
    theirs.observe(before, "wait", before)
    difference = ours.diff(theirs, n=10)
    counts = {each.key: (each.disagreements, each.tried) for each in difference.rules}
    assert difference.tried == 10
    assert counts == {
        ("lamp", "on", "press"): (5, 5),
        ("lamp", "on", "wait"): (0, 4),
        ("cat", "on", "wait"): (0, 0),
    }
    text = str(difference)
    assert text.startswith("3 rules differ; both models were asked about 10 situations\n")
    assert "different answers in 5 of 5 situations with `press` and a lamp, such as" in text
    (rule,) = [each for each in difference.to_dict()["rules"] if each["disagreements"]]
    assert (rule["tried"], rule["rule"]) == (5, ["lamp", "on", "press"])


def test_models_of_different_worlds_cannot_be_compared() -> None:
    model = learned("maze", 5000)
    with pytest.raises(SettingError, match="the classes of one are"):
        model.diff(learned("walls", 2000))
    with pytest.raises(WrongTypeError, match="another TreeThink, got 'maze'"):
        model.diff("maze")  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="does not fit world 'keys'"):
        model.diff(model, tt.make("keys"))


@MANY
@given(any_stream)
def test_synthetic_states_are_the_same_for_the_same_seed(stream: Stream) -> None:
    model = learned_from(stream)
    rules = list(model.rules.values())
    synthetic = list(situations(stream.schema, rules, 20, seed=1))
    assert synthetic == list(situations(stream.schema, rules, 20, seed=1))
    for state, action in synthetic:
        model.predict(state, action)


def coin(heads: int, n: int = 1_000) -> TreeThink:
    schema = tt.Schema({"coin": ["v"]}, {"v": 1}, ["flip"])
    model, state = TreeThink(schema), State(schema, [Object(1, "coin", v=0)])
    for i in range(n):
        model.observe(state, "flip", state.replace(1, v=1 if i % 100 < heads else -1))
    return model


def test_only_models_that_differ_by_more_than_chance_disagree() -> None:
    assert coin(62).diff(coin(38)) and not coin(62).diff(coin(62))
    assert not coin(51).diff(coin(50))


# ---------------------------------------------------------------------- transitions


def test_a_counterexample_of_a_log_has_only_what_the_answer_depends_on() -> None:
    world = tt.make("maze")
    blind = TreeThink(world.schema)
    blind.observe_many(tt.transitions(tt.make("maze", goals=0), 3_000, seed=0))
    log = list(tt.transitions(world, 1_000, seed=0))
    check = blind.check(log)
    assert check and check.world is None and check.tried == len(log) > check.wrong > 0
    example = check.example
    assert example is not None and 1 <= len(example.state) < len(example.met)
    wrong = [(each.object_id, each.attribute, dict(each.predicted)) for each in example.wrong]
    assert wrong
    for object_id, attribute, predicted in wrong:
        (_, _, after, *_) = next(each for each in log if each[0] == example.met)
        assert after.value(object_id, attribute) not in predicted
        answer = blind.predict(example.state, example.action).outcomes(object_id, attribute)
        assert answer == predicted
    text = str(check)
    assert "of 1,000 transitions; the smallest state found has" in text
    assert check.to_dict()["world"] is None


def test_a_log_that_agrees_has_no_counterexample() -> None:
    world = tt.make("walls")
    model = TreeThink(world.schema)
    model.observe_many(tt.transitions(world, 2_000, seed=0))
    log = tt.transitions(world, 300, seed=5)
    check = model.check(((*each[:3], 0.0, False) for each in log), n=200)
    assert not check and check.tried == 200
    assert str(check) == "nothing wrong in 200 transitions"


def test_a_check_needs_a_world_or_transitions() -> None:
    model = TreeThink(tt.make("walls").schema)
    with pytest.raises(TypeError, match="a check needs a World, such as"):
        model.check("walls")
