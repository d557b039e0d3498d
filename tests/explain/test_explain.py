"""Why a model says what it says, where it is wrong, and what two models disagree on.

What people read are golden files. After a wanted change, rewrite them and read the difference:

    REWRITE_GOLDEN=1 pytest tests/test_explain.py
"""

from __future__ import annotations

import io
import json
import os
import time
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image
from rich.console import Console

import reference
import treethink as tt
from reference import Scene, as_vector
from strategies import Stream, streams
from treethink import cli
from treethink.errors import SettingError, StateError, UnknownNameError, WrongTypeError
from treethink.explain.compare import diff as differing
from treethink.explain.compare.diff_report import RuleDifference, outline
from treethink.explain.compare.minimize import smallest
from treethink.explain.compare.synthetic_states import situations
from treethink.explain.distributions import differ, unlike
from treethink.explain.levels import drawable
from treethink.explain.path import Step, child, extensions, follow
from treethink.explain.why.counterfactual import nearest
from treethink.explain.why.overlay import picture, png
from treethink.explain.why.reason import Reason
from treethink.metrics import distance, marginals
from treethink.model import TreeThink
from treethink.repro.runner import TOLERANCE
from treethink.rules import Node, Rule, Test
from treethink.state import Object, State
from treethink.worlds import World

GOLDEN = Path(__file__).parents[1] / "golden"
MANY = settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
FEW = settings(MANY, max_examples=4)


@cache
def learned(world: str, steps: int, seed: int = 0, **options: int) -> TreeThink:
    model = TreeThink(tt.make(world, **options).schema)
    model.observe_many(tt.transitions(tt.make(world, **options), steps, seed))
    return model


def asked(world: World, steps: int = 60, seed: int = 9) -> Iterator[tuple[State, str]]:
    """Situations of random play."""
    return ((before, action) for before, action, _ in tt.transitions(world, steps, seed))


def trained(stream: Stream) -> TreeThink:
    model = TreeThink(stream.schema, **stream.settings)
    model.observe_many(stream.transitions)
    return model


def everything(stream: Stream) -> Iterator[tuple[TreeThink, State, str, int, str]]:
    """A trained model, and all there is to explain in the stream's last states."""
    model = trained(stream)
    for state, action, _ in stream.transitions[-8:]:
        for each in state:
            for attribute in each.values:
                yield model, state, action, each.id, attribute


def reasons(stream: Stream) -> Iterator[tuple[TreeThink, str, Reason]]:
    for model, state, action, x, attribute in everything(stream):
        yield model, action, model.explain(state, action, of=(x, attribute))[x, attribute]


any_stream = streams(criteria=("wilson", "evidence"), memories=("none", "long"))


# ------------------------------------------------------------- the way through a tree


def in_reference(test: Test) -> reference.Test:
    """The same test as the twin writes it."""
    return reference.Test(
        test.kind, test.attribute, test.classes, test.variables, as_vector(test.value)
    )


@MANY
@given(any_stream)
def test_steps_are_those_of_the_slow_twin(stream: Stream) -> None:
    for _, _, reason in reasons(stream):
        scene = Scene(reason.state)
        bindings: list[Any] = [(reason.object_id,)]
        for step in reason.steps:
            assert set(step.before) == set(bindings)
            extended = reference.extensions(scene, in_reference(step.test), bindings)
            assert step.holds == bool(extended)
            bindings = extended or bindings
            assert set(step.after) == set(bindings)


@MANY
@given(any_stream)
def test_the_leaf_at_the_end_says_what_the_model_predicts(stream: Stream) -> None:
    for model, action, reason in reasons(stream):
        key = (reason.object_id, reason.attribute)
        prediction = model.predict(reason.state, action)
        assert reason.outcomes == prediction.outcomes(*key)
        assert reason.support == prediction.support(*key)
        rule = model.rules[reason.state[key[0]].class_name, reason.attribute, action]
        steps, leaf = follow(rule.root, reason.state, reason.object_id)
        counts = leaf.counts if steps else rule.seen
        assert reason.seen == bool(counts)
        if counts:
            assert sum(counts.values()) == reason.support
            assert moved(reason, counts) == pytest.approx(reason.outcomes)


def moved(reason: Reason, counts: Any) -> dict[Any, float]:
    """New values, the obvious way."""
    total, was = sum(counts.values()), as_vector(reason.was)
    delta = reason.state.schema.attributes[reason.attribute].outcomes == "delta"
    found = {}
    for outcome, n in counts.items():
        new = as_vector(outcome)
        if delta:
            new = tuple(a + b for a, b in zip(was, new, strict=True))
        found[new[0] if len(new) == 1 else new] = n / total
    return found


