"""Why a model predicts what it predicts: explanations as text, as data and as pictures.

The texts that people read are golden files (see tests/support/golden.py).
"""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from PIL import Image
from rich.console import Console

import reference
import treethink as tt
from golden import check_golden
from models import learned, learned_from
from reference import Scene, as_vector
from strategies import Stream, streams
from treethink import cli
from treethink.errors import SettingError, StateError, UnknownNameError, WrongTypeError
from treethink.explain.distributions import differ
from treethink.explain.path import Step, child, extensions, follow
from treethink.explain.state_picture import drawable
from treethink.explain.why.counterfactual import nearest
from treethink.explain.why.explanation import Reason
from treethink.explain.why.overlay import picture
from treethink.frames import CHANGE, STAYS, Frame
from treethink.metrics import each_change
from treethink.model import TreeThink
from treethink.rules import Node, Test
from treethink.state import Object, State
from treethink.worlds import World
from treethink.worlds.draw.pixels import png

MANY = settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
FEW = settings(MANY, max_examples=4)
any_stream = streams(criteria=("wilson", "evidence"), memories=("none", "long"), units=True)


def html(value: Any) -> str:
    """Return what a notebook shows; the method is installed at import (explain/notebook.py)."""
    return str(value._repr_html_())


def random_situations(world: World, steps: int = 60, seed: int = 9) -> Iterator[tuple[State, str]]:
    """Yield states and actions of random play."""
    return ((before, action) for before, action, _ in tt.transitions(world, steps, seed))


def explainable_values(stream: Stream) -> Iterator[tuple[TreeThink, State, str, int, str]]:
    """Yield a trained model with every value of the stream's last states."""
    model = learned_from(stream)
    for state, action, _ in stream.transitions[-8:]:
        for each in state:
            for attribute in each.values:
                yield model, state, action, each.id, attribute


def reasons(stream: Stream) -> Iterator[tuple[TreeThink, str, Reason]]:
    for model, state, action, x, attribute in explainable_values(stream):
        yield model, action, model.explain(state, action, of=(x, attribute))[x, attribute]


# ------------------------------------------------------------- the path through a tree


def in_reference(test: Test) -> reference.Test:
    """Return the same test in the form of the slow twin."""
    attributes = tuple(attribute for _, attribute in test.terms)
    return reference.Test(
        test.kind, attributes, test.classes, test.variables, as_vector(test.value)
    )


@MANY
@given(any_stream)
def test_steps_match_the_slow_twin(stream: Stream) -> None:
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
def test_the_final_leaf_has_the_prediction_of_the_model(stream: Stream) -> None:
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
            assert rule.frame is not None
            known = set(counts) == {STAYS} or reference_value(reason, rule.frame) is not None
            assert reason.support == (sum(counts.values()) if known else 0)
            expected = new_values(reason, rule.frame, counts)
            assert expected == pytest.approx(reason.outcomes)


def new_values(reason: Reason, frame: Frame, counts: Any) -> dict[Any, float]:
    """Compute the distribution of new values from counts, the obvious way."""
    was = as_vector(reason.was)
    reference = reference_value(reason, frame)
    shares: Counter[Any] = Counter()
    for outcome, n in counts.items():
        if outcome is STAYS or reference is None:  # without a reference, nothing is known
            shares[was] += n
        else:
            shares[tuple(a + b for a, b in zip(reference, as_vector(outcome), strict=True))] += n
    total = shares.total()
    return {new[0] if len(new) == 1 else new: n / total for new, n in shares.items()}


def reference_value(reason: Reason, frame: Frame) -> tuple[int, ...] | None:
    """Return what the outcomes of a frame are added to; None where there is no such object."""
    assert reason.object_id is not None
    was = as_vector(reason.was)
    if frame.kind == "change":
        return was
    if frame.kind == "value":
        return (0,) * len(was)
    source = reason.state[reason.object_id]
    if frame.of is not None:
        others = reason.state.of_class(frame.of)
        if len(others) != 1:
            return None
        (source,) = others
    assert frame.attribute is not None
    value = as_vector(source.values[frame.attribute])
    return tuple(a + b for a, b in zip(was, value, strict=True)) if frame.adds else value


def test_bindings_beyond_the_limit_are_cut_as_in_the_engine() -> None:
    """A hundred stones of two hues have 4,900 pairs of equal hue; 4,096 are kept."""
    schema = tt.Schema({"walker": ["hue"], "stone": ["hue"]}, {"hue": 1}, ["go"])
    state = State(schema, [Object(i, "stone", hue=i % 2) for i in range(100)])
    test = Test("difference", "hue", ("stone", "stone"), (0, 1), 0, ((0, "stone"), (1, "stone")))
    kept = extensions(state, test, [()])
    twin = reference.extensions(Scene(state), in_reference(test), [()])
    assert len(kept) == 4096
    assert set(kept) == set(twin)


