"""Rules edited by people: written by hand, pinned, unpinned, saved, and read back."""

from __future__ import annotations

import copy
import json
import pickle
import random
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treethink as tt
from exporting import answers_of, loaded, proven
from parts import listed, random_part
from reference import Scene
from small_prolog import Program
from strategies import Shape, random_state, schemas
from treethink.explain.summary.summary import rows_of
from treethink.export import prolog

RIGHT = ("player", "pos", "right")
SCORE = ("game", "score", "right")
MAZE = tt.make("maze", width=6, height=6)
BY_HAND = """
    exists X1: wall.  X1[pos] - X0[pos] = (1, 0) ?
      yes: (0, 0)
      no:  (1, 0)
"""


def learned(steps: int = 1500, seed: int = 0, memory: int | None = None) -> tt.TreeThink:
    """Return a copy of a model that is trained once; tests may change it."""
    return copy.copy(_learned(steps, seed, memory))


@cache
def _learned(steps: int, seed: int, memory: int | None) -> tt.TreeThink:
    model = tt.TreeThink(MAZE.schema, **({} if memory is None else {"memory": memory}))
    model.observe_many(tt.transitions(MAZE, steps=steps, seed=seed))
    return model


def count_wrong(model: tt.TreeThink, seed: int = 99) -> int:
    """Count the transitions after which the likeliest state is not the real one."""
    return sum(
        model.predict(before, action).mode() != after
        for before, action, after in tt.transitions(MAZE, steps=400, seed=seed)
    )


# ---- writing ----


def test_a_world_can_be_written_by_hand_before_anything_is_seen() -> None:
    model = tt.TreeThink(MAZE.schema)
    for action, (x, y) in {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}.items():
        text = BY_HAND.replace("= (1, 0)", f"= ({x}, {y})").replace(
            "no:  (1, 0)", f"no: ({x}, {y})"
        )
        model.replace(("player", "pos", action), text)
        model.replace(
            ("game", "score", action),
            f"exists X1: player, X2: wall. X2[pos] - X1[pos] = ({x}, {y})?\nyes: -2\n"
            f"no: exists X1: goal, X2: player. X2[pos] - X1[pos] = ({-x}, {-y})?\nyes: 1\nno: -1",
        )
    state = MAZE.reset(seed=3)
    for action in ("left", "right", "up", "down"):
        after = MAZE.step(state, action, None)
        prediction = model.predict(state, action)
        player = state.of_class("player")[0].id
        assert prediction.mode()[player] == after[player]
        assert prediction.support(player, "pos") == 1
    assert model.observations == 0


def test_a_pinned_rule_stays_and_all_others_learn() -> None:
    model = learned(0)
    model.replace(RIGHT, {(5, 5): 1})
    model.observe_many(tt.transitions(MAZE, steps=1500, seed=0))
    rule = model.rules[RIGHT]
    assert rule.pinned and dict(rule.root.counts) == {(5, 5): 1}
    free = learned()
    for key, other in free.rules.items():
        if key != RIGHT:
            assert str(model.rules[key]) == str(other)
    assert sum(rule.root.met.values()) == model.rules["player", "pos", "right"].transitions
    assert set(rule.root.met) == {(0, 0), (1, 0)}


def test_leaves_below_hand_written_tests_can_learn() -> None:
    """The test is written by hand; the model learns the outcomes, and further tests."""
    model = tt.TreeThink(MAZE.schema)
    model.replace(
        SCORE, "exists X1: player, X2: wall. X2[pos] - X1[pos] = (1, 0)?\n0\n0", pin=False
    )
    model.observe_many(tt.transitions(MAZE, steps=1500, seed=0))
    rule = model.rules[SCORE]
    assert str(rule.root.test) == "∃ X1: wall, X2: player.  X2[pos] - X1[pos] = (-1, 0)"
    assert dict(rule.root.left.counts) == {-2: sum(rule.root.left.counts.values())}
    assert not rule.root.right.is_leaf  # the goal
    assert count_wrong(model) == 0


def test_an_unpinned_wrong_leaf_is_right_after_one_observation() -> None:
    model = tt.TreeThink(MAZE.schema, memory=0)
    model.replace(("game", "score", "up"), {7: 1_000_000}, pin=False)
    transitions = [t for t in tt.transitions(MAZE, steps=40, seed=0) if t[1] == "up"]
    state = transitions[0][0]
    game = state.of_class("game")[0].id
    assert model.predict(state, "up").outcomes(game, "score") == {7 + state[game].score: 1.0}
    model.observe(*transitions[0])
    assert model.predict(state, "up").mode()[game].score == transitions[0][2][game].score