def test_more_bindings_than_are_kept_are_cut_as_the_engine_does() -> None:
    """Seventy stones, one beside the other in pairs: more than 4,096 ways to take two."""
    schema = tt.Schema({"walker": ["hue"], "stone": ["hue"]}, {"hue": 1}, ["go"])
    state = State(schema, [Object(i, "stone", hue=i % 2) for i in range(100)])
    test = Test("difference", "hue", ("stone", "stone"), (0, 1), 0, ((0, "stone"), (1, "stone")))
    found = extensions(state, test, [()])
    twin = reference.extensions(Scene(state), in_reference(test), [()])
    assert len(found) == 4096
    assert set(found) == set(twin)


# ----------------------------------------------------- how it could have been otherwise


@MANY
@given(any_stream)
def test_the_nearest_reason_is_the_last_that_matters(stream: Stream) -> None:
    for _, _, reason in reasons(stream):
        differing = [i for i, step in enumerate(reason.steps) if other_outcomes(reason, step)]
        otherwise = reason.otherwise
        if otherwise is None:
            continue
        step = reason.steps[otherwise.step]
        assert otherwise.step <= max(differing)
        assert otherwise.assumed[0].test == step.test
        assert otherwise.assumed[0].holds is not step.holds
        assert otherwise.support > 0
        assert sum(otherwise.outcomes.values()) == pytest.approx(1.0)
        assert otherwise.condition in otherwise.told(reason.attribute)
        plain_steps = [i for i in differing if i > otherwise.step]
        # Later tests could lead elsewhere only where a test below them, asked of what there
        # is, stands in the way.
        assert all(not is_leaf_beside(reason.steps[i], reason) for i in plain_steps)


def other_outcomes(reason: Reason, step: Step) -> bool:
    """Whether any leaf on the other side of a step says something else."""
    waiting, found = [child(step.node, not step.holds)], False
    while waiting:
        node = waiting.pop()
        if node.test is None:
            found |= says_otherwise(reason, node)
        else:
            waiting += [child(node, True), child(node, False)]
    return found


def is_leaf_beside(step: Step, reason: Reason) -> bool:
    beside = child(step.node, not step.holds)
    return beside.test is None and says_otherwise(reason, beside)


def says_otherwise(reason: Reason, leaf: Node) -> bool:
    return bool(leaf.counts) and differ(moved(reason, leaf.counts), reason.outcomes)


def test_of_several_conditions_the_shortest_then_the_best_known_is_told() -> None:
    schema = tt.Schema({"player": ["x"], "door": ["x", "open"]}, {"x": 1, "open": 1}, ["go"])
    state = State(schema, [Object(1, "player", x=5)])
    beside = Test("difference", "x", ("player", "door"), (0, 1), 1, ((1, "door"),))
    is_closed = Test("equality", "open", ("door",), (1,), 0)
    is_ajar = Test("equality", "open", ("door",), (1,), 1)
    both, alone = ("player", "door"), ("player",)
    leaves = [Node(both, {value: n}) for value, n in [(1, 9), (2, 3), (3, 4)]]
    stays = Node(alone, {0: 50})

    def told(left: Node) -> str:
        steps, _ = follow(Node(alone, {}, beside, left, stays), state, 1)
        found = nearest(state, steps, 1, "x", {5: 1.0})
        assert found is not None
        return found.told("x")

    ajar = Node(both, {}, is_ajar, leaves[0], leaves[1])
    shortest = told(Node(both, {}, is_closed, ajar, leaves[2]))
    condition = "if there were a door with x 6 and that door had"  # x is one number: no place
    assert shortest == f"{condition} another open than 0, x would be 8, seen 4 times"
    best_known = told(Node(both, {}, is_closed, leaves[0], leaves[2]))
    assert best_known == f"{condition} open 0, x would be 6, seen 9 times"
    nothing = told(Node(both, {}, is_closed, Node(both, {}), leaves[1]))
    assert nothing == f"{condition} another open than 0, x would be 7, seen 3 times"


@pytest.mark.parametrize(("name", "steps"), [("walls", 2000), ("maze", 5000), ("doors", 5000)])
def test_were_it_so_the_model_would_say_so(name: str, steps: int) -> None:
    """The level is changed as the explanation says, and the model asked again."""
    world, model = tt.make(name, width=6, height=6), learned(name, steps)
    changed = 0
    for state, action in asked(world):
        for reason in model.explain(state, action):
            if reason.otherwise is not None and (after := as_told(reason)) is not None:
                changed += 1
                then = model.predict(after, action).outcomes(reason.object_id, reason.attribute)
                assert then == pytest.approx(reason.otherwise.outcomes), reason.otherwise
    assert changed > 10