# -------------------------------------------------------------------- counterfactuals


@MANY
@given(any_stream)
def test_the_counterfactual_negates_the_last_test_that_matters(stream: Stream) -> None:
    for model, action, reason in reasons(stream):
        assert reason.object_id is not None
        class_name = reason.state[reason.object_id].class_name
        frame = model.rules[class_name, reason.attribute, action].frame
        assert frame is not None
        differing = [
            i for i, step in enumerate(reason.steps) if has_other_outcomes(reason, frame, step)
        ]
        otherwise = reason.otherwise
        if otherwise is None:
            continue
        step = reason.steps[otherwise.step]
        assert otherwise.step <= max(differing)
        assert otherwise.assumed[0].test == step.test
        assert otherwise.assumed[0].holds is not step.holds
        assert otherwise.support > 0
        assert sum(otherwise.outcomes.values()) == pytest.approx(1.0)
        assert otherwise.condition in otherwise.sentence(reason.attribute)
        later = [i for i in differing if i > otherwise.step]
        # Negating a later test never reaches a leaf with other outcomes directly.
        assert all(not sibling_is_leaf_that_differs(reason.steps[i], reason, frame) for i in later)


def has_other_outcomes(reason: Reason, frame: Frame, step: Step) -> bool:
    """Return whether any leaf on the other side of a step has other outcomes."""
    waiting, differs = [child(step.node, not step.holds)], False
    while waiting:
        node = waiting.pop()
        if node.test is None:
            differs |= leaf_differs(reason, frame, node)
        else:
            waiting += [child(node, True), child(node, False)]
    return differs


def sibling_is_leaf_that_differs(step: Step, reason: Reason, frame: Frame) -> bool:
    sibling = child(step.node, not step.holds)
    return sibling.test is None and leaf_differs(reason, frame, sibling)


def leaf_differs(reason: Reason, frame: Frame, leaf: Node) -> bool:
    return bool(leaf.counts) and differ(new_values(reason, frame, leaf.counts), reason.outcomes)


def test_the_shortest_then_best_supported_condition_is_chosen() -> None:
    schema = tt.Schema({"player": ["x"], "door": ["x", "open"]}, {"x": 1, "open": 1}, ["go"])
    state = State(schema, [Object(1, "player", x=5)])
    beside = Test("difference", "x", ("player", "door"), (0, 1), 1, ((1, "door"),))
    is_closed = Test("equality", "open", ("door",), (1,), 0)
    is_ajar = Test("equality", "open", ("door",), (1,), 1)
    both, alone = ("player", "door"), ("player",)
    leaves = [Node(both, {value: n}) for value, n in [(1, 9), (2, 3), (3, 4)]]
    stays = Node(alone, {0: 50})

    def sentence_for(left: Node) -> str:
        steps, _ = follow(Node(alone, {}, beside, left, stays), state, 1)
        counterfactual = nearest(state, steps, 1, "x", {5: 1.0}, CHANGE)
        assert counterfactual is not None
        return counterfactual.sentence("x")

    ajar = Node(both, {}, is_ajar, leaves[0], leaves[1])
    shortest = sentence_for(Node(both, {}, is_closed, ajar, leaves[2]))
    condition = "if there were a door with x 6 and that door had"  # x is one number, not a position
    assert shortest == f"{condition} another open than 0, x would be 8, seen 4 times"
    best_known = sentence_for(Node(both, {}, is_closed, leaves[0], leaves[2]))
    assert best_known == f"{condition} open 0, x would be 6, seen 9 times"
    observed_only = sentence_for(Node(both, {}, is_closed, Node(both, {}), leaves[1]))
    assert observed_only == f"{condition} another open than 0, x would be 7, seen 3 times"