@pytest.mark.parametrize(("path", "same"), [("Y", "L"), ("NY", "RL"), ("N", "R")])
def test_a_path_of_yes_and_no_is_one_of_left_and_right(path: str, same: str) -> None:
    models = [learned(), learned()]
    score = "game.score.right"
    for model, each in zip(models, (path, same), strict=True):
        model.replace(score, "-7", path=each)
        model.unpin(score, each)
        model.pin(score, each)
    assert models[0].to_bytes() == models[1].to_bytes() != learned().to_bytes()


def test_replacing_a_subtree_keeps_the_tests_above_it() -> None:
    model = learned()
    rule = model.rules[RIGHT]
    model.replace(RIGHT, "(9, 9) × 3, (0, 0) × 1", path="L")
    changed = model.rules[RIGHT]
    assert changed.root.test == rule.root.test
    assert dict(changed.root.left.counts) == {(9, 9): 3, (0, 0): 1}
    assert dict(changed.root.right.counts) == dict(rule.root.right.counts)
    model.observe_many(tt.transitions(MAZE, steps=1500, seed=7))
    assert model.rules[RIGHT].root.test == rule.root.test
    assert dict(model.rules[RIGHT].root.left.counts) == {(9, 9): 3, (0, 0): 1}
    assert sum(model.rules[RIGHT].root.right.counts.values()) > sum(rule.root.right.counts.values())


def test_a_node_of_one_model_can_replace_a_rule_of_another() -> None:
    model, other = learned(), learned(0)
    other.replace(RIGHT, model.rules[RIGHT].root)
    assert str(other.rules[RIGHT]).replace("  [pinned]", "") == str(model.rules[RIGHT])
    with pytest.raises(tt.RuleError, match=r"has the variables X0: player, X1: wall; at the path"):
        other.replace(RIGHT, model.rules[RIGHT].root.left)


# ---- pinning ----


def test_observations_do_not_change_a_pinned_rule() -> None:
    model = learned(300)
    model.pin(RIGHT)
    text = str(model.rules[RIGHT])
    assert "[pinned]" in text
    model.observe_many(tt.transitions(MAZE, steps=1000, seed=4))
    assert str(model.rules[RIGHT]) == text
    model.unpin(RIGHT)
    model.observe_many(tt.transitions(MAZE, steps=1000, seed=5))
    assert not model.rules[RIGHT].pinned
    assert count_wrong(model) == 0


def test_a_constant_rule_can_be_pinned_and_unpinned() -> None:
    model = learned(200)
    key = ("wall", "pos", "up")
    content = model.to_bytes()
    assert not model.rules[key].varies
    model.pin(key)
    assert model.rules[key].pinned
    assert tt.TreeThink.from_bytes(model.to_bytes()).rules[key].pinned
    model.unpin(key)
    assert model.to_bytes() == content


def total_count(rule: tt.Rule) -> int:
    """Return the sum of the counts of all leaves."""
    return sum(sum(node.counts.values()) for node in rule.root.walk() if node.is_leaf)


@pytest.mark.parametrize("memory", [0, 30, 5_000])
def test_observations_while_a_rule_is_pinned_count_after_unpinning(memory: int) -> None:
    """They are added to the counts of a learned leaf, and replace those written by hand."""
    stay = ("game", "score", "stay")
    model = tt.TreeThink(MAZE.schema, memory=memory)
    model.observe_many(tt.transitions(MAZE, steps=100, seed=0))
    model.pin(stay)
    known, seen = total_count(model.rules[stay]), model.rules[stay].transitions
    model.observe_many(tt.transitions(MAZE, steps=200, seed=1))
    model.unpin(stay)
    new = model.rules[stay].transitions - seen
    assert new > 0 and total_count(model.rules[stay]) == known + new
    model.replace(stay, {50: 1})
    model.observe_many(tt.transitions(MAZE, steps=200, seed=2))
    model.unpin(stay)
    assert 50 not in model.rules[stay].root.counts
    assert tt.TreeThink.from_bytes(model.to_bytes()).to_bytes() == model.to_bytes()


def test_a_pinned_empty_leaf_keeps_its_borrowed_answer() -> None:
    model = learned(memory=0)
    state = MAZE.reset(seed=0)
    player = state.of_class("player")[0].id
    model.replace(RIGHT, "X0[pos] = (77, 77)?\nnot seen yet\n(1, 0) × 3", pin=False)
    far = state.replace(player, pos=(77, 77))
    borrowed = model.predict(far, "right").outcomes(player, "pos")
    model.pin(RIGHT, "L")
    model.observe_many(tt.transitions(MAZE, steps=300, seed=4))
    assert model.predict(far, "right").outcomes(player, "pos") == borrowed