def as_told(reason: Reason) -> State | None:
    """The state in which the condition is met; None where this test cannot tell how."""
    assert reason.otherwise is not None
    step, state = reason.steps[reason.otherwise.step], reason.state
    if len(reason.otherwise.assumed) > 1 or not step.test.new or step.test.attribute != "pos":
        return None
    if step.holds:
        first = step.test.new[0][0]
        gone = {binding[first] for binding in step.after}
        return State(state.schema, [each for each in state if each.id not in gone])
    (player,) = state.of_class("player")
    others = [name for name in step.test.classes if name != "player"]
    if len(others) != 1:
        return None
    sign = 1 if step.test.classes[-1] == others[0] else -1
    where = tuple(a + sign * b for a, b in zip(player.pos, step.test.value, strict=True))  # type: ignore[arg-type]
    rest = dict.fromkeys(set(state.schema.classes[others[0]]) - {"pos"}, 0)
    return State(state.schema, [*state, Object(999, others[0], pos=where, **rest)])


def test_an_attribute_that_would_have_to_differ_is_told_from_there() -> None:
    world, model = tt.make("lights"), learned("lights", 5000)
    texts = [str(model.explain(*each)) for each in asked(world, 400)]
    assert any("if light" in text and "on would be 1" in text for text in texts)
    assert any("had another on than 0, on would change by -1" in text for text in texts)


# ------------------------------------------------------------------------- as text