def test_a_condition_leaves_out_values_that_a_stated_value_rules_out() -> None:
    """A meter with price 2 and credit 0: a price above the credit, else price by price."""
    schema = tt.Schema(
        {"meter": ["credit", "price"]},
        {"credit": 1, "price": tt.Attribute(1, like="credit")},
        ["ticket"],
    )
    state = State(schema, [Object(1, "meter", credit=0, price=2)])
    meter = ("meter",)

    def about(kind: str, value: int) -> Test:
        return Test(kind, "credit", meter, (0,), value, (), "price")

    leaves = [Node(meter, {STAYS: 9}), Node(meter, {-1: 4}), Node(meter, {STAYS: 7})]
    by_price = Node(meter, {}, about("difference", -1), leaves[1], leaves[2])
    equal = Node(meter, {}, about("difference", 0), leaves[2], by_price)
    tree = Node(meter, {}, about("order", 1), leaves[0], equal)
    steps, _ = follow(tree, state, 1)
    assert str(steps[0].test) == "sign(X0[price] - X0[credit]) = 1"
    counterfactual = nearest(state, steps, 1, "credit", {0: 1.0}, CHANGE)
    assert counterfactual is not None
    assert counterfactual.condition == (
        "the price of meter 1 were not more than its credit and meter 1 had price -1"
    )


@pytest.mark.parametrize(("name", "steps"), [("walls", 2000), ("maze", 5000), ("doors", 5000)])
def test_the_model_predicts_the_counterfactual_in_the_changed_state(name: str, steps: int) -> None:
    """Change the level as the explanation says, and predict again."""
    world, model = tt.make(name, width=6, height=6), learned(name, steps)
    changed = 0
    for state, action in random_situations(world):
        for reason in model.explain(state, action):
            if reason.otherwise is not None and (after := counterfactual_state(reason)) is not None:
                changed += 1
                outcomes = model.predict(after, action).outcomes(reason.object_id, reason.attribute)
                assert outcomes == pytest.approx(reason.otherwise.outcomes), reason.otherwise
    assert changed > 10


def counterfactual_state(reason: Reason) -> State | None:
    """Return the state in which the condition holds, or None if it is not simple to construct."""
    assert reason.otherwise is not None
    step, state = reason.steps[reason.otherwise.step], reason.state
    if len(reason.otherwise.assumed) > 1 or not step.test.new or step.test.attribute != "pos":
        return None
    if step.holds:
        first = step.test.new[0][0]
        removed = {binding[first] for binding in step.after}
        return State(state.schema, [each for each in state if each.id not in removed])
    (player,) = state.of_class("player")
    others = [name for name in step.test.classes if name != "player"]
    if len(others) != 1:
        return None
    sign = 1 if step.test.classes[-1] == others[0] else -1
    where = tuple(a + sign * b for a, b in zip(player.pos, step.test.value, strict=True))  # type: ignore[arg-type,operator]
    rest = dict.fromkeys(set(state.schema.classes[others[0]]) - {"pos"}, 0)
    return State(state.schema, [*state, Object(999, others[0], pos=where, **rest)])


def test_a_counterfactual_can_name_the_value_of_an_attribute() -> None:
    world, model = tt.make("lights"), learned("lights", 5000)
    texts = [str(model.explain(*each)) for each in random_situations(world, 400)]
    assert any("if light" in text and "on would be 1" in text for text in texts)
    assert any("had another on than 0, on would change by -1" in text for text in texts)


# ------------------------------------------------------------------------- as text


def test_explanations_match_the_golden_file() -> None:
    maze, keys = tt.make("maze"), tt.make("keys")
    start, locked = maze.reset(seed=0), keys.reset(seed=0)
    model, other = learned("maze", 5000), learned("keys", 20_000)
    explanations = [model.explain(start, action) for action in maze.actions]
    explanations += [model.explain(start, "left", of=40), other.explain(locked, "left")]
    explanations += [
        other.explain(*each) for each in islice(random_situations(keys, 2000), 0, 2000, 400)
    ]
    check_golden("explain.txt", "\n\n".join(map(str, explanations)) + "\n")


@MANY
@given(any_stream)
def test_text_has_no_colours_fits_80_columns_and_is_deterministic(stream: Stream) -> None:
    model = learned_from(stream)
    state, action, _ = stream.transitions[-1]
    explanation = model.explain(state, action)
    text = str(explanation)
    assert text == str(model.explain(state, action))
    assert "\x1b" not in text
    assert all(len(line) <= 80 for line in text.splitlines())
    changes = [*each_change(model.predict(state, action))]
    assert len(explanation) == len(list(explanation)) == len(changes)


def test_a_notebook_shows_the_same_text() -> None:
    schema = tt.Schema({"<b>": ["on"]}, {"on": 1}, ["press"])
    model, lamp = TreeThink(schema), State(schema, [Object(1, "<b>", on=0)])
    model.observe(lamp, "press", lamp.replace(1, on=1))
    shown = html(model.explain(lamp, "press"))
    assert shown.startswith("<pre>") and "&lt;b&gt; 1, on: 0 -&gt; 1" in shown
    assert "no rule differs" in html(model.diff(model, n=3))


