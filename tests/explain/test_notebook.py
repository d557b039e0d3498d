"""Notebook output is well-formed, escaped, true to the state or rule, and never an error.

The picture of a rule is a golden file. After a wanted change, rewrite it and look at it:

    REWRITE_GOLDEN=1 pytest tests/explain/test_notebook.py
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings

import treethink as tt
from golden import check_golden
from models import chain_rule, learned, learned_from
from strategies import Stream, streams
from treethink.baselines import Oracle
from treethink.baselines.prediction import Certain, Joint, Product
from treethink.explain import notebook, object_html, rich_text, state_picture
from treethink.explain import notebook_html as html
from treethink.explain.compare.boards import states_of
from treethink.metrics import each_change
from treethink.rules import distribution, ranked
from treethink.worlds import WORLDS
from treethink.worlds.draw import svg
from treethink.worlds.draw.shapes import SHAPES, Mask

NASTY = "<script>alert('&')</script>\n\x00\""

some_streams = settings(
    deadline=None,
    derandomize=True,
    max_examples=15,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def parse_xml(text: str | None) -> ElementTree.Element:
    """Parse our HTML strictly, as XML."""
    assert text is not None
    return ElementTree.fromstring(text)


def to_text(element: ElementTree.Element) -> str:
    return ElementTree.tostring(element, encoding="unicode")


def visible_text(text: str | None) -> str:
    """Return all text that a reader sees."""
    return " ".join(" ".join(parse_xml(text).itertext()).split())


def representations(each: Any) -> list[str]:
    """Return every representation that a notebook may request."""
    names = ("_repr_html_", "_repr_svg_")
    return [getattr(each, name)() for name in names if hasattr(each, name)]


# ---------------------------------------------------- all types


@some_streams
@given(streams(criteria=("evidence",), memories=("short",)))
def test_all_output_of_any_model_is_well_formed(stream: Stream):
    model = learned_from(stream)
    state, action, _ = stream.transitions[-1]
    things = [state, model.predict(state, action), model.rules, model, model.summary()]
    for each in [*things, *model.rules.values(), *model.summary().rules.values()]:
        for text in representations(each):
            parse_xml(text)


def test_every_type_has_its_methods():
    model = learned("maze", steps=50)
    state = tt.make("maze").reset(seed=0)
    kinds = [state, model.predict(state, "left"), model.rules[("player", "pos", "left")]]
    kinds += [model.rules, model, model.summary(), tt.FOLDT(["player"])]
    assert [len(representations(each)) for each in kinds] == [2, 1, 2, 1, 1, 1, 2]
    assert all(isinstance(text, str) for each in kinds for text in representations(each))
    assert "explain.notebook_html.model_html" in tt.TreeThink._repr_html_.__doc__


def test_names_are_escaped_everywhere():
    schema = tt.Schema({NASTY: ["x"], "b": ["x"]}, {"x": 1}, [NASTY, "</td>"])
    model = tt.TreeThink(schema)
    for i in range(40):
        state = tt.State(schema, [tt.Object(1, NASTY, x=i % 2), tt.Object(2, "b", x=3)])
        model.observe(state, NASTY, state.replace(1, x=1 - i % 2))
    escaped = "<script>alert('&')</script>\\n\\x00\""
    key = (NASTY, "x", NASTY)
    for each in (state, model.predict(state, NASTY), model.rules, model, model.rules[key]):
        for text in representations(each):
            assert "<script" not in text
            assert escaped[:12] in visible_text(text)
    assert escaped in visible_text(state._repr_html_())
    assert escaped in visible_text(html.objects_table(state).html())


def test_a_state_falls_back_to_plain_text_if_drawing_fails(monkeypatch: pytest.MonkeyPatch):
    def fail(each: object) -> str:
        raise RuntimeError("no")

    state = tt.make("maze").reset(seed=0)
    monkeypatch.setattr(html, "state_html", fail)
    monkeypatch.setattr(state_picture, "state_svg", fail)
    assert representations(state) == [None, None]


def test_explanations_fall_back_to_plain_text_if_rendering_fails(
    monkeypatch: pytest.MonkeyPatch,
):
    model, state = learned("maze", steps=50), tt.make("maze").reset(seed=0)
    explanations = [
        model.explain(state, "left"),
        model.diff(model, n=2),
        model.check(tt.make("maze"), 2),
    ]
    assert all("<pre>" in each._repr_html_() for each in explanations)

    def fail(each: object, width: int = 80) -> str:
        raise RuntimeError("no")

    monkeypatch.setattr(rich_text, "plain", fail)
    assert [each._repr_html_() for each in explanations] == [None] * 3


def test_methods_can_be_installed_on_other_classes():
    class Mine:
        def __str__(self) -> str:
            return "mine"

    notebook.install_on(Mine, _repr_html_="treethink.text:escaped", _repr_svg_="no:where")
    assert representations(Mine()) == [None, None]  # it is not a str; no such module


# ---------------------------------------------------- states


@pytest.mark.parametrize("name", WORLDS)
def test_every_world_has_a_picture_of_its_states(name: str):
    state = tt.make(name).reset(seed=0)
    picture = parse_xml(state._repr_svg_())
    assert picture.tag == "{http://www.w3.org/2000/svg}svg"
    assert state_picture.has_places(state)
    assert len(list(picture)) >= 3
    assert state._repr_html_() == f"<div>{state._repr_svg_()}</div>"


def test_a_state_is_drawn_with_the_looks_of_its_world():
    for name in ("maze", "maze-scoreless", "lights-scoreless", "walls", "keys"):
        world = tt.make(name)
        drawing = state_picture.drawable(world.schema)
        assert drawing.looks == world.looks
        assert state_picture.state_svg(world.reset(seed=0)) == svg.svg(world, world.reset(seed=0))
    assert "score 0" in visible_text(tt.make("maze").reset(seed=0)._repr_svg_())


def test_a_custom_schema_has_plain_looks_and_uses_its_first_position():
    schema = tt.Schema({"boat": ["hat", "xy"], "sky": ["hat"]}, {"hat": 2, "xy": 2}, ["go"])
    boat, sky = tt.Object(1, "boat", hat=(9, 9), xy=(2, 1)), tt.Object(2, "sky", hat=(3, 3))
    world = state_picture.drawable(schema)
    assert isinstance(world, state_picture.PlainLooks)
    assert (world.place(boat), world.place(sky)) == ((2, 1), None)
    picture = parse_xml(tt.State(schema, [boat, sky])._repr_svg_())
    assert int(picture.get("width", 0)) >= 3 * 24
    assert picture.get("height") == str(2 * 24 + 18)
    assert "sky hat (3, 3)" in " ".join(picture.itertext())


def test_a_state_without_positions_is_a_table():
    schema = tt.Schema({"lamp": ["on"]}, {"on": 1}, ["press"])
    lamps = [tt.Object(i, "lamp", on=i % 2) for i in range(100)]
    assert visible_text(tt.State(schema, lamps[:2])._repr_html_()) == (
        "id class values 0 lamp on = 0 1 lamp on = 1"
    )
    assert visible_text(tt.State(schema, lamps)._repr_html_()).endswith(
        "59 lamp on = 1 … and 40 more"
    )
    assert "and 97 more" in visible_text(tt.State(schema, lamps)._repr_svg_())
    assert parse_xml(tt.State(schema, [])._repr_svg_()).get("height") == "0"


@pytest.mark.parametrize(
    ("far", "middle"),
    [
        ((10**12, 1), (2.82, 1.5)),
        ((-(10**12), 1), (0.18, 1.5)),
        ((1, 10**12), (1.5, 2.82)),
        ((1, -(10**12)), (1.5, 0.18)),
    ],
)
def test_arrows_point_at_objects_far_outside(far: tuple[int, int], middle: tuple[float, float]):
    schema = tt.Schema({"dot": ["pos"]}, {"pos": 2}, ["go"])
    near = [tt.Object(i, "dot", pos=(i, i)) for i in range(3)]
    picture = parse_xml(tt.State(schema, [*near, tt.Object(9, "dot", pos=far)])._repr_svg_())
    _, _, arrow = picture.findall("{*}path")  # after the grid and the dots
    points = corners(arrow.get("d", "")) / 24
    assert (points.min(axis=0) + points.max(axis=0)) / 2 == pytest.approx(middle, abs=0.03)


def corners(path: str) -> npt.NDArray[np.float64]:
    """Return the points of one closed line."""
    numbers = [float(each) for each in re.findall(r"-?[\d.]+", path)]
    steps: npt.NDArray[np.float64] = np.array(numbers).reshape(-1, 2).cumsum(axis=0)
    return steps


def inside(loops: list[svg.Loop], points: int) -> Mask:
    """Return which points of a grid lie inside, by counting the lines to their left."""
    v, u = ((np.mgrid[:points, :points] + 0.5) / points).tolist()
    mask = np.zeros((points, points), dtype=bool)
    for i in range(points):
        for j in range(points):
            mask[i, j] = crossings(loops, u[i][j], v[i][j]) % 2
    return mask


def crossings(loops: list[svg.Loop], u: float, v: float) -> int:
    return sum(
        (a[1] > v) != (b[1] > v) and (v - a[1]) / (b[1] - a[1]) * (b[0] - a[0]) + a[0] < u
        for loop in loops
        for a, b in zip(loop, loop[1:] + loop[:1], strict=True)
    )


@pytest.mark.parametrize("name", ["key", "unlit", "frame", "star", "block", "lever", "fish"])
def test_an_outline_encloses_the_points_of_its_shape(name: str):
    points = (np.arange(svg.SAMPLES) + 0.5) / svg.SAMPLES
    shape = SHAPES[name](*np.meshgrid(points, points))
    assert np.array_equal(inside(svg.outline(name), svg.SAMPLES), shape)


def test_every_shape_has_an_outline_and_other_names_are_refused():
    assert all(len(loop) >= 4 for name in SHAPES for loop in svg.outline(name))
    with pytest.raises(tt.UnknownNameError, match="Did you mean 'star'"):
        svg.outline("stra")


# ---------------------------------------------------- schemas, worlds, plans, episodes


def test_a_schema_lists_its_classes_attributes_and_actions():
    schema = tt.Schema(
        {"lamp": ["on"], "<b>": []}, {"on": tt.Attribute(1, outcomes="value")}, ["press & hold"]
    )
    text = visible_text(schema._repr_html_())
    assert "lamp on <b> attribute definition on Attribute(length=1" in text
    assert text.endswith("Actions: press & hold")
    lines = str(schema).splitlines()
    assert lines[:3] == ["Classes:", "  lamp  on", "  <b>"]
    assert lines[-1] == "Actions: press & hold"
    assert str(tt.Schema({}, {}, [])) == "Classes:\nAttributes:\nActions: none"
    assert eval(repr(schema), {"Schema": tt.Schema, "Attribute": tt.Attribute}) == schema


@pytest.mark.parametrize("name", WORLDS)
def test_a_world_shows_its_first_level_and_its_schema(name: str):
    world = tt.make(name)
    text = world._repr_html_()
    assert visible_text(text).startswith(f"{world!r} {world.summary()}")
    assert visible_text(world.schema._repr_html_()) in visible_text(text)
    assert text.count("<svg") == (1 if world.pure else 0)


def test_a_plan_shows_its_actions_and_what_it_expects():
    world = tt.make("maze")
    plan = tt.plan(Oracle(world), world.reset(5), simulations=50, horizon=5)
    text = plan._repr_html_()
    assert f"{plan.action} (chosen) {plan.visits[plan.action]}" in visible_text(text)
    captions = [each.text for each in parse_xml(text).iter("figcaption")]
    assert captions[:3] == ["now", "after right", "after right right"]
    assert text.count("<svg") == len(captions) == object_html.MAX_STATES


def test_an_episode_shows_its_ends_and_its_steps():
    world = tt.make("maze")
    episode = tt.Agent(Oracle(world)).play(world, steps=5, level=5)
    text = episode._repr_html_()
    assert [each.text for each in parse_xml(text).iter("figcaption")] == ["start", "after 5 steps"]
    assert "Episode: 5 steps, score +1" in visible_text(text)
    assert "1 right -1 2 right -1 3 right +1" in visible_text(text)
    assert str(episode) == "5 steps, score +1: right right right stay stay"
    unplayed = type(episode)(episode.states[:1])
    assert (repr(unplayed), str(unplayed)) == ("<Episode: 0 steps, score +0>", "0 steps, score +0")


# ---------------------------------------------------- predictions


def test_a_prediction_is_two_pictures_and_a_table_of_changes():
    world, model = tt.make("maze"), learned("maze", 2000)
    state = world.reset(seed=0)
    for action in world.actions:
        prediction = model.predict(state, action)
        text = prediction._repr_html_()
        assert text.count("<svg") == 2
        captions = [each.text for each in parse_xml(text).iter("figcaption")]
        assert captions == ["now", "next, most likely"]
        for x, attribute, chances in each_change(prediction):
            (value,) = chances
            row = f"{state[x].class_name} {attribute} {state.value(x, attribute)} {value} 100%"
            assert row in visible_text(text)


def test_outcomes_are_listed_by_decreasing_probability():
    world, model = tt.make("fish"), learned("fish", steps=600)
    for seed in range(20):
        prediction = model.predict(world.reset(seed), "step")
        for row in each_change(prediction):
            chances = sorted(row[2].values(), reverse=True)
            listed = html.changes_table(prediction).rows
            assert len(listed) == len(chances)
            assert listed[0][4] == str(max(row[2], key=lambda value: (row[2][value], value))) or (
                chances[0] == chances[1]
            )


def test_long_lists_of_outcomes_and_changes_are_truncated():
    schema = tt.Schema({"dot": ["x"]}, {"x": tt.Attribute(1, facts=())}, ["go"])
    model = tt.TreeThink(schema)
    for i in range(30):
        state = tt.State(schema, [tt.Object(1, "dot", x=0)])
        model.observe(state, "go", state.replace(1, x=i))
    assert "22 others 73%" in visible_text(model.predict(state, "go")._repr_html_())
    seen = model.rules["dot", "x", "go"].seen
    assert "22 others × 22 (73%)" in distribution(seen, most=html.MAX_OUTCOMES)
    many = tt.State(schema, [tt.Object(i, "dot", x=0) for i in range(50)])
    assert "… and 390 more" in visible_text(model.predict(many, "go")._repr_html_())


def test_predictions_of_other_learners_look_the_same():
    world = tt.make("maze")
    state, model = world.reset(seed=0), learned("maze", 2000)
    ours = model.predict(state, "right")
    counts = {
        (x, name): {value: round(p * ours.support(x, name)) for value, p in chances.items()}
        for x, name, chances in each_change(ours)
    }
    product = Product(state, counts)
    assert html.changes_table(product).rows == html.changes_table(ours).rows
    assert product._repr_html_().count("<svg") == 2
    assert "Nothing is known about 40 of 42 attributes" in visible_text(product._repr_html_())
    certain = Certain(state, ours.mode(), observations=7)
    assert "player pos (1, 3) (2, 3) 100% 7" in visible_text(certain._repr_html_())
    assert visible_text(Certain(state, state, observations=7)._repr_html_()) == "Nothing changes."


def test_an_oracle_prediction_shows_no_observation_counts():
    """The oracle has no observations, but that does not mean that nothing is known."""
    world = tt.make("fish")
    state = world.reset(seed=0)
    oracle = Joint(state, world.distribution(state, "step"))
    text = visible_text(oracle._repr_html_())
    assert oracle._repr_html_().count("<svg") == 2
    assert "id class attribute now next chance " in text and "seen" not in text
    assert "Nothing is known" not in text
    assert visible_text(Joint(state, [(state, 1.0)])._repr_html_()) == "Nothing changes."


def test_a_prediction_counts_unknown_attributes():
    world = tt.make("walls", width=5, height=5)
    state, model = world.reset(seed=0), tt.TreeThink(world.schema)
    n = len(state)
    assert visible_text(model.predict(state, "left")._repr_html_()) == (
        f"Nothing changes. Nothing is known about {n} of {n} attributes; they stay the same."
    )
    model.observe(state, "left", state)
    assert visible_text(model.predict(state, "left")._repr_html_()) == "Nothing changes."


# ---------------------------------------------------- counterexamples


def test_a_counterexample_is_shown_as_boards() -> None:
    world, model = tt.make("maze"), learned("maze", 50)
    check = model.check(world, 300)
    assert check.example is not None
    page, picture = parse_xml(check._repr_html_()), parse_xml(check._repr_svg_())
    captions = ["now", "next", "next, as predicted"]
    assert [each.text for each in page.iter("figcaption")] == captions
    namespace = "{http://www.w3.org/2000/svg}"
    assert [each.text for each in picture.findall(f"{namespace}text")] == captions
    assert len(picture.findall(f"{namespace}svg")) == 3
    assert page.findtext("pre") == str(check)
    (_, now), (_, after), (_, predicted) = states_of(model, check.example)
    truth = world.distribution(now, check.example.action)
    assert now == check.example.state and [state for state, _ in truth] == [after]
    assert predicted == model.predict(now, check.example.action).mode() != after


def test_a_check_that_found_nothing_has_no_boards() -> None:
    check = learned("maze", 5000).check(tt.make("maze"), 100)
    assert check._repr_html_() == f"<pre>{check}</pre>"
    assert check._repr_svg_() is None


# ---------------------------------------------------- rules


def test_a_drawn_rule_matches_the_golden_file():
    rule = learned("maze", steps=3000).rules["game", "score", "right"]
    picture = rule._repr_svg_()
    check_golden("rule_maze.svg", picture + "\n")
    assert rule._repr_html_() == f'<div style="overflow-x:auto">{picture}</div>'


def test_a_rule_is_drawn_without_matplotlib(monkeypatch: pytest.MonkeyPatch):
    for name in ("matplotlib", *(e for e in sys.modules if e.startswith("matplotlib."))):
        monkeypatch.setitem(sys.modules, name, None)
    rule = learned("walls", 2000).rules["player", "pos", "left"]
    assert visible_text(rule._repr_svg_()).startswith(
        "yes no player.pos when left X0: player X1: wall"
    )


@some_streams
@given(streams())
def test_a_rule_as_a_list_has_the_same_content_as_its_text(stream: Stream):
    for rule in learned_from(stream).rules.values():
        if max(len(node.counts) for node in [rule.root]) <= html.MAX_OUTCOMES:
            listed = visible_text(f"<p>{''.join(html._nested(rule))}</p>")
            text = re.sub("[├└│─]", "", str(rule).partition("\n")[2])
            assert listed == " ".join(text.split())


def test_a_large_rule_is_a_foldable_list_of_any_depth():
    text = chain_rule(1500)._repr_html_()
    assert text.count("<details") == text.count("</details>") == 1500
    assert text.count('<details open="open"') == html.OPEN_DEPTH
    assert "<svg" not in text
    assert text.count("X0[x] = ") == 1500
    assert "dot.x when go" in text


def test_each_varying_rule_can_be_unfolded():
    model = learned("maze", 2000)
    for shown in (model.rules._repr_html_(), model._repr_html_()):
        folded = parse_xml(shown).findall("details") or parse_xml(shown).findall("div/details")
        titles = [each.findtext("summary/b") for each in folded]
        assert titles == [rule.title for rule in model.rules.varying().values()]
        assert not any("open" in each.attrib for each in folded)
        assert "<script" not in shown
    texts = [visible_text(to_text(each)) for each in folded]
    (text,) = (each for each in texts if each.startswith("player.pos when up"))
    assert "yes: stays × " in text and "no: +(0, -1) × " in text


def test_many_rules_are_cut():
    names = [f"a{i}" for i in range(html.MAX_RULES + 7)]
    schema = tt.Schema({"dot": names}, dict.fromkeys(names, 1), ["go"])
    model, dot = tt.TreeThink(schema), tt.Object(1, "dot", **dict.fromkeys(names, 0))
    before = tt.State(schema, [dot])
    for value in (1, 2):
        model.observe(before, "go", before.replace(1, **dict.fromkeys(names, value)))
    assert model.rules._repr_html_().count("<details") == html.MAX_RULES
    assert "and 7 more rules" in visible_text(model.rules._repr_html_())


def test_rules_are_shown_as_a_table_of_varying_rules():
    model = learned("maze", 2000)
    text = visible_text(model.rules._repr_html_())
    assert text.startswith("9 of 20 rules vary rule seen outcomes leaves depth least sure")
    assert all(rule.title in text for rule in model.rules.varying().values())
    assert visible_text(tt.TreeThink(model.schema).rules._repr_html_()) == "0 of 20 rules vary"


def test_a_model_shows_its_summary():
    model = learned("maze", 2000)
    assert str(model.summary()._repr_html_()) in str(model._repr_html_())
    assert visible_text(model._repr_html_()).startswith("2,000 observations, 9 of 20 rules vary")
    assert "Size: " in visible_text(model._repr_html_())


def test_a_standalone_tree_shows_its_rule():
    tree = tt.FOLDT(["dot"])
    assert "not seen yet" in visible_text(tree._repr_html_())
    schema = tt.Schema({"dot": ["x"]}, {"x": 1}, [])
    for i in range(60):
        state = tt.State(schema, [tt.Object(1, "dot", x=i % 3)])
        tree.observe(state, [1], ["<b>", None, ("far", 2)][i % 3])
    assert tree.rule.n_leaves == 3
    assert tree._repr_html_() == tree.rule._repr_html_()
    assert tree._repr_svg_() == tree.rule.to_svg()
    for outcome, _ in ranked(tree.rule.seen):
        assert str(outcome) in visible_text(tree._repr_html_())


def test_a_large_rule_is_not_drawn():
    assert (
        chain_rule(html.MAX_LEAVES_DRAWN - 1)._repr_svg_() is not None
    )  # a chain has one leaf more than tests
    assert chain_rule(html.MAX_LEAVES_DRAWN)._repr_svg_() is None


def test_the_error_names_a_path_that_cannot_be_written(tmp_path: Path):
    model = learned("walls", 2000)
    for path in (tmp_path / "nowhere" / "x.py", tmp_path):
        with pytest.raises(OSError, match=re.escape(repr(str(path)))):
            model.to_python(path)
    assert list(tmp_path.iterdir()) == []