def golden(name: str, text: str) -> None:
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("REWRITE_GOLDEN"):
        path.write_text(text + "\n", encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text + "\n", name


def test_explanations_read_as_they_should() -> None:
    maze, keys = tt.make("maze"), tt.make("keys")
    start, locked = maze.reset(seed=0), keys.reset(seed=0)
    model, other = learned("maze", 5000), learned("keys", 20_000)
    told = [model.explain(start, action) for action in maze.actions]
    told += [model.explain(start, "left", of=40), other.explain(locked, "left")]
    told += [other.explain(*each) for each in islice(asked(keys, 2000), 0, 2000, 400)]
    golden("explain", "\n\n".join(map(str, told)))


@MANY
@given(any_stream)
def test_text_is_plain_narrow_and_the_same_each_time(stream: Stream) -> None:
    model = trained(stream)
    state, action, _ = stream.transitions[-1]
    explanation = model.explain(state, action)
    text = str(explanation)
    assert text == str(model.explain(state, action))
    assert "\x1b" not in text
    assert all(len(line) <= 80 for line in text.splitlines())
    assert len(explanation) == len(list(explanation)) == len(model.predict(state, action).changes())


def test_a_notebook_shows_the_same_text() -> None:
    schema = tt.Schema({"<b>": ["on"]}, {"on": 1}, ["press"])
    model, lamp = TreeThink(schema), State(schema, [Object(1, "<b>", on=0)])
    model.observe(lamp, "press", lamp.replace(1, on=1))
    shown = model.explain(lamp, "press")._repr_html_()
    assert shown.startswith("<pre>") and "&lt;b&gt; 1, on: 0 -&gt; 1" in shown
    assert "no rule differs" in model.diff(model, n=3)._repr_html_()


@pytest.mark.parametrize("no_color", [True, False])
def test_colours_are_rich_s_affair(no_color: bool) -> None:
    page = io.StringIO()
    console = Console(file=page, force_terminal=True, no_color=no_color, color_system="truecolor")
    maze = tt.make("maze")
    console.print(learned("maze", 5000).explain(maze.reset(seed=0), "right"))
    coloured = "\x1b[31m" in page.getvalue()
    assert coloured is not no_color


def test_what_stays_is_explained_when_it_is_asked_for() -> None:
    model, state = learned("maze", 5000), tt.make("maze").reset(seed=0)
    assert "could have changed and does not: player 40" in str(model.explain(state, "left"))
    (reason,) = model.explain(state, "left", of=np.int64(40))
    assert reason.title == "player 40, pos: stays (1, 3), seen 397 times"
    assert reason.bound == {"X0": (40,), "X1": (17,)}
    assert reason.otherwise is not None
    assert reason.otherwise.condition == "there were no wall directly to the left of player 40"


def test_one_reason_reads_as_it_does_among_others() -> None:
    model, state = learned("maze", 5000), tt.make("maze").reset(seed=0)
    found = model.explain(state, "right")
    assert str(found) == "\n".join(["right: 2 values may change", *map(str, found)])
    assert found[40, "pos"]._repr_html_().startswith("<pre>player 40, pos: (1, 3) -&gt; (2, 3)")
    assert repr(found[40, "pos"]).startswith("Reason(object_id=40, attribute='pos'")


def test_what_was_never_seen_is_told() -> None:
    world = tt.make("maze")
    text = str(TreeThink(world.schema).explain(world.reset(seed=0), "right", of=40))
    assert "never seen" in text and "taken to stay as it is" in text
    told = str(TreeThink(world.schema).explain(world.reset(0), "right"))
    assert told.startswith("right: nothing changes\nof 42 values nothing was ever seen")
    assert "ever seen" not in str(learned("maze", 3000).explain(world.reset(0), "right"))


def test_several_ways_and_chance_are_told() -> None:
    schema = tt.Schema({"lamp": ["on"], "hand": ["at"]}, {"on": 1, "at": 1}, ["press"])
    model, rng = TreeThink(schema), np.random.default_rng(0)
    for _ in range(400):
        hands = [Object(i, "hand", at=int(rng.integers(3))) for i in range(3)]
        before = State(schema, [Object(9, "lamp", on=0), *hands])
        pressed = any(each.at == 0 for each in hands)
        model.observe(before, "press", before.replace(9, on=int(pressed and rng.random() < 0.75)))
    both = State(schema, [Object(9, "lamp", on=0), *(Object(i, "hand", at=0) for i in range(2))])
    reason = model.explain(both, "press")[9, "on"]
    assert reason.bound["X1"] == (0, 1)
    assert "(and in 1 more way)" in str(model.explain(both, "press"))
    assert "1 (7" in reason.title and " or 0 (2" in reason.title
    assert reason.otherwise is not None
    assert reason.otherwise.condition == "there were no hand with at 0"


# ------------------------------------------------------------------------- as data


@MANY
@given(any_stream)
def test_an_explanation_goes_through_json(stream: Stream) -> None:
    model = trained(stream)
    state, action, _ = stream.transitions[-1]
    data = model.explain(state, action).to_dict()
    again = json.loads(json.dumps(data))
    assert State.from_dict(state.schema, again["state"]) == state
    assert [each["object"] for each in again["reasons"]] == [
        each["object"] for each in data["reasons"]
    ]
    for each in data["reasons"]:
        assert all(step["bound"]["X0"] == [each["object"]] for step in each["steps"])


# ---------------------------------------------------------------------- as picture


def read(path: Path) -> Any:
    with Image.open(path) as image:
        return np.asarray(image)


def test_objects_asked_about_have_an_outline(tmp_path: Path) -> None:
    world, model = tt.make("keys"), learned("keys", 20_000)
    state = world.reset(seed=0)
    explanation = model.explain(state, "left", of=(44, "pos"))
    explanation.draw(tmp_path / "keys.png", world)
    pixels = read(tmp_path / "keys.png")
    size = 48  # eight cells in at most 512 pixels, none larger than that

    def edge(x: int, y: int) -> tuple[int, ...]:
        return tuple(int(each) for each in pixels[y * size + 2, x * size + size // 2])

    assert edge(*state[44].pos) == (236, 236, 240)
    assert edge(*state[42].pos) == (236, 140, 51)
    explanation.draw(str(tmp_path / "plain.png"))
    assert read(tmp_path / "plain.png").shape == pixels.shape


def test_where_something_was_looked_for_is_marked(tmp_path: Path) -> None:
    world, model = tt.make("maze"), learned("maze", 5000)
    model.explain(world.reset(seed=0), "right").draw(tmp_path / "maze.png", world)
    pixels = read(tmp_path / "maze.png")
    assert tuple(pixels[3 * 48 + 2, 2 * 48 + 24]) == (176, 32, 40)


@FEW
@given(any_stream)
def test_any_explanation_can_be_drawn(stream: Stream) -> None:
    model = trained(stream)
    state, action, _ = stream.transitions[-1]
    content = png(picture(model.explain(state, action), drawable(stream.schema)))
    Image.open(io.BytesIO(content)).load()


def test_what_cannot_be_drawn_is_refused(tmp_path: Path) -> None:
    explanation = learned("maze", 5000).explain(tt.make("maze").reset(seed=0), "right")
    with pytest.raises(UnknownNameError, match="unknown format 'jpg'"):
        explanation.draw(tmp_path / "x.jpg")
    with pytest.raises(SettingError, match="there is no folder"):
        explanation.draw(tmp_path / "none" / "x.png")
    with pytest.raises(WrongTypeError, match="must be a str or a Path"):
        explanation.draw(3)  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="another schema"):
        explanation.draw(tmp_path / "x.png", tt.make("keys"))
    with pytest.raises(WrongTypeError, match="must be a World"):
        explanation.draw(tmp_path / "x.png", "maze")  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


# -------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("of", "error", "says"),
    [
        (99, StateError, "no object has the id 99"),
        ("player", WrongTypeError, "an object's id, or \\(id, attribute\\)"),
        (1.5, WrongTypeError, "got 1.5"),
        ((40, "poss"), UnknownNameError, "Did you mean 'pos'"),
    ],
)
def test_what_is_not_there_cannot_be_explained(of: Any, error: type, says: str) -> None:
    with pytest.raises(error, match=says):
        learned("maze", 5000).explain(tt.make("maze").reset(seed=0), "right", of=of)


def test_unknown_actions_and_reasons_are_named() -> None:
    model, state = learned("maze", 5000), tt.make("maze").reset(seed=0)
    with pytest.raises(UnknownNameError, match="Did you mean 'right'"):
        model.explain(state, "rigt")
    with pytest.raises(UnknownNameError, match="unknown reason '40, size'"):
        model.explain(state, "right")[40, "size"]


# ------------------------------------------------------------------------- shrinking


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 40), st.data())
def test_the_smallest_state_is_what_is_needed(n: int, data: st.DataObject) -> None:
    schema = tt.Schema({"lamp": ["on"]}, {"on": 1}, [])
    state = State(schema, [Object(i, "lamp", on=0) for i in range(n)])
    needed = data.draw(st.sets(st.integers(0, n - 1)))
    assert set(smallest(state, lambda some: needed <= set(some.ids)).ids) == needed


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 12), st.data())
def test_nothing_more_can_go_in_whatever_order_things_could(n: int, data: st.DataObject) -> None:
    """Some objects can only go once others are gone."""
    schema = tt.Schema({"lamp": ["on"]}, {"on": 1}, [])
    state = State(schema, [Object(i, "lamp", on=0) for i in range(n)])
    some = st.integers(0, n - 1)
    pairs = data.draw(st.lists(st.tuples(some, some), max_size=12))
    needed = data.draw(st.sets(some, max_size=2))

    def still(fewer: State) -> bool:
        tied = all(b in fewer for a, b in pairs if a in fewer)
        return tied and needed <= set(fewer.ids)

    found = smallest(state, still)
    assert still(found)
    for each in found.ids:
        assert not still(State(schema, [other for other in found if other.id != each]))