def test_a_rule_that_was_never_seen_cannot_be_pinned() -> None:
    with pytest.raises(tt.RuleError, match=r"player.pos when right has never been seen.*write it"):
        tt.TreeThink(MAZE.schema).pin(RIGHT)


# ---- files, copies, plans ----


def test_a_hand_written_leaf_with_one_observation_is_saved() -> None:
    model = tt.TreeThink(MAZE.schema)
    for key in (RIGHT, ("wall", "pos", "right")):
        model.replace(key, {(0, 0): 1}, pin=False)
    transitions = [t for t in tt.transitions(MAZE, steps=40, seed=0) if t[1] == "right"]
    model.observe(*transitions[0])
    same = tt.TreeThink.from_bytes(model.to_bytes())
    for each in (model, same):
        each.observe_many(transitions[1:])
    assert same.to_bytes() == model.to_bytes()


@pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))]
)
def test_edits_survive_copies_and_pickling(duplicate: Any) -> None:
    model = learned()
    model.replace(RIGHT, {(9, 9): 1}, path="L")
    model.pin(SCORE)
    model.replace(("wall", "pos", "up"), BY_HAND, pin=False)
    same = duplicate(model)
    assert same.to_bytes() == model.to_bytes()
    for each in (model, same):
        each.observe_many(tt.transitions(MAZE, steps=500, seed=3))
    assert same.to_bytes() == model.to_bytes()
    assert [str(rule) for rule in same.rules.values()] == [str(r) for r in model.rules.values()]


def test_an_agent_plans_anew_after_an_edit() -> None:
    model = learned(3000)
    state = MAZE.reset(seed=1)
    agent = tt.Agent(model, simulations=60, seed=0)
    agent.act(state)
    for action in MAZE.schema.actions:
        model.replace(("game", "score", action), {100 if action == "up" else 0: 1})
    assert agent.act(state) == tt.Agent(model, simulations=60, seed=0).act(state) == "up"


# ---- exports, explanations, pictures and summaries of edited rules ----


def edited_model() -> tt.TreeThink:
    model = learned()
    model.replace(RIGHT, {(9, 9): 2, (0, 1): 1}, path="L")
    model.replace(("wall", "pos", "right"), BY_HAND)
    model.replace(("goal", "pos", "up"), {(2, 2): 1})
    model.pin(SCORE)
    model.observe_many(tt.transitions(MAZE, steps=200, seed=3))
    return model


def check_exports(
    model: tt.TreeThink, queries: Iterable[tuple[tt.State, str]], folder: Path
) -> None:
    """Check that both exports give the answers of the engine."""
    model.to_python(folder / "rules.py")
    model.to_prolog(folder / "rules.pl")
    predict = loaded((folder / "rules.py").read_text("utf-8"))["predict"]
    program = Program((folder / "rules.pl").read_text("utf-8"))
    for number, (state, action) in enumerate(queries):
        expected = answers_of(model, state, action)
        assert predict(state.to_dict(), action) == expected
        if number < 8:  # the small Prolog is slow
            assert proven(program, state, action) == expected


def test_exported_rules_predict_what_the_model_does(tmp_path: Path) -> None:
    queries = [(before, action) for before, action, _ in tt.transitions(MAZE, steps=60, seed=5)]
    check_exports(edited_model(), queries, tmp_path)


@pytest.mark.parametrize("pin", [True, False])
@pytest.mark.parametrize("outcomes", ["change", "value"])
def test_hand_written_rules_are_exported_without_observations(
    outcomes: Any, pin: bool, tmp_path: Path
) -> None:
    schema = tt.Schema(
        {"lamp": ["on"], "door": ["on"]}, {"on": tt.Attribute(1, outcomes=outcomes)}, ["press"]
    )
    model = tt.TreeThink(schema)
    model.replace(("lamp", "on", "press"), "X0[on] = 0?\n5 x 3, 6 x 1\nnot seen yet", pin=pin)
    model.replace(("door", "on", "press"), "7", pin=pin)
    states = [
        tt.State(schema, [tt.Object(1, "lamp", on=on), tt.Object(2, "door", on=3)]) for on in (0, 4)
    ]
    assert not model.observations
    assert model.predict(states[0], "press").changes()
    check_exports(model, [(state, "press") for state in states], tmp_path)


LAMPS = tt.Schema({"lamp": ["on"], "door": ["on"]}, {"on": 1}, ["press"])
PRESS = ("lamp", "on", "press")


def lamp(on: int) -> tt.State:
    return tt.State(LAMPS, [tt.Object(1, "lamp", on=on)])


