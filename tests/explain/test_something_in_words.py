"""Something of whatever class, in English, code, Prolog, explanations and edits: all alike."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

import treethink as tt
from exporting import loaded, proven
from golden import check_golden
from small_prolog import Program
from treethink.editing.implication import Knowledge
from treethink.explain.path import follow
from treethink.export import prolog
from treethink.export.python import module_text
from treethink.rules import Test

KINDS = ["equality", "difference", "something"]
OBSTACLES = ["wall", "rock", "tree", "bush"]
SCHEMA = tt.Schema(
    {**{name: ["pos"] for name in OBSTACLES}, "agent": ["pos", "heading"], "meter": ["level"]},
    {"pos": tt.Position(facts=KINDS), "heading": tt.Attribute(2), "level": tt.Number()},
    ["forward", "turn", "up"],
)
HEADINGS = [(1, 0), (0, 1), (-1, 0), (0, -1)]
Transition = tuple[tt.State, str, tt.State]


def level(rng: random.Random) -> tt.State:
    cells = rng.sample([(x, y) for x in range(5) for y in range(5)], 13)
    things = [tt.Object(i, rng.choice(OBSTACLES), pos=cell) for i, cell in enumerate(cells[1:])]
    agent = tt.Object(50, "agent", pos=cells[0], heading=rng.choice(HEADINGS))
    return tt.State(SCHEMA, [*things, agent, tt.Object(60, "meter", level=0)])


def strolls(seed: int) -> Iterator[Transition]:
    """An agent goes up, or in the direction of its heading, unless anything but a bush is there."""
    rng = random.Random(seed)
    while True:
        state = level(rng)
        action = rng.choice(SCHEMA.actions)
        (x, y), (dx, dy) = state.value(50, "pos"), state.value(50, "heading")
        ahead = (x, y - 1) if action == "up" else (x + dx, y + dy)
        blocks = any(
            each.pos == ahead and each.class_name != "bush" for each in state if each.id < 50
        )
        after = state
        if action == "turn":
            after = state.replace(50, heading=(-dy, dx))
        elif not blocks:
            after = state.replace(50, pos=ahead)
        yield state, action, after


@pytest.fixture(scope="module")
def model() -> tt.TreeThink:
    stream = strolls(0)
    model = tt.TreeThink(SCHEMA)
    model.observe_many(next(stream) for _ in range(2_500))
    return model


def asked_by(rule: tt.Rule) -> list[Test]:
    return [node.test for node in rule.root.walk() if node.test]


ACTIONS = ("up", "forward")
SCENE = tt.State(
    SCHEMA,
    [
        tt.Object(1, "rock", pos=(2, 1)),
        tt.Object(2, "bush", pos=(1, 2)),
        tt.Object(3, "tree", pos=(4, 4)),
        tt.Object(50, "agent", pos=(2, 2), heading=(-1, 0)),
        tt.Object(60, "meter", level=0),
    ],
)


def test_all_forms_are_as_expected(model: tt.TreeThink) -> None:
    rules = [model.rules["agent", "pos", action] for action in ACTIONS]
    assert all("something" in {test.kind for test in asked_by(rule)} for rule in rules)
    forms = [
        form for rule in rules for form in (str(rule), *map(rule.to_text, ("english", "code")))
    ]
    check_golden("something.txt", "\n\n".join(forms) + "\n")


@pytest.mark.parametrize("action", ACTIONS)
def test_code_and_paths_answer_as_the_engine_does(model: tt.TreeThink, action: str) -> None:
    rule = model.rules["agent", "pos", action]
    scope: dict[str, object] = {}
    exec(rule.to_text("code"), scope)
    function = scope[f"agent_pos_when_{action}"]
    stream = strolls(1)
    for _ in range(60):
        before, _, _ = next(stream)
        expected = model.predict(before, action).outcomes(50, "pos")
        assert function(before.to_dict(), 50) == expected  # type: ignore[operator]
        for facts in ("demand", "full"):
            again = model.predict(before, action, facts=facts).outcomes(50, "pos")
            assert again == expected
        _, leaf = follow(rule.root, before, 50)
        assert sum(leaf.counts.values()) == model.predict(before, action).support(50, "pos")


def test_clauses_and_a_module_answer_as_the_engine_does(model: tt.TreeThink) -> None:
    module, program = loaded(module_text(model)), Program(prolog.text_of(model))
    stream = strolls(2)
    for _ in range(12):
        before, _, _ = next(stream)
        for action in ACTIONS:
            expected = model.predict(before, action).outcomes(50, "pos")
            assert proven(program, before, action)[50]["pos"] == expected
            assert module["predict"](before.to_dict(), action)[50]["pos"] == expected


@pytest.mark.parametrize("action", ACTIONS)
def test_rules_are_read_back_from_their_text(model: tt.TreeThink, action: str) -> None:
    edited = tt.TreeThink.from_bytes(model.to_bytes())
    rule = model.rules["agent", "pos", action]
    edited.replace(("agent", "pos", action), str(rule))
    again = edited.rules["agent", "pos", action]
    assert asked_by(again) == asked_by(rule)
    again = tt.TreeThink.from_bytes(edited.to_bytes()).rules["agent", "pos", action]
    assert asked_by(again) == asked_by(rule)


def test_explanations_say_which_object_it_was(model: tt.TreeThink, tmp_path: Path) -> None:
    turned = SCENE.replace(50, heading=(0, 1))
    asked = [(SCENE, "up"), (SCENE, "forward"), (turned, "up"), (turned, "forward")]
    texts = [str(model.explain(state, action, (50, "pos"))) for state, action in asked]
    check_golden("something_explained.txt", "\n\n".join(texts) + "\n")
    (reason,) = model.explain(SCENE, "up", (50, "pos"))
    assert reason.things == (1,)
    step = next(each for each in reason.to_dict()["steps"] if "something" in each)
    assert step["something"] == [1]
    for state, action in asked:
        model.explain(state, action, (50, "pos")).draw(tmp_path / "explanation.png")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("something[heading] - X0[pos] = (1, 0) ?", "can be compared with 'something.pos.'"),
        ("something[heading] - X0[heading] = (1, 0) ?", "asks for the something of"),
        ("something[hat] - X0[pos] = (1, 0) ?", "hat"),
        ("something[pos] - X0[pos] = 1 ?", "must name a value of length 2"),
    ],
)
def test_wrong_tests_are_refused(model: tt.TreeThink, text: str, says: str) -> None:
    with pytest.raises(tt.TreeThinkError, match=says):
        model.replace(("agent", "pos", "up"), f"{text}\nyes: +(0, 0) × 3\nno: +(0, 1) × 2")


def test_what_is_supposed_of_something_holds_for_tests_below(model: tt.TreeThink) -> None:
    edited = tt.TreeThink.from_bytes(model.to_bytes())
    text = """something[pos] - X0[pos] = (0, -1) ?
    ├─ yes: +(0, 0) × 3
    └─ no: ∃ X1: rock.  X1[pos] - X0[pos] = (0, -1) ?
       ├─ yes: +(0, 1) × 2
       └─ no: +(0, -1) × 2"""
    edited.replace(("agent", "pos", "up"), text)
    (reason,) = edited.explain(SCENE, "up", (50, "pos"))
    assert "if nothing were directly above agent 50" in str(reason) or "there were nothing" in str(
        reason
    )
    assert "pos would be (2, 1)" in " ".join(str(reason).split())  # no rock is there then


def something(value: tuple[int, int], variable: int = 0, name: str = "agent") -> Test:
    return Test("something", "pos", (name,), (variable,), value)


def rock(value: tuple[int, int], name: str = "rock") -> Test:
    return Test("difference", "pos", ("agent", name), (0, 1), value, new=((1, name),))


def test_an_object_is_something_and_where_nothing_is_there_is_no_object() -> None:
    known = Knowledge(("agent",))
    found = known.holding(rock((1, 0)))
    assert found.implies(something((1, 0))) and not found.implies(something((2, 0)))
    assert found.implies(something((-1, 0), 1, "rock"))
    assert not found.implies(something((0, 0)))
    assert known.holding(something((1, 0))).implies(something((1, 0)))
    nothing = known.failing(something((1, 0)))
    assert nothing.refutes(something((1, 0))) and not nothing.refutes(something((2, 0)))
    assert nothing.refutes(rock((1, 0))) and nothing.refutes(rock((1, 0), "wall"))
    assert not nothing.refutes(rock((2, 0)))
    assert not known.holding(something((1, 0))).implies(rock((1, 0)))
    assert not known.failing(rock((1, 0))).refutes(something((1, 0)))
    two = known.holding(something((1, 0))).holding(something((0, 1)))
    assert two.implies(something((1, 0))) and two.implies(something((0, 1)))


def test_a_simplified_rule_asks_for_no_object_where_nothing_is(model: tt.TreeThink) -> None:
    edited = tt.TreeThink.from_bytes(model.to_bytes())
    text = """something[pos] - X0[pos] = (0, -1) ?
    ├─ yes: +(0, 0) × 3
    └─ no: ∃ X1: rock.  X1[pos] - X0[pos] = (0, -1) ?
       ├─ yes: +(0, 1) × 2
       └─ no: +(0, -1) × 2"""
    edited.replace(("agent", "pos", "up"), text)
    simple = edited.simplify()
    assert [test.kind for test in asked_by(simple.rules["agent", "pos", "up"])] == ["something"]