@pytest.mark.parametrize("no_color", [True, False])
def test_rich_decides_about_colours(no_color: bool) -> None:
    page = io.StringIO()
    console = Console(file=page, force_terminal=True, no_color=no_color, color_system="truecolor")
    maze = tt.make("maze")
    console.print(learned("maze", 5000).explain(maze.reset(seed=0), "right"))
    coloured = "\x1b[31m" in page.getvalue()
    assert coloured is not no_color


def test_an_unchanged_value_is_explained_on_request() -> None:
    model, state = learned("maze", 5000), tt.make("maze").reset(seed=0)
    assert "could have changed and does not: player 40" in str(model.explain(state, "left"))
    (reason,) = model.explain(state, "left", of=np.int64(40))
    assert reason.title == "player 40, pos: stays (1, 3), seen 397 times"
    assert reason.bound == {"X0": (40,), "X1": (17,)}
    assert reason.otherwise is not None
    assert reason.otherwise.condition == "there were no wall directly to the left of player 40"


def test_a_reason_has_the_same_text_alone_and_in_an_explanation() -> None:
    model, state = learned("maze", 5000), tt.make("maze").reset(seed=0)
    explanation = model.explain(state, "right")
    assert str(explanation) == "\n".join(["right: 2 values may change", *map(str, explanation)])
    assert html(explanation[40, "pos"]).startswith("<pre>player 40, pos: (1, 3) -&gt; (2, 3)")
    assert repr(explanation[40, "pos"]).startswith("Reason(object_id=40, attribute='pos'")


def test_explanations_mention_values_that_were_never_observed() -> None:
    world = tt.make("maze")
    text = str(TreeThink(world.schema).explain(world.reset(seed=0), "right", of=40))
    assert "never seen" in text and "assumed that it stays the same" in text
    unrestricted = str(TreeThink(world.schema).explain(world.reset(0), "right"))
    assert unrestricted.startswith("right: nothing changes\n42 values were never observed")
    assert "never observed" not in str(learned("maze", 3000).explain(world.reset(0), "right"))


def test_explanations_mention_further_bindings_and_probabilities() -> None:
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
def test_an_explanation_survives_json(stream: Stream) -> None:
    model = learned_from(stream)
    state, action, _ = stream.transitions[-1]
    data = model.explain(state, action).to_dict()
    decoded = json.loads(json.dumps(data))
    assert State.from_dict(state.schema, decoded["state"]) == state
    assert [each["object"] for each in decoded["reasons"]] == [
        each["object"] for each in data["reasons"]
    ]
    for each in data["reasons"]:
        assert all(step["bound"]["X0"] == [each["object"]] for step in each["steps"])


# ---------------------------------------------------------------------- as a picture


def read_pixels(path: Path) -> Any:
    with Image.open(path) as image:
        return np.asarray(image)