def model_after_presses(part: Any, *then: int, pin: bool = True) -> tt.TreeThink:
    """Return a model with a hand-written rule that then observed these outcomes of a press."""
    model = tt.TreeThink(LAMPS)
    model.replace(PRESS, part, pin=pin)
    for on in then:
        model.observe(lamp(0), "press", lamp(on))
    return model


def test_hand_written_counts_are_not_reported_as_observations() -> None:
    model = model_after_presses("1 x 3, 2 x 1", *[0] * 10)
    explanation = str(model.explain(lamp(0), "press"))
    assert explanation.splitlines() == [
        "press: 1 value may change",
        "lamp 1, on: 0 -> 1 (75%) or 2 (25%), written by hand",
        "└── pinned; 10 of 10 since were otherwise",
    ]
    rule = model.rules[PRESS]
    english = "the lamp's `on` rises by 1 in 75% of cases and rises by 2 in 25% (written by hand)."
    assert rule.to_text("english") == f"When `press` is chosen, {english}"
    assert "# written by hand" in rule.to_text("code")
    assert "seen" not in rule.to_text("code").partition("\n\n\n")[0]
    summary = " ".join(str(model.summary()).split())
    assert "lamp.on when press +1 by hand 75%" in summary
    assert model.summary().rules[PRESS].leaves[0].to_dict()["written"] is True
    rows = {row["rule"]: row["written"] for row in rows_of(model.summary())}
    assert rows == {"lamp.on when press": True, "door.on when press": False}
    assert "[[1]-3, [2]-1]).  % written by hand" in prolog.text_of(model)
    data = model.explain(lamp(0), "press")[1, "on"].to_dict()
    assert (data["seen"], data["written"], data["pinned"]) == (False, True, True)
    assert (data["met"], data["against"]) == (10, 10)


@pytest.mark.parametrize(
    ("then", "ending"),
    [
        ([], "pinned; nothing observed since"),
        ([1, 1], "pinned; none of 2 since was otherwise"),
        ([1, 3], "pinned; 1 of 2 since was otherwise"),
    ],
)
def test_an_explanation_counts_contradictions_since_pinning(then: list[int], ending: str) -> None:
    assert str(model_after_presses("1", *then).explain(lamp(0), "press")).endswith(ending)


def test_a_learned_rule_that_is_pinned_counts_as_observed() -> None:
    for outcomes in ([0, 1] * 5, [1] * 10):
        model = tt.TreeThink(LAMPS)
        for on in outcomes:
            model.observe(lamp(0), "press", lamp(on))
        model.pin(PRESS)
        for _ in range(3):
            model.observe(lamp(0), "press", lamp(2))
        explanation = str(model.explain(lamp(0), "press"))
        assert "seen 10 times" in explanation
        assert "pinned; 3 of 3 since were otherwise" in explanation
        assert not model.rules[PRESS].root.written
        assert "# seen 10 times" in model.rules[PRESS].to_text("code")


def test_an_unpinned_hand_written_leaf_says_so_until_its_first_observation() -> None:
    tests = "X0[on] = 0?\n1\n2"
    before, after = (model_after_presses(tests, *then, pin=False) for then in ([], [0]))
    assert "0 -> 1, written by hand" in str(before.explain(lamp(0), "press"))
    assert "used until there are observations" in str(before.explain(lamp(0), "press"))
    now = " ".join(str(after.explain(lamp(0), "press", of=1)).split())
    assert "stays 0, seen once" in now
    assert "on would change by 2, written by hand" in now
    (otherwise,) = (each.otherwise for each in after.explain(lamp(0), "press", of=1))
    assert otherwise is not None and otherwise.written


def test_an_empty_leaf_borrows_the_answer_written_above() -> None:
    explanation = str(
        model_after_presses("X0[on] = 0?\nnot seen yet\n2", pin=False).explain(lamp(0), "press")
    )
    assert "0 -> 2, written by hand" in explanation
    assert "never observed here: the answer is that of the nearest node above" in explanation


def test_a_hand_written_rule_is_not_reported_as_never_observed() -> None:
    state = tt.State(LAMPS, [tt.Object(1, "lamp", on=0), tt.Object(2, "door", on=0)])
    explanation = str(model_after_presses("1").explain(state, "press"))
    assert "1 value was never observed: assumed that it stays the same" in explanation
    assert "never observed" not in str(model_after_presses("1").explain(lamp(0), "press"))