# -------------------------------------------------------------------------- checking


def test_nothing_is_found_wrong_with_an_exact_model() -> None:
    found = learned("maze", 5000).check(tt.make("maze"), 500)
    assert not found and found.example is None
    assert (found.tried, found.wrong) == (500, 0)
    assert str(found) == "nothing wrong in 500 transitions of maze"
    unstated = {"times": 0, "likely": 0, "expected": 0.0}
    told = {"world": "maze", "tried": 500, "wrong": 0, "example": None, "unstated": unstated}
    assert found.to_dict() == told
    assert found.explanations() == []


def test_a_model_that_never_saw_a_goal_is_wrong_about_goals() -> None:
    """And three objects are all it takes to show that."""
    world, blind = tt.make("maze"), learned("maze", 3000, goals=0)
    found = blind.check(world, 1000)
    assert found and found.example is not None
    state = found.example.state
    assert sorted(each.class_name for each in state) == ["game", "goal", "player"]
    assert len(found.example.met) > len(state)
    (wrong,) = found.example.wrong
    assert (wrong.attribute, wrong.outright) == ("score", True)
    golden("check_maze", str(found))


def _true(state: State, truth: Any, each: Any) -> Any:
    key = (each.object_id, each.attribute)
    return truth.get(key, {state.value(*key): 1.0})


def _is_as_wrong(model: Any, world: Any, state: State, action: str, wrong: Any) -> bool:
    """Whether the same values are foreseen there, and others true."""
    try:
        truth = marginals(state, world.distribution(state, action))
    except Exception:  # it is no state of this world
        return False
    found = model.predict(state, action)
    return all(
        each.object_id in state
        and found.outcomes(each.object_id, each.attribute) == each.predicted
        and _true(state, truth, each) == each.true
        for each in wrong
    )


@pytest.mark.parametrize(("name", "steps"), [("keys", 1500), ("coins", 400), ("lights", 60)])
def test_what_is_found_is_wrong_and_nothing_more_can_go(name: str, steps: int) -> None:
    world, model = tt.make(name), learned(name, steps)
    found = model.check(world, 600, seed=3)
    assert found.example is not None
    state, action = found.example.state, found.example.action
    truth = world.distribution(state, action)
    assert tt.error(model.predict(state, action), truth) > TOLERANCE
    for each in found.example.wrong:
        key = (each.object_id, each.attribute)
        assert model.predict(state, action).outcomes(*key) == each.predicted
        assert distance(each.predicted, each.true) > TOLERANCE
    for gone in state.ids:  # each object is needed
        fewer = State(world.schema, [each for each in state if each.id != gone])
        assert not _is_as_wrong(model, world, fewer, action, found.example.wrong)
    json.dumps(found.to_dict())
    assert str(found) == str(model.check(world, 600, seed=3))
    assert len(found.explanations()) == len(found.example.wrong)


