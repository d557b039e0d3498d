"""TreeThink: contracts, exact learning, and refusal of wrong arguments."""

from __future__ import annotations

import gc
import math
import weakref
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice, product
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from strategies import Shape, Stream, streams
from strategies import transitions as random_transitions
from treethink.checks import LEARNER_CHECKS
from treethink.checks.learners import all_outcomes
from treethink.errors import (
    SettingError,
    StateError,
    TransitionError,
    TreeThinkError,
    UnknownNameError,
    WrongTypeError,
    shown,
)
from treethink.metrics import each_change, error
from treethink.model import Change, Prediction, TreeThink
from treethink.rules import Node, Test
from treethink.state import Attribute, Object, Schema, State
from treethink.stream.random_play import transitions
from treethink.worlds import make

thorough = settings(
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
small_world = pytest.mark.parametrize("world", ["walls", "maze"])

LAMP = Schema({"lamp": ["on"]}, {"on": 1}, ["press", "wait"])
OFF, ON = (State(LAMP, [Object(1, "lamp", on=value)]) for value in (0, 1))
PRESSING = [(OFF, "press", ON), (ON, "press", OFF)]

COIN = Schema({"coin": ["face"]}, {"face": Attribute(1, facts=(), outcomes="value")}, ["toss"])
HIGHEST, LOWEST = 2**63 - 1, -(2**63)


def model_of_presses(times: int = 20) -> TreeThink:
    """A model that knows what pressing does, and nothing of waiting."""
    model = TreeThink(LAMP)
    model.observe_many(PRESSING * times)
    return model


def coins(*faces: int) -> State:
    return State(COIN, [Object(i, "coin", face=face) for i, face in enumerate(faces)])


def model_of_tosses(*counts: int) -> TreeThink:
    """A model that saw one coin fall so many times on face 0, 1, ..."""
    model = TreeThink(COIN)
    for face, count in enumerate(counts):
        model.observe_many([(coins(7), "toss", coins(face))] * count)
    return model


def possible(prediction: Prediction) -> list[State]:
    """Every state that may follow."""
    uncertain = list(each_change(prediction))
    states = []
    for values in product(*(outcomes for _, _, outcomes in uncertain)):
        changes: dict[int, dict[str, Any]] = {}
        for (x, name, _), value in zip(uncertain, values, strict=True):
            changes.setdefault(x, {})[name] = value
        states.append(prediction.state.replace_many(changes))
    return states


def node_at(node: Node, path: str) -> Node:
    for step in path:
        child = node.left if step == "L" else node.right
        assert child is not None
        node = child
    return node


def branch_tests(node: Node, path: str = "") -> dict[str, Test]:
    """The tests of a tree by the paths to them."""
    if node.test is None or node.left is None or node.right is None:
        return {}
    below = branch_tests(node.left, f"{path}L") | branch_tests(node.right, f"{path}R")
    return {path: node.test} | below


# ---------------------------------------------------- what every learner promises

LEARNERS = {
    "default": {},
    "paper": {"criterion": "wilson", "memory": 0},
    "eager": {"alpha": 0.5},
    "frozen": {"alpha": 0.3, "branch_updates": False},
    "forgetful": {"max_candidates": 25},
}


#: Few transitions of these, repeated, can only be learned by heart, which takes memory.
HARD = ("fish", "keys")
CASES = [
    (world, name)
    for world in ("walls", "doors", "maze", "lights", *HARD)
    for name in LEARNER_CHECKS
    if not (world in HARD and name == "memory_stays_flat_on_a_repeating_stream")
]


@pytest.mark.parametrize(("world", "check"), CASES)
@pytest.mark.parametrize("learner", LEARNERS)
def test_a_model_passes_every_check_of_learners(world, learner, check, tmp_path):
    size = {} if world == "lights" else {"width": 6, "height": 6}
    stream = list(transitions(make(world, **size), steps=300, seed=1, episode=20))
    LEARNER_CHECKS[check](lambda schema: TreeThink(schema, **LEARNERS[learner]), stream, tmp_path)


def test_a_model_has_the_name_of_its_kind():
    assert TreeThink.name == TreeThink(LAMP).name == "treethink"


@small_world
def test_learning_many_at_once_equals_learning_one_by_one(world):
    stream = list(transitions(make(world), steps=600, seed=2))
    one_by_one = TreeThink(make(world).schema)
    for transition in stream:
        one_by_one.observe(*transition)
    for many in (stream, tuple(stream), iter(stream), (list(each) for each in stream)):
        model = TreeThink(make(world).schema)
        assert model.observe_many(many) == model.observations == 600
        assert model.to_bytes() == one_by_one.to_bytes()


@pytest.mark.parametrize("facts", ["demand", "full"])
@pytest.mark.parametrize("bindings", ["first", "all"])
def test_predicting_many_at_once_equals_predicting_one_by_one(facts, bindings):
    stream = list(transitions(make("maze"), steps=700, seed=3))
    model = TreeThink(make("maze").schema)
    model.observe_many(stream)
    questions = [(before, action) for before, action, _ in stream]
    answers = model.predict_many(iter(questions), facts=facts, bindings=bindings)
    assert len(answers) == 700
    for (before, action), answer in islice(zip(questions, answers, strict=True), 0, None, 35):
        assert all_outcomes(answer) == all_outcomes(model.predict(before, action))
        assert answer.state == before


def test_empty_lists_can_be_learned_and_predicted():
    model = TreeThink(LAMP)
    assert model.observe_many([]) == model.observations == 0
    assert model.predict_many([]) == []


@small_world
def test_memory_stays_flat_on_a_repeating_stream(world):
    episode = list(transitions(make(world), steps=400, seed=4, episode=400))
    model = TreeThink(make(world).schema)
    model.observe_many(episode * 13)
    assert model.observations > model.memory  # what it keeps has grown as large as it gets
    before = model.memory_use()
    model.observe_many(episode * 20)
    after = model.memory_use()
    assert after["bytes"] <= 1.05 * before["bytes"]
    assert after["candidates"] <= 1.05 * before["candidates"]


def test_no_node_has_more_candidates_than_max_candidates():
    model = TreeThink(make("maze").schema, max_candidates=30)
    model.observe_many(transitions(make("maze"), steps=800, seed=0))
    use = model.memory_use()
    assert use["candidates"] <= 30 * use["nodes"]
    for rule in model.rules.varying():
        assert all(len(each) <= 30 for each in model._candidates(*rule))


# ---------------------------------------------------- what a prediction says


@settings(thorough, max_examples=25)
@given(streams(units=True))
def test_probabilities_of_possible_next_states_sum_to_one(stream: Stream):
    model = TreeThink(stream.schema, **stream.settings)
    model.observe_many(stream.transitions)
    for before, action, _ in stream.transitions[-15:]:
        prediction = model.predict(before, action)
        assert prediction.state == before
        states = possible(prediction) if len(list(each_change(prediction))) <= 5 else []
        shares = {state: prediction.probability(state) for state in states}
        assert not states or math.isclose(math.fsum(shares.values()), 1.0)
        assert all(share > 0 for share in shares.values())
        likeliest = prediction.probability(prediction.mode())
        assert all(share <= likeliest * (1 + 1e-9) for share in shares.values())


@settings(thorough, max_examples=25)
@given(streams(units=True))
def test_only_what_may_change_is_listed_as_a_change(stream: Stream):
    model = TreeThink(stream.schema, **stream.settings)
    model.observe_many(stream.transitions)
    for before, action, _ in stream.transitions[-15:]:
        prediction = model.predict(before, action)
        changes = {(x, name): outcomes for x, name, outcomes in each_change(prediction)}
        for (x, name), (outcomes, support) in all_outcomes(prediction).items():
            now = before.value(x, name)
            assert (outcomes != {now: 1.0}) == ((x, name) in changes)
            assert changes.get((x, name), outcomes) == outcomes
            assert support > 0 or outcomes == {now: 1.0}


def test_probability_of_a_state_is_the_product_of_the_shares_of_its_values():
    prediction = model_of_tosses(1, 2, 5).predict(coins(7, 7), "toss")
    for first, second in product(range(3), repeat=2):
        share = (1, 2, 5)[first] * (1, 2, 5)[second] / 64
        assert prediction.probability(coins(first, second)) == pytest.approx(share)
    assert prediction.probability(coins(7, 7)) == 0
    assert prediction.probability(coins(7)) == 0
    assert prediction.outcomes(1, "face") == {0: 1 / 8, 1: 2 / 8, 2: 5 / 8}
    assert prediction.support(1, "face") == 8
    assert prediction.changes() == {x: {"face": {0: 1 / 8, 1: 2 / 8, 2: 5 / 8}} for x in (0, 1)}
    assert prediction.mode() == coins(2, 2)


def test_the_mode_has_the_smallest_of_equally_probable_values():
    assert model_of_tosses(0, 3, 3, 3).predict(coins(7), "toss").mode() == coins(1)


def test_samples_follow_their_probabilities():
    prediction, rng = model_of_tosses(1, 3).predict(coins(7, 7), "toss"), np.random.default_rng(0)
    samples = Counter(prediction.sample(rng) for _ in range(4000))
    for state in possible(prediction):
        assert samples[state] / 4000 == pytest.approx(prediction.probability(state), abs=0.03)
    assert sum(samples.values()) == 4000


def test_sampling_depends_on_nothing_but_the_random_numbers():
    prediction = model_of_tosses(1, 1, 1).predict(coins(*[7] * 30), "toss")
    one, other = (prediction.sample(np.random.default_rng(5)) for _ in range(2))
    assert one == other
    assert one != prediction.sample(np.random.default_rng(6))


def test_a_sample_takes_a_seed_or_nothing_in_place_of_a_generator():
    prediction = model_of_tosses(1, 1, 1).predict(coins(*[7] * 30), "toss")
    for seed in (0, 5, np.int64(7)):
        assert prediction.sample(seed) == prediction.sample(np.random.default_rng(seed))
    assert prediction.sample() != prediction.sample(None)  # 3 ** 30 possible states


@pytest.mark.parametrize("certain", [True, False])
def test_the_changes_of_a_prediction_have_the_shape_of_changes_to(certain: bool):
    prediction = model_of_tosses(*((0, 3) if certain else (1, 1))).predict(coins(7, 7, 1), "toss")
    changes = prediction.changes()
    assert list(changes) == ([0, 1] if certain else [0, 1, 2])
    after = prediction.state.replace_many(
        {x: {name: max(values) for name, values in each.items()} for x, each in changes.items()}
    )
    assert after == coins(1, 1, 1)
    if certain:
        given = {
            x: {name: {v: 1.0} for name, v in each.items()}
            for x, each in prediction.state.changes_to(after).items()
        }
        assert given == changes


def test_sampling_draws_one_number_for_each_uncertain_attribute():
    rng, twin = np.random.default_rng(1), np.random.default_rng(1)
    model_of_tosses(1, 1).predict(coins(7, 7, 7), "toss").sample(rng)
    twin.random(3)
    assert rng.random() == twin.random()
    model_of_presses().predict(OFF, "press").sample(rng)  # certain: nothing to draw
    assert rng.random() == twin.random()


def test_a_prediction_stays_as_it_was_when_its_model_learns_on():
    model = model_of_tosses(1, 1)
    prediction = model.predict(coins(7), "toss")
    outcomes_before = all_outcomes(prediction)
    model.observe_many([(coins(7), "toss", coins(3))] * 100)
    del model
    gc.collect()
    assert all_outcomes(prediction) == outcomes_before


def test_unseen_actions_are_predicted_to_change_nothing():
    prediction = model_of_presses().predict(OFF, "wait")
    assert prediction.mode() == prediction.sample(np.random.default_rng(0)) == OFF
    assert prediction.outcomes(1, "on") == {0: 1.0}
    assert prediction.support(1, "on") == 0
    assert prediction.changes() == {}
    assert (prediction.probability(OFF), prediction.probability(ON)) == (1.0, 0.0)


def test_a_rule_that_never_varied_is_predicted_with_all_it_saw():
    model = TreeThink(LAMP)
    model.observe_many([(OFF, "press", ON)] * 9)
    prediction = model.predict(OFF, "press")
    assert prediction.outcomes(1, "on") == {1: 1.0}
    assert prediction.support(1, "on") == 9
    idle = TreeThink(LAMP)
    idle.observe_many([(OFF, "wait", OFF)] * 9)
    assert idle.predict(ON, "wait").support(1, "on") == 9
    assert idle.predict(ON, "wait").mode() == ON


def test_an_empty_leaf_answers_with_its_nearest_ancestors_counts():
    """Without a memory both children are empty right after a split."""
    model = TreeThink.paper(make("maze").schema)
    splits: list[Any] = []
    model.on_change = splits.append
    paths = set()
    for before, action, after in transitions(make("maze"), steps=3000, seed=0):
        splits.clear()
        model.observe(before, action, after)
        for split in splits:
            class_name, attribute, _ = split.rule
            (x,) = before.of_class(class_name)
            rule = model.rules[split.rule]
            counts = node_at(rule.root, split.path).counts if split.path else rule.seen
            answer = model.predict(before, action)
            assert answer.support(x.id, attribute) == sum(counts.values())
            shares = [n / sum(counts.values()) for n in counts.values()]
            assert sorted(answer.outcomes(x.id, attribute).values()) == pytest.approx(
                sorted(shares)
            )
            paths.add(split.path)
    assert {"", "R"} <= paths


# ---------------------------------------------------- learning whole worlds


@small_world
def test_a_world_is_learned_exactly_and_the_rules_hold_in_larger_levels(world):
    model = TreeThink(make(world).schema)
    model.observe_many(transitions(make(world), steps=5000, seed=0))
    for size, steps in ((8, 1000), (16, 300)):
        larger = make(world, width=size, height=size)
        for before, action, _ in transitions(larger, steps=steps, seed=1):
            truth = dict(larger.distribution(before, action))
            prediction = model.predict(before, action)
            assert prediction.mode() == max(truth, key=truth.__getitem__)
            assert all(prediction.probability(state) == p for state, p in truth.items())


def test_new_values_are_learned_where_the_schema_says_so():
    schema = Schema({"lift": ["floor"]}, {"floor": Attribute(1, outcomes="value")}, ["home"])

    def at(floor: int) -> State:
        return State(schema, [Object(1, "lift", floor=floor)])

    model = TreeThink(schema)
    model.observe_many((at(floor), "home", at(0)) for floor in range(50))
    assert model.n_varying == 0
    assert model.predict(at(1234), "home").outcomes(1, "floor") == {0: 1.0}


# ---------------------------------------------------- sizes


def test_vectors_of_length_fifty_are_learned_from():
    schema = Schema({"screen": ["pixels", "lit"]}, {"pixels": 50, "lit": 1}, ["look"])
    rng = np.random.default_rng(0)
    pictures = rng.integers(-3, 4, size=(5, 50))

    def screen(picture: int, lit: int) -> State:
        return State(schema, [Object(1, "screen", pixels=pictures[picture], lit=lit)])

    model = TreeThink(schema)
    for picture in rng.integers(5, size=400):
        model.observe(screen(picture, 0), "look", screen(picture, int(picture == 3)))
    for picture in range(5):
        answer = model.predict(screen(picture, 0), "look")
        assert answer.outcomes(1, "lit") == {int(picture == 3): 1.0}
    test = model.rules["screen", "lit", "look"].root.test
    assert test is not None
    assert test.value == tuple(pictures[3])


def test_ten_thousand_objects_are_observed_and_predicted():
    world = make("walls", width=100, height=100)
    cells = [(x, y) for x in range(100) for y in range(100)]
    objects = [Object(i, "wall", pos=at) for i, at in enumerate(cells) if at[0] % 2 == 0]
    objects += [Object(10_000 + i, "wall", pos=at) for i, at in enumerate(cells) if at[0] % 2 == 0]
    model = TreeThink(world.schema)
    for step in range(60):
        x = step % 2 * 3 + 1  # in front of a wall, or where a gap in the wall is
        before = State(
            world.schema,
            [each for each in objects if each.pos != (4, 50)] + [Object(-1, "player", pos=(x, 50))],
        )
        after = before if step % 2 == 0 else before.replace(-1, pos=(x + 1, 50))
        model.observe(before, "right", after)
        if step >= 50:
            assert len(before) == 9_999
            assert model.predict(before, "right").probability(before) <= 1.0
    assert model.n_varying == 1


def test_states_without_objects_are_counted_and_predicted():
    empty = State(LAMP, [])
    model = TreeThink(LAMP)
    model.observe_many([(empty, "press", empty)] * 3)
    assert model.observations == 3
    prediction = model.predict(empty, "press")
    assert prediction.mode() == empty
    assert prediction.probability(empty) == 1.0
    assert prediction.changes() == {}
    model.observe_many(PRESSING * 20)
    model.observe(empty, "press", empty)
    assert model.predict(OFF, "press").mode() == ON


def test_classes_without_attributes_are_objects_like_others():
    schema = Schema({"ghost": [], "lamp": ["on"]}, {"on": 1}, ["press"])
    off, on = (State(schema, [Object(1, "lamp", on=v), Object(2, "ghost")]) for v in (0, 1))
    model = TreeThink(schema)
    model.observe_many([(off, "press", on), (on, "press", off)] * 20)
    assert model.predict(off, "press").mode() == on
    assert list(model.rules) == [("lamp", "on", "press")]
    with pytest.raises(UnknownNameError, match="unknown attribute 'on' in class 'ghost'"):
        model.predict(off, "press").outcomes(2, "on")
    ghosts = State(schema, [Object(3, "ghost")])
    model.observe(ghosts, "press", ghosts)
    assert model.predict(ghosts, "press").mode() == ghosts


def test_a_model_without_actions_refuses_every_action():
    schema = Schema({"lamp": ["on"]}, {"on": 1}, [])
    model, lamp = TreeThink(schema), State(schema, [Object(1, "lamp", on=0)])
    assert len(model.rules) == 0
    for call in (lambda: model.predict(lamp, "press"), lambda: model.observe(lamp, "press", lamp)):
        with pytest.raises(UnknownNameError, match=r"unknown action 'press'.*Known: none"):
            call()


def test_a_schema_without_classes_has_only_empty_states():
    schema = Schema({}, {}, ["wait"])
    model, nothing = TreeThink(schema), State(schema, [])
    model.observe_many([(nothing, "wait", nothing)] * 2)
    assert model.predict(nothing, "wait").mode() == nothing


# ---------------------------------------------------- the hook


def shaky_streams() -> Iterator[tuple[Schema, list[Any]]]:
    """Streams whose hidden rules change, so that trees split, change and return."""
    schema = Schema({"dot": ["x"], "box": ["x", "y"]}, {"x": 1, "y": 2}, ["go", "wait"])
    for seed in range(12):
        switch = ("other", "coin", "constant")[seed % 3]
        shape = Shape(seed, length=250, values="small", switch=switch, switch_at=80)
        yield schema, list(random_transitions(schema, shape))


def test_the_hook_reports_every_split_change_and_return():
    kinds: Counter[str] = Counter()
    for schema, stream in shaky_streams():
        model = TreeThink(schema, alpha=0.5)
        shapes: dict[Any, dict[str, Any]] = {rule: {} for rule in model.rules}
        changed: set[Any] = set()

        def follow(change: Change, model=model, shapes=shapes, changed=changed) -> None:
            kinds[change.kind] += 1
            assert change.observation == model.observations
            tests = shapes[change.rule]
            is_known = change.path in tests
            assert is_known == (change.kind != "split")
            for path in [each for each in tests if each.startswith(change.path)]:
                del tests[path]
            if change.kind == "return":
                assert change.test is None
            else:
                tests[change.path] = change.test
            changed.add(change.rule)

        model.on_change = follow
        for transition in stream:
            changed.clear()
            model.observe(*transition)
            # What was told adds up to the trees as they are. A look at what is kept comes after
            # decisions, and may replace what they changed.
            for rule in changed:
                assert shapes[rule] == branch_tests(model.rules[rule].root)
        for rule, tests in shapes.items():
            assert tests == branch_tests(model.rules[rule].root)
    assert set(kinds) == {"split", "change", "return"}


def test_observing_with_a_hook_learns_the_same_as_without():
    for schema, stream in islice(shaky_streams(), 3):
        without_hook, with_hook = TreeThink(schema, alpha=0.5), TreeThink(schema, alpha=0.5)
        with_hook.on_change = lambda change: None
        without_hook.observe_many(stream)
        for transition in stream:
            with_hook.observe(*transition)
        assert without_hook.to_bytes() == with_hook.to_bytes()


def test_a_hook_may_use_the_model_and_replace_itself():
    model, calls = TreeThink(LAMP), []

    def second(change: Change) -> None:
        calls.append("second")

    def first(change: Change) -> None:
        calls.append("first")
        model.observe(OFF, "wait", OFF)
        assert model.predict(OFF, "press").support(1, "on") > 0
        assert model.to_bytes()
        model.on_change = second

    model.on_change = first
    model.observe_many(PRESSING * 20)
    assert calls == ["first"]
    assert model.on_change is second
    assert model.observations == 41


@pytest.mark.parametrize("many", [True, False])
def test_an_exception_from_the_hook_comes_through_and_the_model_goes_on(many):
    model, reference = TreeThink(LAMP), TreeThink(LAMP)

    def refuse(change: Change) -> None:
        raise RuntimeError("not today")

    model.on_change = refuse
    with pytest.raises(RuntimeError, match="not today"):
        if many:
            model.observe_many(PRESSING * 20)
        else:
            for transition in PRESSING * 20:
                model.observe(*transition)
    # The transition that led to the split was learned, and nothing after it.
    reference.observe_many((PRESSING * 20)[: model.observations])
    assert model.to_bytes() == reference.to_bytes()
    assert model.rules["lamp", "on", "press"].depth == 1
    model.on_change = None
    model.observe_many(PRESSING)
    assert model.predict(OFF, "press").mode() == ON


@pytest.mark.parametrize("hook", [3, "print", [], ()])
def test_a_hook_that_cannot_be_called_is_refused(hook):
    model = TreeThink(LAMP)
    with pytest.raises(WrongTypeError, match="on_change must be callable or None"):
        model.on_change = hook
    assert model.on_change is None


def test_a_hook_that_refers_to_its_model_does_not_keep_it_alive():
    def model_with_cycle() -> weakref.ref[TreeThink]:
        model = model_of_presses()
        model.on_change = lambda change: model.observations
        return weakref.ref(model)

    reference = model_with_cycle()
    gc.collect()
    assert reference() is None


# ---------------------------------------------------- bad input: refused, and nothing learned


@contextmanager
def assert_refused(model: TreeThink, error: type[TreeThinkError], match: str) -> Iterator[None]:
    """Expect one clear error that leaves the model unchanged."""
    content = model.to_bytes()
    with pytest.raises(error, match=match) as raised:
        yield
    assert isinstance(raised.value, TreeThinkError)
    assert model.to_bytes() == content


DOOR = Schema({"door": ["open"]}, {"open": 1}, ["press", "wait"])
SHUT = State(DOOR, [Object(1, "door", open=0)])
TWO_KINDS = Schema({"lamp": ["on"], "fan": ["on"]}, {"on": 1}, ["press"])


def test_an_unknown_action_is_refused_with_the_nearest_name():
    model = model_of_presses()
    message = r"unknown action 'pres' in .*Did you mean 'press'\? Known: 'press', 'wait'"
    with assert_refused(model, UnknownNameError, message):
        model.observe(OFF, "pres", ON)
    with assert_refused(model, UnknownNameError, message):
        model.observe_many([(OFF, "pres", ON)])
    with assert_refused(model, UnknownNameError, message):
        model.predict(OFF, "pres")
    with assert_refused(model, UnknownNameError, message):
        model.predict_many([(OFF, "pres")])


def test_an_unknown_object_or_attribute_of_a_prediction_is_refused():
    prediction = model_of_presses().predict(OFF, "press")
    for ask in (prediction.outcomes, prediction.support):
        with pytest.raises(UnknownNameError, match=r"unknown attribute 'om' in class 'lamp'.*'on'"):
            ask(1, "om")
        with pytest.raises(StateError, match="no object has the id 2"):
            ask(2, "on")
        with pytest.raises(StateError, match="id must be an integer, got '1'"):
            ask("1", "on")
        with pytest.raises(StateError, match="id must be an integer, got None"):
            ask(None, "on")
        with pytest.raises(StateError, match="within the signed 64-bit integers"):
            ask(2**70, "on")
        with pytest.raises(WrongTypeError, match="attribute name must be a str, got 5"):
            ask(1, 5)


def test_states_of_another_schema_are_refused():
    model = model_of_presses()
    with assert_refused(model, StateError, "the before state is of another schema"):
        model.observe(SHUT, "press", ON)
    with assert_refused(model, StateError, "the after state is of another schema"):
        model.observe(OFF, "press", SHUT)
    with assert_refused(model, StateError, "of another schema"):
        model.observe_many([(SHUT, "press", SHUT)])
    for call in (
        lambda: model.predict(SHUT, "press"),
        lambda: model.predict_many([(SHUT, "wait")]),
    ):
        with assert_refused(model, StateError, "of another schema"):
            call()
    with assert_refused(model, StateError, "of another schema"):
        model.predict(OFF, "press").probability(SHUT)


def test_states_of_an_equal_schema_are_accepted():
    schema = Schema({"lamp": ["on"]}, {"on": 1}, ["press", "wait"])
    model = model_of_presses()
    assert model.predict(State(schema, [Object(5, "lamp", on=0)]), "press").support(5, "on") > 0


@pytest.mark.parametrize(
    ("after", "says"),
    [
        ([Object(1, "lamp", on=0)], "only before: 2$"),
        ([Object(i, "lamp", on=0) for i in (1, 2, 3)], "only after: 3$"),
        ([Object(1, "lamp", on=0), Object(5, "lamp", on=0)], "only before: 2; only after: 5$"),
        ([Object(1, "lamp", on=0), Object(2, "fan", on=0)], "of another class after: 2$"),
        ([], "only before: 1, 2$"),
        ([Object(i, "lamp", on=0) for i in range(1, 12)], "only after: 3, 4, 5, 6, 7, and 4 more$"),
    ],
)
def test_transitions_between_different_objects_are_refused_with_their_ids(after, says):
    before = State(TWO_KINDS, [Object(1, "lamp", on=0), Object(2, "lamp", on=1)])
    model = TreeThink(TWO_KINDS)
    model.observe(before, "press", before)
    with assert_refused(model, TransitionError, says):
        model.observe(before, "press", State(TWO_KINDS, after))


WRONG_STATES = [None, "state", 3, 1.5, [], {}, OFF.to_dict(), State, LAMP, object()]


@pytest.mark.parametrize("wrong", WRONG_STATES, ids=lambda each: type(each).__name__)
def test_non_states_are_refused_everywhere(wrong):
    model = model_of_presses()
    with assert_refused(model, WrongTypeError, "before must be a State, got "):
        model.observe(wrong, "press", ON)
    with assert_refused(model, WrongTypeError, "after must be a State, got "):
        model.observe(OFF, "press", wrong)
    with assert_refused(model, WrongTypeError, "before must be a State, got "):
        model.observe_many([(wrong, "press", ON)])
    with assert_refused(model, WrongTypeError, "state must be a State, got "):
        model.predict(wrong, "press")
    with assert_refused(model, WrongTypeError, "state must be a State, got "):
        model.predict_many([(wrong, "press")])
    with assert_refused(model, WrongTypeError, "after must be a State, got "):
        model.predict(OFF, "press").probability(wrong)


@pytest.mark.parametrize("wrong", [None, 0, 1.5, b"press", ["press"], OFF, "\ud800"], ids=repr)
def test_non_actions_are_refused_everywhere(wrong):
    model = model_of_presses()
    for call in (
        lambda: model.observe(OFF, wrong, ON),
        lambda: model.observe_many([(OFF, wrong, ON)]),
        lambda: model.predict(OFF, wrong),
        lambda: model.predict_many([(OFF, wrong)]),
    ):
        with assert_refused(model, WrongTypeError, "an action must be a str"):
            call()


@pytest.mark.parametrize("wrong", [None, 5, 1.5, LAMP, print])
def test_arguments_that_cannot_be_iterated_are_refused(wrong):
    model = model_of_presses()
    for call in (model.observe_many, model.predict_many):
        with assert_refused(model, WrongTypeError, r"must be an iterable of \(.*\), got "):
            call(wrong)


@pytest.mark.parametrize(
    "item", [None, 5, (), (OFF,), (OFF, "press"), (OFF, "press", ON, 1, None, 2), ""]
)
def test_an_item_that_is_no_transition_is_refused(item):
    model = model_of_presses()
    with assert_refused(
        model, WrongTypeError, r"a transition must be \(before, action, after\),.* got "
    ):
        model.observe_many([item])
    if not (isinstance(item, tuple) and len(item) == 2):
        with assert_refused(model, WrongTypeError, r"each item must be \(state, action\), got "):
            model.predict_many([item])


@pytest.mark.parametrize(
    "arguments",
    [(), (OFF,), (OFF, "press"), (OFF, "press", ON, 1, None, 2)],
    ids=lambda each: len(each),
)
def test_a_wrong_number_of_arguments_is_pythons_own_error(arguments):
    model = model_of_presses()
    content = model.to_bytes()
    with pytest.raises(TypeError):
        model.observe(*arguments)
    assert model.to_bytes() == content


@pytest.mark.parametrize("place", [0, 1, 255, 256, 257, 600])
@pytest.mark.parametrize(
    ("bad", "error"),
    [
        ((OFF, "press", State(LAMP, [])), TransitionError),
        ((OFF, "push", ON), UnknownNameError),
        (None, WrongTypeError),
    ],
    ids=["transition", "name", "type"],
)
def test_items_before_a_bad_one_are_learned_and_none_after_it(place, bad, error):
    good = PRESSING * 500
    model, reference = TreeThink(LAMP), TreeThink(LAMP)
    with pytest.raises(error):
        model.observe_many([*good[:place], bad, *good[place:]])
    reference.observe_many(good[:place])
    assert model.to_bytes() == reference.to_bytes()


def test_an_exception_of_the_stream_is_raised_after_its_items_are_learned():
    def stream() -> Iterator[Any]:
        yield from PRESSING * 3
        raise OSError("the sensor fell off")

    model, reference = TreeThink(LAMP), TreeThink(LAMP)
    with pytest.raises(OSError, match="fell off"):
        model.observe_many(stream())
    reference.observe_many(PRESSING * 3)
    assert model.to_bytes() == reference.to_bytes()
    with pytest.raises(OSError, match="fell off"):
        model.predict_many((before, action) for before, action, _ in stream())


@pytest.mark.parametrize(("keyword", "kind"), [("facts", "find facts"), ("bindings", "bindings")])
def test_unknown_ways_to_predict_are_refused(keyword, kind):
    model = model_of_presses()
    for call in (
        lambda how: model.predict(OFF, "press", **{keyword: how}),
        lambda how: model.predict_many([(OFF, "press")], **{keyword: how}),
    ):
        with assert_refused(model, UnknownNameError, f"unknown way to .*{kind.split()[-1]} 'alll'"):
            call("alll")
        for wrong in (None, 1, True):
            with assert_refused(model, WrongTypeError, f"{keyword} must be a str, got {wrong}"):
                call(wrong)


@pytest.mark.parametrize("rng", [-1, True, 5.0, 2**70, "random", object(), np.random.default_rng])
def test_objects_that_are_no_random_generators_are_refused(rng):
    with pytest.raises(
        WrongTypeError, match=r"rng must be a numpy.random.Generator, a seed .* or None, got "
    ):
        model_of_tosses(1, 1).predict(coins(7), "toss").sample(rng)


# ---------------------------------------------------- bad settings

BAD_SETTINGS = [
    ("alpha", 0, "strictly between 0 and 1, got 0"),
    ("alpha", 1, "strictly between 0 and 1, got 1"),
    ("alpha", -0.5, "strictly between 0 and 1, got -0.5"),
    ("alpha", 10**400, "strictly between 0 and 1"),
    ("alpha", math.nan, "strictly between 0 and 1, got nan"),
    ("alpha", math.inf, "strictly between 0 and 1, got inf"),
    ("alpha", "0.01", "a number, got '0.01'"),
    ("alpha", None, "a number, got None"),
    ("alpha", True, "a number, got True"),
    ("alpha", 0.1j, "a number"),
    ("alpha", 10**5000, "strictly between 0 and 1, got <int>"),
    ("criterion", None, "name of a criterion, got None"),
    ("criterion", 3, "name of a criterion, got 3"),
    ("memory", 2**31, "at most 2147483647, got 2147483648"),
    ("memory", -1, "at least 0, got -1"),
    ("memory", None, "a whole number, got None"),
    ("memory", True, "a whole number, got True"),
    ("memory", False, "a whole number, got False"),
    ("memory", "0", "a whole number, got '0'"),
    ("memory", np.array([1, 2]), "a whole number, got array"),
    ("memory", 10**5000, "at most 2147483647, got <int>"),
    ("branch_updates", 1, "True or False, got 1"),
    ("branch_updates", None, "True or False, got None"),
    ("branch_updates", "no", "True or False, got 'no'"),
    ("max_candidates", 0, "at least 1, got 0"),
    ("max_candidates", -3, "at least 1, got -3"),
    ("max_candidates", 2**63, "at most 9223372036854775807, got 9223372036854775808"),
    ("max_candidates", True, "a whole number, got True"),
    ("max_candidates", 10.0, "a whole number, got 10.0"),
    ("max_candidates", None, "a whole number, got None"),
    ("max_candidates", "10", "a whole number, got '10'"),
    ("max_candidates", 10**5000, "at most 9223372036854775807, got <int>"),
]


@pytest.mark.parametrize(
    ("name", "value", "says"),
    BAD_SETTINGS,
    ids=[f"{name}={shown(v):.9}" for name, v, _ in BAD_SETTINGS],
)
def test_a_setting_out_of_its_range_is_refused(name, value, says):
    with pytest.raises(SettingError, match=f"^{name} must .*{says}"):
        TreeThink(LAMP, **{name: value})


def test_an_unknown_setting_is_refused_with_the_nearest_name():
    with pytest.raises(WrongTypeError, match=r"'brnch_updates'\. Did you mean 'branch_updates'"):
        TreeThink(LAMP, brnch_updates=False)
    with pytest.raises(WrongTypeError, match=r"'max_candidate'\. Did you mean 'max_candidates'"):
        TreeThink.paper(LAMP, max_candidate=False)


def test_an_unknown_criterion_is_refused_with_the_nearest_name():
    with pytest.raises(UnknownNameError, match=r"unknown criterion 'wilsom'.*'wilson'"):
        TreeThink(LAMP, criterion="wilsom")


@pytest.mark.parametrize("alpha", [1e-300, 1e-9, 0.999999, np.float32(0.05), np.float64(0.05)])
def test_any_alpha_between_zero_and_one_can_be_learned_with(alpha):
    model = TreeThink(LAMP, alpha=alpha)
    model.observe_many(PRESSING * 200)
    assert model.alpha == float(alpha)
    assert math.isclose(sum(model.predict(OFF, "press").outcomes(1, "on").values()), 1.0)


@pytest.mark.parametrize("schema", [None, "maze", 3, LAMP.to_dict(), Schema, OFF])
def test_non_schemas_are_refused(schema):
    with pytest.raises(WrongTypeError, match="schema must be a Schema, got "):
        TreeThink(schema)


def test_settings_are_kept_and_cannot_be_changed():
    model = TreeThink(LAMP, alpha=0.2, branch_updates=False, max_candidates=np.int64(7))
    assert (model.alpha, model.criterion, model.memory) == (0.2, "evidence", 5_000)
    assert (model.branch_updates, model.max_candidates, model.schema) == (False, 7, LAMP)
    for name in ("alpha", "criterion", "memory", "branch_updates", "max_candidates", "schema"):
        with pytest.raises(AttributeError):
            setattr(model, name, getattr(model, name))


def test_paper_creates_a_model_with_the_papers_settings():
    assert TreeThink.paper(LAMP).to_bytes() == TreeThink(LAMP, **LEARNERS["paper"]).to_bytes()
    options: dict[str, Any] = {"alpha": 0.2, "branch_updates": False, "max_candidates": 7}
    model = TreeThink.paper(LAMP, **options)
    assert model.to_bytes() == TreeThink(LAMP, **LEARNERS["paper"], **options).to_bytes()
    assert TreeThink.from_bytes(model.to_bytes()).criterion == "wilson"


@pytest.mark.parametrize("setting", ["criterion", "memory"])
def test_settings_that_the_paper_fixes_cannot_be_passed(setting):
    with pytest.raises(TypeError, match=setting):
        TreeThink.paper(LAMP, **{setting: 0})


# ---------------------------------------------------- numbers at the end of 64 bits

LINE = Schema({"dot": ["x"]}, {"x": Attribute(1)}, ["go"])


def line(*xs: int) -> State:
    return State(LINE, [Object(i, "dot", x=x) for i, x in enumerate(xs)])


@pytest.mark.parametrize(("old", "new"), [(LOWEST, HIGHEST), (-2, HIGHEST), (HIGHEST, -2)])
def test_a_change_beyond_64_bits_is_refused(old, new):
    model = TreeThink(LINE)
    model.observe_many([(line(0), "go", line(1)), (line(1), "go", line(1))])
    with assert_refused(model, TransitionError, f"'x' of object 0 changes from {old} to {new}"):
        model.observe(line(old), "go", line(new))


def test_the_widest_changes_that_fit_are_learned():
    model = TreeThink(LINE)
    model.observe_many([(line(-1), "go", line(HIGHEST - 1)), (line(0), "go", line(LOWEST))])
    assert model.predict(line(0), "go").outcomes(0, "x") == {HIGHEST: 0.5, LOWEST: 0.5}


TOO_FAR = f"'x' .*{LOWEST} and {HIGHEST}.*does not fit 64 bits"


def test_objects_too_far_apart_for_a_difference_are_refused_once_differences_matter():
    model = TreeThink(LINE, memory=0)
    apart = line(LOWEST, HIGHEST)
    model.observe(apart, "go", apart)  # nothing varies yet, so no fact is looked at
    model.observe(line(0, 1), "go", line(1, 1))
    with assert_refused(model, StateError, TOO_FAR):
        model.observe(apart, "go", apart)
    assert model.predict(line(5, 6), "go").support(0, "x") == 4


def test_objects_too_far_apart_for_a_difference_are_never_kept():
    model = TreeThink(LINE)
    apart = line(LOWEST, HIGHEST)
    with assert_refused(model, StateError, TOO_FAR):
        model.observe(apart, "go", apart)


def test_objects_far_apart_are_fine_where_differences_are_no_facts():
    schema = Schema({"dot": ["x"]}, {"x": Attribute(1, facts=["equality"])}, ["go"])
    model = TreeThink(schema)
    for step in range(200):  # it takes many to pay for so long a number
        before = State(schema, [Object(0, "dot", x=LOWEST + step % 2), Object(1, "dot", x=HIGHEST)])
        model.observe(before, "go", before.replace(0, x=LOWEST + 1) if step % 2 == 0 else before)
    assert model.predict(before, "go").mode() == before
    assert f"X0[x] = {LOWEST}" in str(model.rules["dot", "x", "go"])


def test_a_predicted_value_beyond_64_bits_is_refused():
    model = TreeThink(LINE)
    model.observe(line(0), "go", line(1))
    for way in product(["demand", "full"], ["first", "all"]):
        with assert_refused(model, StateError, "a predicted value of 'x' does not fit 64 bits"):
            model.predict(line(HIGHEST), "go", *way)
    with assert_refused(model, StateError, "a predicted value of 'x' does not fit 64 bits"):
        model.predict_many([(line(0), "go"), (line(HIGHEST), "go")])
    assert model.predict(line(HIGHEST - 1), "go").mode() == line(HIGHEST)


# ---------------------------------------------------- limits


def test_candidates_stay_within_max_candidates_after_every_observation():
    world = make("walls", width=6, height=6)
    model = TreeThink(world.schema, max_candidates=25)
    for step in transitions(world, 600, seed=0):
        model.observe(*step)
        use = model.memory_use()
        assert use["candidates"] <= 25 * use["nodes"]
    assert use["forgotten"] > 1000


@pytest.mark.parametrize(
    ("guess", "truth"),
    [
        (5, 6),
        ("prediction", None),
        ("prediction", "x"),
        ("prediction", [1]),
        ("state", "prediction"),
    ],
)
def test_error_refuses_arguments_of_other_types(guess, truth):
    state = make("walls").reset(seed=0)
    prediction = TreeThink(make("walls").schema).predict(state, "left")
    arguments = {"state": state, "prediction": prediction}
    with pytest.raises(WrongTypeError, match="must be a"):
        error(arguments.get(str(guess), guess), arguments.get(str(truth), truth))


class Odd:
    """A random number generator that always returns the same number."""

    def __init__(self, number: object):
        self.number = number

    def random(self) -> object:
        return self.number


@pytest.mark.parametrize("number", ["a", None, 1j, math.nan, 1.0, -0.1])
def test_numbers_that_no_generator_draws_are_refused(number):
    model = TreeThink(LAMP)
    model.observe(OFF, "press", OFF)
    model.observe(OFF, "press", ON)
    with pytest.raises(WrongTypeError, match="from 0 up to 1"):
        model.predict(OFF, "press").sample(Odd(number))