def test_edited_rules_can_be_explained_drawn_and_summarized(tmp_path: Any) -> None:
    model = edited_model()
    state = MAZE.reset(seed=2)
    assert "(9, 9)" in model.rules[RIGHT].to_text("code")
    for rule in model.rules.varying().values():
        for style in ("formula", "english", "code"):
            assert rule.to_text(style)
        assert rule.to_svg().startswith("<svg")
        assert rule.to_dot() and rule.to_mermaid()
    rule_with_pin = model.rules[RIGHT]
    for text, thick in (
        (rule_with_pin.to_svg(), 'stroke-width="2.4"'),
        (rule_with_pin.to_dot(), "penwidth=2.4"),
        (rule_with_pin.to_mermaid(), "stroke-width:3px"),
    ):
        assert text.count(thick) == 1  # one leaf is pinned
    rule_with_pin.draw(tmp_path / "rule.png")
    assert str(model.explain(state, "right"))
    assert json.dumps(model.explain(state, "right").to_dict())
    assert "<" in model._repr_html_()
    assert model.diff(learned(), n=50).rules


def test_a_summary_lists_pinned_rules_and_what_contradicts_them() -> None:
    model = edited_model()
    text = " ".join(str(model.summary()).split())
    assert "Pinned (does not learn):" in text
    assert "player.pos when right (1 of 2 leaves)" in text
    assert "Observed although a pinned leaf says that it is impossible:" in text
    (leaf,) = (leaf for leaf in model.summary().rules[RIGHT].leaves if leaf.pinned)
    assert leaf.against == {(0, 0): sum(leaf.met.values())}
    assert leaf.to_dict()["pinned"] is True
    assert "Pinned" not in str(learned().summary())


# ---- reading printed rules ----


@settings(deadline=None, max_examples=80)
@given(schemas(units=True), st.integers(0, 2**32))
def test_printed_rules_can_be_read_back(schema: tt.Schema, seed: int) -> None:
    rng = random.Random(seed)
    states = [
        random_state(rng, schema, Shape(seed=seed, values="small"), step) for step in range(3)
    ]
    class_name = next(iter(schema.classes))
    rule = (class_name, schema.classes[class_name][0], "go")
    length = schema.attributes[rule[1]].length
    outcomes = [(0,) * length, (-1,) * length, (12,) * length]
    part = random_part(rng, (class_name,), map(Scene, states), outcomes, 3)
    model, other = tt.TreeThink(schema), tt.TreeThink(schema)
    model._replace(*rule, "", listed(part))
    text = str(model.rules[rule])
    other.replace(rule, text)
    assert str(other.rules[rule]) == text
    assert other.to_bytes() == model.to_bytes()


@pytest.mark.parametrize("name", ["maze", "keys", "doors", "fish"])
def test_learned_rules_can_be_read_back(name: str) -> None:
    world = tt.make(name)
    model = tt.TreeThink(world.schema)
    model.observe_many(tt.transitions(world, steps=1500, seed=0))
    for key, rule in model.rules.varying().items():
        other = tt.TreeThink(world.schema)
        if other.rules[key].frame != rule.frame:  # a text says nothing about the frame
            other = copy.copy(model)
        other.replace(key, str(rule))
        assert str(other.rules[key]).replace("  [pinned]", "") == str(rule)


EQUIVALENT = {
    "other names": (
        "exists X7: wall. X7[pos] - X0[pos] = (1, 0)?\nX7[pos] = (2, 2)?\n(0, 0)\n(1, 1)\n(1, 0)"
    ),
    "the other way round": (
        "∃X1:wall.X0[pos]-X1[pos]=(-1,0)?\nyes:X1[pos]=( 2,2 )?\nyes:(0,0)x1\n"
        "no:(1,1) × 1\nno:(1,0)"
    ),
    "with a title": (
        "player.pos when right    X0: player\n| exists X1: wall. X1[pos] - X0[pos] = (+1, 0)?\n"
        "| X1[pos] = (2, 2) ?  [pinned]\n  (0, 0) * 1 (100%)\n# so\n\n  (1, 1)\n  (1, 0)"
    ),
    "in ASCII": (
        "exists X1: wall.  X1[pos] - X0[pos] = (1, 0) ?\n|- yes: X1[pos] = (2, 2) ?\n"
        "|  |- yes: (0, 0) x 1\n|  `- no:  (1, 1) x 1\n`- no:  (1, 0) x 1"
    ),
    "with the signs of changes": (
        "exists X1: wall.  X1[pos] - X0[pos] = (1, 0) ?\nyes: X1[pos] = (2, 2) ?\n"
        "yes: stays x 1\nno: + (1, 1)\nno: +(1, 0) x 1 (100%)"
    ),
}


@pytest.mark.parametrize("form", EQUIVALENT)
def test_equivalent_texts_give_the_same_rule(form: str) -> None:
    model = tt.TreeThink(MAZE.schema)
    model.replace(RIGHT, EQUIVALENT[form])
    assert str(model.rules[RIGHT]) == (
        "player.pos when right    X0: player\n"
        "∃ X1: wall.  X1[pos] - X0[pos] = (1, 0) ?  [pinned]\n"
        "├─ yes: X1[pos] = (2, 2) ?\n"
        "│  ├─ yes: stays × 1\n"
        "│  └─ no:  +(1, 1) × 1\n"
        "└─ no:  +(1, 0) × 1"
    )