def test_what_is_plainly_wrong_comes_before_chances_that_are_not_quite_right() -> None:
    """A leaf that has seen too much is a little wrong wherever it is right, in two objects."""
    found = learned("maze", 300).check(tt.make("maze"), 1000)
    assert found.example is not None
    assert any(each.outright for each in found.example.wrong)


class Fragile(World):
    """Lamps that a press switches on. It cannot do without any of them, and fails in its way."""

    name = "fragile"
    schema = tt.Schema({"lamp": ["on"]}, {"on": 1}, ["press"])

    def reset(self, seed: int) -> State:
        return State(self.schema, [Object(i, "lamp", on=0) for i in range(3)])

    def dynamics(self, state: State, action: str) -> list[tuple[State, float]]:
        lamps = {each.id: each for each in state}
        return [(state.replace_many({lamps[i].id: {"on": 1} for i in range(3)}), 1.0)]


class Onward(Fragile):
    """The same, but it can only be asked about the state in which it stands."""

    pure = False

    def truth(self, before: State, action: str, after: State) -> State:
        return after


@pytest.mark.parametrize("world", [Fragile(), Onward()])
def test_where_a_world_needs_all_its_objects_they_stay(world: World) -> None:
    found = TreeThink(world.schema).check(world, 5)
    assert found.example is not None
    assert found.example.state == found.example.met == world.reset(0)
    assert [each.object_id for each in found.example.wrong] == [0, 1, 2]
    assert "(as it was met)" in str(found)


class Tossed(World):
    """A coin that falls on either side, which it does not state."""

    name = "tossed"
    pure = False
    schema = tt.Schema({"coin": ["side"]}, {"side": tt.Attribute(1, outcomes="value")}, ["toss"])

    def reset(self, seed: int) -> State:
        return State(self.schema, [Object(0, "coin", side=0)])

    def dynamics(self, state: State, action: str) -> list[tuple[State, float]]:
        return [(state.replace(0, side=side), chance) for side, chance in ((0, 0.3), (1, 0.7))]

    def truth(self, before: State, action: str, after: State) -> State:
        return after


def test_chances_that_a_world_does_not_state_are_no_mistakes() -> None:
    model = TreeThink(Tossed.schema)
    model.observe_many(tt.transitions(Tossed(), 1_000, 0))
    found = model.check(Tossed(), 500, seed=1)
    assert not found and found.wrong == 0
    said = " ".join(str(found).split())
    assert said.startswith("nothing wrong in 500 transitions of tossed this world does not state")
    assert f"followed {found.unstated.likely} of 500 times" in said and "to be expected" in said
    assert found.to_dict()["unstated"]["times"] == 500
    assert abs(found.unstated.likely - found.unstated.expected) < 50
    # What such a model holds impossible is wrong there as everywhere.
    found = TreeThink(Tossed.schema).check(Tossed(), 500, seed=1)
    assert found and found.wrong == 500 - found.unstated.likely > 200
    assert "does not state its chances" in str(found) and "predicted 0 (never seen)" in str(found)


def test_where_everything_was_sure_nothing_is_said_of_chances() -> None:
    model = TreeThink(Onward.schema)
    model.observe_many(tt.transitions(Onward(), 200, 0))
    assert str(model.check(Onward(), 100)).strip() == "nothing wrong in 100 transitions of fragile"
    assert str(learned("maze", 5000).check(tt.make("maze"), 100)).count("chances") == 0


def test_where_chance_decides_counts_need_not_be_exact() -> None:
    assert not learned("fish", 4000).check(tt.make("fish"), 300)


@pytest.mark.parametrize(
    ("world", "n", "error", "says"),
    [
        ("maze", 10, WrongTypeError, "needs a World, such as make"),
        (tt.make("keys"), 10, SettingError, "does not fit world 'keys'"),
        (tt.make("maze"), 0, SettingError, "n must be at least 1"),
    ],
)
def test_a_check_refuses_what_it_cannot_use(world: Any, n: int, error: type, says: str) -> None:
    with pytest.raises(error, match=says):
        learned("maze", 5000).check(world, n)


# --------------------------------------------------------------------------- differing


@MANY
@given(any_stream)
def test_a_model_agrees_with_itself(stream: Stream) -> None:
    model = trained(stream)
    found = model.diff(model, n=50)
    assert not found and found.tried == 50
    assert "no rule differs" in str(found)