def test_bound_objects_have_an_outline(tmp_path: Path) -> None:
    world, model = tt.make("keys"), learned("keys", 20_000)
    state = world.reset(seed=0)
    explanation = model.explain(state, "left", of=(44, "pos"))
    explanation.draw(tmp_path / "keys.png", world)
    pixels = read_pixels(tmp_path / "keys.png")
    size = 48  # eight cells in at most 512 pixels, none larger than that

    def edge(x: int, y: int) -> tuple[int, ...]:
        return tuple(int(each) for each in pixels[y * size + 2, x * size + size // 2])

    assert edge(*state[44].pos) == (236, 236, 240)
    assert edge(*state[42].pos) == (236, 140, 51)
    explanation.draw(str(tmp_path / "plain.png"))
    assert read_pixels(tmp_path / "plain.png").shape == pixels.shape


def test_the_place_where_nothing_was_found_is_marked(tmp_path: Path) -> None:
    world, model = tt.make("maze"), learned("maze", 5000)
    model.explain(world.reset(seed=0), "right").draw(tmp_path / "maze.png", world)
    pixels = read_pixels(tmp_path / "maze.png")
    assert tuple(pixels[3 * 48 + 2, 2 * 48 + 24]) == (176, 32, 40)


@FEW
@given(any_stream)
def test_any_explanation_can_be_drawn(stream: Stream) -> None:
    model = learned_from(stream)
    state, action, _ = stream.transitions[-1]
    content = png(picture(model.explain(state, action), drawable(stream.schema)))
    Image.open(io.BytesIO(content)).load()


def test_invalid_arguments_of_draw_are_refused(tmp_path: Path) -> None:
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


# -------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("of", "error", "message"),
    [
        (99, StateError, "no object has the id 99"),
        ("player", WrongTypeError, "an object's id, or \\(id, attribute\\)"),
        (1.5, WrongTypeError, "got 1.5"),
        ((40, "poss"), UnknownNameError, "Did you mean 'pos'"),
    ],
)
def test_unknown_objects_and_attributes_cannot_be_explained(
    of: Any, error: type, message: str
) -> None:
    with pytest.raises(error, match=message):
        learned("maze", 5000).explain(tt.make("maze").reset(seed=0), "right", of=of)


def test_errors_name_unknown_actions_and_reasons() -> None:
    model, state = learned("maze", 5000), tt.make("maze").reset(seed=0)
    with pytest.raises(UnknownNameError, match="Did you mean 'right'"):
        model.explain(state, "rigt")
    with pytest.raises(UnknownNameError, match="unknown reason '40, size'"):
        model.explain(state, "right")[40, "size"]


# ---------------------------------------------------------------------- command line


def test_the_command_explains(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    path, model = tmp_path / "maze.tt", learned("maze", 5000)
    model.save(path)

    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as exit_:
            cli.main(["explain", str(path), "--world", "maze", *arguments])
        return int(exit_.value.code or 0), *capsys.readouterr()

    state = tt.make("maze").reset(seed=0)
    code, out, _ = run("--action", "right", "--draw", str(tmp_path / "x.png"))
    assert code == 0 and "\x1b" not in out and (tmp_path / "x.png").exists()
    assert "no wall is at (2, 3), directly to the right of player 40" in out
    assert "# P . . . G . #" in out
    code, out, _ = run("--action", "left", "--of", "40.pos", "--json")
    printed, expected = json.loads(out), model.explain(state, "left", of=(40, "pos")).to_dict()
    assert printed == {**printed, **json.loads(json.dumps(expected))}
    for wrong, message in [
        (["--action", "rigt"], "Did you mean 'right'"),
        (["--action", "right", "--of", "me"], "--of takes an object's id"),
        (["--action", "right", "--draw", "x.jpg"], "unknown format 'jpg'"),
    ]:
        code, _, err = run(*wrong)
        assert code > 0 and message in err


# ------------------------------------------------------------- unusual names and values


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
    difference = model.diff(TreeThink(schema), n=50)
    assert difference.rules and str(difference)
    exported: dict[str, Any] = {}
    exec(model.rules["lamp", name, "go"].to_text("code"), exported)


def model_of_value_changes(values: dict[int, int]) -> tuple[tt.Schema, TreeThink]:
    """Return a model of a lamp whose value changes by an amount that depends on it."""
    schema = tt.Schema({"lamp": ["v"]}, {"v": 1}, ["go"])
    model = TreeThink(schema)
    for i in range(600):
        value = list(values)[i % len(values)]
        before = State(schema, [Object(1, "lamp", v=value)])
        model.observe(before, "go", before.replace(1, v=value + values[value]))
    return schema, model


def test_a_counterfactual_about_a_value_holds_for_every_such_value() -> None:
    """The predicted outcome is the counterfactual one for each value that meets its condition."""
    values = {0: 5, 1: 7, 2: -2}
    schema, model = model_of_value_changes(values)
    for value in values:
        reason = model.explain(State(schema, [Object(1, "lamp", v=value)]), "go")[1, "v"]
        assert reason.otherwise is not None
        assumed = [e.test.value for e in reason.otherwise.assumed if e.holds]
        excluded = [e.test.value for e in reason.otherwise.assumed if not e.holds]
        possible = assumed or [each for each in values if each not in excluded]
        for each in possible:
            predicted = model.predict(State(schema, [Object(1, "lamp", v=each)]), "go").outcomes(
                1, "v"
            )
            change = each if reason.otherwise.relative else 0
            outcomes: dict[Any, float] = dict(reason.otherwise.outcomes)
            assert predicted == {k + change: v for k, v in outcomes.items()}


def test_control_characters_in_names_are_escaped() -> None:
    schema = tt.Schema({"\x1b[2Jp": ["v"]}, {"v": 1}, ["go"])
    model, state = TreeThink(schema), State(schema, [Object(1, "\x1b[2Jp", v=0)])
    for i in range(40):
        model.observe(state, "go", state.replace(1, v=i % 2))
    rule = model.rules["\x1b[2Jp", "v", "go"]
    explanation = model.explain(state, "go")
    test = Test("equality", "v", ("\x1b[2Jp",), (1,), 0, ((1, "\x1b[2Jp"),))
    texts = [str(explanation), html(explanation), rule.to_text("english"), str(rule), repr(rule)]
    for text in (*texts, str(test), rule.to_text("code"), str(model.diff(TreeThink(schema)))):
        assert "\x1b" not in text