def test_two_new_objects_of_a_class_may_be_named_in_either_order() -> None:
    one, other = tt.TreeThink(MAZE.schema), tt.TreeThink(MAZE.schema)
    text = "exists X1: wall, X2: wall. X{} - X{} = {}?\nX{}[pos] = (3, 3)?\n(0, 0)\n(1, 0)\n(0, 1)"
    text = text.replace("X{} - X{}", "X{}[pos] - X{}[pos]")
    one.replace(RIGHT, text.format(2, 1, "(1, 0)", 1))
    other.replace(RIGHT, text.format(1, 2, "(1, 0)", 2))
    assert str(one.rules[RIGHT]) == str(other.rules[RIGHT])


def test_counts_of_all_sizes_can_be_read_back() -> None:
    for counts in ({(0, 0): 20_000, (0, 1): 1}, {(0, 0): 10**7, (0, 1): 1}, {(0, 0): 1, (1, 0): 2}):
        model = tt.TreeThink(MAZE.schema)
        model.replace(RIGHT, counts)
        text = str(model.rules[RIGHT])
        model.replace(RIGHT, text)
        assert str(model.rules[RIGHT]) == text


@pytest.mark.parametrize(
    "name", ["a. b", "X0: c,", " edge ", "tab\tnew\nline", "?", "#", "∃ [x] = 1"]
)
def test_unusual_names_can_be_read_back(name: str) -> None:
    schema = tt.Schema({name: ["x"], "b": ["x"]}, {"x": 1}, ["go"])
    objects = [tt.Object(1, name, x=0), tt.Object(2, "b", x=1)]
    model, key = tt.TreeThink(schema), ("b", "x", "go")
    model._replace(*key, "", [(("difference", ("x", "x"), (name, "b"), (1, 0), (1,)), []), *LEAVES])
    text = str(model.rules[key])
    model.replace(key, text)
    assert str(model.rules[key]) == text
    assert model.predict(tt.State(schema, objects), "go").outcomes(2, "x") == {2: 1.0}


LEAVES = [(None, [((1,), 1)]), (None, [((0,), 1)])]


def test_comments_and_titles_may_precede_a_rule() -> None:
    model = tt.TreeThink(MAZE.schema)
    model.replace(
        RIGHT, "  # by me\n\n player.pos when down    X0: player\r\n\t# so\r\n\t(4, 4)\r\n"
    )
    assert dict(model.rules[RIGHT].root.counts) == {(4, 4): 1}


VALUES = tt.Schema({"lamp": ["on"]}, {"on": tt.Attribute(1, outcomes="value")}, ["press"])


@pytest.mark.parametrize("text", ["= 0 × 3, = 7 × 1", "0 x 3, 7", "=0x3,=7", "= -0 × 3, 7 × 1"])
def test_new_values_can_be_written_with_and_without_their_sign(text: str) -> None:
    model = tt.TreeThink(VALUES)
    model.replace(PRESS, text)
    assert str(model.rules[PRESS]).endswith("\n= 0 × 3 (75%), = 7 × 1 (25%)  [pinned]")


def test_a_value_can_stay_where_new_values_are_predicted() -> None:
    model = tt.TreeThink(VALUES)
    model.replace(PRESS, "= 1 × 3, stays")
    assert str(model.rules[PRESS]).endswith("\n= 1 × 3 (75%), stays × 1 (25%)  [pinned]")


@pytest.mark.parametrize("text", ["+1", "= 1 × 3, +1"])
def test_a_change_is_refused_where_new_values_are_predicted(text: str) -> None:
    model = tt.TreeThink(VALUES)
    with pytest.raises(tt.RuleError, match=r"is a change, but this rule predicts new values.*'= 1"):
        model.replace(PRESS, text)
    assert not model.rules[PRESS].answers


# ---- refusals ----