@FEW
@given(any_stream, any_stream)
def test_disagreements_are_real_small_and_mutual(stream: Stream, other: Stream) -> None:
    half = Stream(stream.schema, {**other.settings}, stream.shape)
    model, late = trained(stream), TreeThink(half.schema, **half.settings)
    late.observe_many(half.transitions[: len(half.transitions) // 3])
    found, back = model.diff(late, n=60), late.diff(model, n=60)
    assert {each.key for each in found.rules} == {each.key for each in back.rules}
    for each in found.rules:
        assert each.example is not None or outline(each.ours) != outline(each.theirs)
        if each.example is not None:
            state, action = each.example.state, each.example.action
            key = (each.example.object_id, each.example.attribute)
            ours, theirs = (m.predict(state, action).outcomes(*key) for m in (model, late))
            assert (ours, theirs) == (each.example.ours, each.example.theirs)
            seen = (m.predict(state, action).support(*key) for m in (model, late))
            assert unlike(ours, theirs, *seen)
    json.dumps(found.to_dict())
    assert str(found) == str(model.diff(late, n=60))


def test_differences_read_as_they_should() -> None:
    blind, model = learned("maze", 3000, goals=0), learned("maze", 5000)
    found = blind.diff(model, tt.make("maze"))
    # What never was there is not seen yet, and that is a difference too.
    assert {each.key[:2] for each in found.rules} == {("game", "score"), ("goal", "pos")}
    assert all(len(each.example.state) == 3 for each in found.rules if each.example)
    golden("diff_maze", str(found))
    imagined = blind.diff(model)
    assert {each.key for each in imagined.rules} == {each.key for each in found.rules}
    assert sum(each.disagreements > 0 for each in imagined.rules) == 5


def test_large_rules_are_compared_line_by_line_in_no_time() -> None:
    """Whose lines are alike, but for numbers, and of which many are the same."""

    def rule(first: int) -> Rule:
        nodes: list[Any] = []
        for n in range(first, first + 900):
            asked = ("equality", "x", ("dot",), (0,), (3 * n % 1000,))
            nodes += [(len(nodes) + 1, len(nodes) + 2, ("dot",), {}, asked)]
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
    """Of ten situations, six have the action, and five of these a lamp, or many."""
    asked = [lamps(n, "press") for n in (0, 1, 2, 3, 4, 5)] + [lamps(3, "wait")] * 4
    monkeypatch.setattr(differing, "situations", lambda *_: iter(asked))
    schema = asked[0][0].schema
    ours, theirs = TreeThink(schema), TreeThink(schema)
    before = State(schema, [Object(1, "lamp", on=0), Object(2, "cat", on=0)])
    for model, value in [(ours, 1), (theirs, 0)]:
        model.observe(before, "press", before.replace(1, on=value))
    theirs.observe(before, "wait", before)
    found = ours.diff(theirs, n=10)
    counts = {each.key: (each.disagreements, each.tried) for each in found.rules}
    assert found.tried == 10
    assert counts == {
        ("lamp", "on", "press"): (5, 5),
        ("lamp", "on", "wait"): (0, 4),
        ("cat", "on", "wait"): (0, 0),
    }
    text = str(found)
    assert text.startswith("3 rules differ; both models were asked about 10 situations\n")
    assert "different answers in 5 of 5 situations with `press` and a lamp, such as" in text
    (told,) = [each for each in found.to_dict()["rules"] if each["disagreements"]]
    assert (told["tried"], told["rule"]) == (5, ["lamp", "on", "press"])


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
def test_imagined_states_are_the_same_for_the_same_seed(stream: Stream) -> None:
    model = trained(stream)
    rules = list(model.rules.values())
    made = list(situations(stream.schema, rules, 20, seed=1))
    assert made == list(situations(stream.schema, rules, 20, seed=1))
    for state, action in made:
        model.predict(state, action)


# ---------------------------------------------------------------------- command line


def test_the_command_explains(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    path, model = tmp_path / "maze.tt", learned("maze", 5000)
    model.save(path)

    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            cli.main(["explain", str(path), "--world", "maze", *arguments])
        return int(ended.value.code or 0), *capsys.readouterr()

    state = tt.make("maze").reset(seed=0)
    code, out, _ = run("--action", "right", "--draw", str(tmp_path / "x.png"))
    assert code == 0 and "\x1b" not in out and (tmp_path / "x.png").exists()
    assert "no wall is at (2, 3), directly to the right of player 40" in out
    assert "# P . . . G . #" in out
    code, out, _ = run("--action", "left", "--of", "40.pos", "--json")
    found, wanted = json.loads(out), model.explain(state, "left", of=(40, "pos")).to_dict()
    assert found == {**found, **json.loads(json.dumps(wanted))}
    for wrong, says in [
        (["--action", "rigt"], "Did you mean 'right'"),
        (["--action", "right", "--of", "me"], "--of takes an object's id"),
        (["--action", "right", "--draw", "x.jpg"], "unknown format 'jpg'"),
    ]:
        code, _, err = run(*wrong)
        assert code > 0 and says in err


# ------------------------------------------------------- what a reader must not be told


@pytest.mark.parametrize("name", ["self", "cls", "name", "state", "object_id", "attribute"])
def test_attributes_may_be_named_like_arguments_of_functions(name: str) -> None:
    schema = tt.Schema({"lamp": [name], "hand": [name]}, {name: 1}, ["go"])
    model, rng = TreeThink(schema), np.random.default_rng(0)
    for _ in range(200):
        hands = [Object(i, "hand", **{name: int(rng.integers(2))}) for i in range(2)]
        before = State(schema, [*hands, Object(9, "lamp", **{name: int(rng.integers(3))})])
        lit = any(each.values[name] == before[9].values[name] for each in hands)
        model.observe(before, "go", before.replace_many({9: {name: before.value(9, name) + lit}}))
    assert model.rules["lamp", name, "go"].n_leaves > 1
    for each in (0, 2):
        state = before.replace_many({9: {name: each}})
        (reason,) = model.explain(state, "go", of=9)
        assert reason.otherwise is not None and name in str(model.explain(state, "go", of=9))
    found = model.diff(TreeThink(schema), n=50)
    assert found.rules and str(found)
    exported: dict[str, Any] = {}
    exec(model.rules["lamp", name, "go"].to_text("code"), exported)


def taught_by_value(values: dict[int, int]) -> tuple[tt.Schema, TreeThink]:
    """A lamp whose value changes by what it is."""
    schema = tt.Schema({"lamp": ["v"]}, {"v": 1}, ["go"])
    model = TreeThink(schema)
    for i in range(600):
        value = list(values)[i % len(values)]
        before = State(schema, [Object(1, "lamp", v=value)])
        model.observe(before, "go", before.replace(1, v=value + values[value]))
    return schema, model


def test_what_would_be_otherwise_is_true_of_another_value() -> None:
    """Of the attribute that would differ, nothing else is known: the value is said."""
    values = {0: 5, 1: 7, 2: -2}
    schema, model = taught_by_value(values)
    for value in values:
        reason = model.explain(State(schema, [Object(1, "lamp", v=value)]), "go")[1, "v"]
        assert reason.otherwise is not None
        assumed = [e.test.value for e in reason.otherwise.assumed if e.holds]
        excluded = [e.test.value for e in reason.otherwise.assumed if not e.holds]
        left = assumed or [each for each in values if each not in excluded]
        for each in left:
            found = model.predict(State(schema, [Object(1, "lamp", v=each)]), "go").outcomes(1, "v")
            change = each if reason.otherwise.relative else 0
            outcomes: dict[Any, float] = dict(reason.otherwise.outcomes)
            assert found == {k + change: v for k, v in outcomes.items()}


def coin(heads: int, n: int = 1_000) -> TreeThink:
    schema = tt.Schema({"coin": ["v"]}, {"v": 1}, ["flip"])
    model, state = TreeThink(schema), State(schema, [Object(1, "coin", v=0)])
    for i in range(n):
        model.observe(state, "flip", state.replace(1, v=1 if i % 100 < heads else -1))
    return model


def test_models_that_differ_by_more_than_chance_disagree() -> None:
    assert coin(62).diff(coin(38)) and not coin(62).diff(coin(62))
    assert not coin(51).diff(coin(50))


def test_names_cannot_write_on_the_terminal() -> None:
    schema = tt.Schema({"\x1b[2Jp": ["v"]}, {"v": 1}, ["go"])
    model, state = TreeThink(schema), State(schema, [Object(1, "\x1b[2Jp", v=0)])
    for i in range(40):
        model.observe(state, "go", state.replace(1, v=i % 2))
    rule = model.rules["\x1b[2Jp", "v", "go"]
    found = model.explain(state, "go")
    test = Test("equality", "v", ("\x1b[2Jp",), (1,), 0, ((1, "\x1b[2Jp"),))
    texts = [str(found), found._repr_html_(), rule.to_text("english"), str(rule), repr(rule)]
    for text in (*texts, str(test), rule.to_text("code"), str(model.diff(TreeThink(schema)))):
        assert "\x1b" not in text


def test_a_summary_is_text_in_a_notebook_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where rich would display things instead of writing them."""
    plain = str(learned("maze", 3000).summary())
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    assert str(learned("maze", 3000).summary()) == plain