WALL = "exists X1: wall. X1[pos] - X0[pos] = (1, 0)"
REFUSED: dict[str, tuple[Any, str]] = {
    "nothing": ("", "no test and no leaf"),
    "no test and no leaf": ("hello", r"line 1 of the rule must be a test.*got 'hello'"),
    "no answer for no": (f"{WALL}?\n(0, 0)", "ends before its last test has a 'no:'"),
    "too many": ("(0, 0)\n(1, 0)", "line 2 of the rule is one too many"),
    "no before yes": (
        f"{WALL}?\nno: (0, 0)\nyes: (1, 0)",
        "line 2 of the rule must have 'yes:', got 'no:'",
    ),
    "another class": (
        f"{WALL.replace('wall', 'well')}?\n(0,0)\n(1,0)",
        "unknown class 'well' in line 1.*Did you mean 'wall'",
    ),
    "another attribute": ("X0[position] = 1?\n(0,0)\n(1,0)", "unknown attribute 'position'"),
    "not its attribute": ("X0[score] = 1?\n(0,0)\n(1,0)", "unknown attribute 'score'.*of X0"),
    "no such facts": (
        "exists X1: game. X1[score] = 1?\n(0,0)\n(1,0)",
        "the equality of 'score', which the schema keeps out of tests",
    ),
    "a variable that is not there": ("X3[pos] = (1, 1)?\n(0,0)\n(1,0)", "unknown variable 'X3'"),
    "not there any more": (
        f"{WALL}?\n(0,0)\nX1[pos] = (1, 1)?\n(0,0)\n(1,0)",
        "line 3.*unknown variable 'X1'|unknown variable 'X1' in line 3",
    ),
    "twice the same": ("X0[pos] - X0[pos] = (0, 0)?\n(0,0)\n(1,0)", "asks about X0 twice"),
    "introduced twice": (f"{WALL}?\n{WALL}?\n(0,0)\n(0,0)\n(1,0)", "introduces X1, which is there"),
    "introduced for nothing": (
        "exists X1: wall. X0[pos] = (1, 0)?\n(0,0)\n(1,0)",
        "introduces X1, and asks nothing",
    ),
    "too short a value": ("X0[pos] = 1?\n(0,0)\n(1,0)", "value of length 2, got"),
    "too short an outcome": ({1: 1}, "the leaf: an outcome must be of length 2"),
    "an outcome twice": ("(0, 0), (0, 0)", "has the outcome .* twice"),
    "a new value where changes are predicted": (
        "= (3, 4)",
        r"line 1.*'= \(3, 4\)' is a new value, but this rule predicts changes, such as '\+\(0, 1\)",
    ),
    "no change, twice": ("stays, (0, 0)", "has the outcome .* twice"),
    "stays with letters": ("stayed", "must be a test"),
    "two signs": ("+-(1, 0)", "must be a test"),
    "never": ({(0, 0): 0}, "how often an outcome was seen must be at least 1"),
    "half": ({(0, 0): 0.5}, "how often an outcome was seen must be a whole number"),
    "too often": ({(0, 0): 2**53 + 1}, "must be seen 1 to 9,007,199,254,740,992 times"),
    "too large": ({(2**63, 0): 1}, "must fit 64 bits"),
    "a large test": (f"X0[pos] = ({2**63}, 0)?\n(0,0)\n(1,0)", "does not fit 64 bits"),
    "a difference without a way back": (
        f"{WALL.replace('(1', f'({-(2**63)}')}?\n(0,0)\n(1,0)",
        "does not fit 64 bits",
    ),
    "no outcome at all": ({}, "names no outcome at all"),
    "not seen, all of it": ("not seen yet", "names no outcome at all"),
    "half of one": ("(1.5)", "must be a test"),
    "letters": ("(a1, b2)", "must be a test"),
    "no number": ("(1--2)", "must be a test"),
    "many digits": (f"(0, 0) x {'9' * 5000}", "must be a test"),
    "more digits than fit": (f"(0, {'9' * 50})", "line 1 of the rule: an outcome must fit 64 bits"),
    "too short an outcome, in a text": (
        "X0[pos] = (1, 1)?\n(0, 0)\n3",
        "line 3 of the rule: an outcome must be of length 2",
    ),
    "a word for an outcome": ({"up": 1}, "a whole number or a tuple of them, got 'up'"),
    "a number": (3, "a part of a rule must be its text"),
    "none": (None, "a part of a rule must be its text"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_an_invalid_rule_is_refused_and_changes_nothing(case: str) -> None:
    part, message = REFUSED[case]
    model = learned(200)
    content = model.to_bytes()
    with pytest.raises(tt.TreeThinkError, match=message):
        model.replace(RIGHT, part)
    assert model.to_bytes() == content


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("X", "made of Y .yes. and N .no."),
        ("y", "made of Y .yes. and N .no."),
        ("YY", "has a leaf at 'Y': 'YY' leads nowhere"),
        ("LL", "has a leaf at 'L': 'LL' leads nowhere"),
        (3, "a path must be a str"),
        (None, "a path must be a str"),
    ],
)
def test_invalid_paths_are_refused(path: Any, message: str) -> None:
    model = learned(800)
    for change in (lambda: model.replace(RIGHT, {(0, 0): 1}, path), lambda: model.pin(RIGHT, path)):
        with pytest.raises(tt.TreeThinkError, match=message):
            change()
    with pytest.raises(tt.TreeThinkError, match=message):
        model.unpin(RIGHT, path)


def test_unknown_rules_are_refused() -> None:
    model = learned(10)
    with pytest.raises(tt.UnknownNameError, match="Did you mean 'right'"):
        model.pin(("player", "pos", "rigth"))
    with pytest.raises(tt.UnknownNameError, match=r"unknown rule 'player'.*'player\.pos\."):
        model.replace("player", {(0, 0): 1})
    with pytest.raises(tt.WrongTypeError, match=r"found by \(class, attribute, action\)"):
        model.replace(("player",), {(0, 0): 1})  # type: ignore[arg-type]
    model.pin("player.pos.right")
    assert model.rules[RIGHT].pinned
    model.unpin("player.pos.right")
    assert not model.rules[RIGHT].pinned
    with pytest.raises(tt.WrongTypeError, match="pin must be True or False"):
        model.replace(RIGHT, {(0, 0): 1}, pin=1)  # type: ignore[arg-type]


def test_an_outcome_may_not_be_given_twice_in_two_forms() -> None:
    with pytest.raises(tt.RuleError, match=r"has the outcome .* twice"):
        learned(0).replace(SCORE, {1: 1, (1,): 2})


def test_numbers_of_numpy_are_accepted() -> None:
    model = tt.TreeThink(MAZE.schema)
    model.replace(RIGHT, {tuple(np.array([1, 0])): np.int64(3)})  # type: ignore[dict-item]
    assert dict(model.rules[RIGHT].root.counts) == {(1, 0): 3}


def test_a_rule_that_would_need_too_much_memory_is_refused() -> None:
    leaves = [f"({i}, 0)" for i in range(3000)]
    tests = [f"X0[pos] = ({i}, 0)?\n{leaf}" for i, leaf in enumerate(leaves[:990])]
    model = tt.TreeThink(MAZE.schema)
    with pytest.raises(tt.RuleError, match="1981 nodes and 3000 outcomes is too large"):
        model.replace(RIGHT, "\n".join([*tests, ", ".join(leaves)]))
    assert not model.rules[RIGHT].varies


def test_summed_counts_are_capped_at_what_a_file_can_hold() -> None:
    model = tt.TreeThink(MAZE.schema)
    text = "".join(f"X0[pos] = ({i}, 0)?\n(1, 0) x {2**53}\n" for i in range(900))
    model.replace(RIGHT, text + "(1, 0)")
    smaller = model.simplify()
    assert dict(smaller.rules[RIGHT].root.counts) == {(1, 0): 2**62}
    assert tt.TreeThink.from_bytes(smaller.to_bytes()).to_bytes() == smaller.to_bytes()


def test_simplify_is_quick_on_deep_rules_with_many_variables() -> None:
    """The rule has two hundred nested tests; comparing all pairs of them would take seconds."""
    failing_tests = "".join(
        f"exists X1: wall, X2: wall. X1[pos] - X2[pos] = ({i}, 9)?\n({i}, 0)\n" for i in range(80)
    )
    passing_tests = "".join(
        f"exists X{i}: wall. X{i}[pos] - X{i - 1}[pos] = (1, 0)?\n" for i in range(1, 120)
    )
    leaves = "".join(f"({i}, 1)\n" for i in range(120))
    model = tt.TreeThink(MAZE.schema)
    model.replace(RIGHT, failing_tests + passing_tests + leaves)
    assert model.simplify().rules[RIGHT].n_leaves == 200


def deep_text(depth: int) -> str:
    """Return a rule that repeats one test to this depth."""
    return "X0[pos] = (1, 1)?\n" * depth + "(0, 0)\n" * (depth + 1)


def test_rules_can_be_as_deep_as_learned_ones_and_no_deeper() -> None:
    model = tt.TreeThink(MAZE.schema)
    model.replace(RIGHT, deep_text(1000))
    assert model.rules[RIGHT].depth == 1000
    smaller = model.simplify()
    assert smaller.rules[RIGHT].depth == 0
    with pytest.raises(tt.RuleError, match="1000 tests deep at most"):
        model.replace(RIGHT, deep_text(1001))


def test_rules_can_have_at_most_128_variables() -> None:
    def text(n: int) -> str:
        lines = [f"exists X{i}: wall. X{i}[pos] = (1, 1)?\n" for i in range(1, n)]
        return "".join(lines) + "(0, 0)\n" * n

    model = tt.TreeThink(MAZE.schema)
    model.replace(RIGHT, text(128))
    with pytest.raises(tt.RuleError, match="128 objects at most"):
        model.replace(RIGHT, text(130))
