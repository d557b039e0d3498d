"""Thresholds of components in English, code, Prolog, explanations and edits: all mean the same."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

import treethink as tt
from golden import check_golden
from treethink.editing.implication import Knowledge
from treethink.errors import RuleError
from treethink.explain.path import follow
from treethink.rules import RuleKey, Test

SCHEMA = tt.Schema(
    {"robot": ["pos", "speed"], "lamp": ["on"]},
    {"pos": tt.Position(2), "speed": tt.Position(2), "on": tt.Flag()},
    ["go", "look"],
)
RULES = (("robot", "pos", "go"), ("lamp", "on", "look"))
Transition = tuple[tt.State, str, tt.State]


def halls(seed: int) -> Iterator[Transition]:
    """A robot goes by its speed up to the edges of a hall; a lamp says if it is in the far half."""
    rng = random.Random(seed)
    while True:
        pos = (rng.randrange(30), rng.randrange(20))
        speed = rng.choice([(1, 0), (-1, 0), (0, 1), (0, -1)])
        robot = tt.Object(1, "robot", pos=pos, speed=speed)
        state = tt.State(SCHEMA, [robot, tt.Object(2, "lamp", on=bool(rng.randrange(2)))])
        there = (pos[0] + speed[0], pos[1] + speed[1])
        action = rng.choice(SCHEMA.actions)
        if action == "look":
            yield state, action, state.replace(2, on=pos[0] > 14)
        elif 0 <= there[0] < 30 and 0 <= there[1] < 20:
            yield state, action, state.replace(1, pos=there)
        else:
            yield state, action, state


@pytest.fixture(scope="module")
def model() -> tt.TreeThink:
    stream = halls(0)
    model = tt.TreeThink(SCHEMA)
    model.observe_many(next(stream) for _ in range(5_000))
    return model


def asked_by(rule: tt.Rule) -> list[Test]:
    return [node.test for node in rule.root.walk() if node.test]


def situations(n: int = 100) -> list[tt.State]:
    stream = halls(1)
    return [next(stream)[0] for _ in range(n)]


def test_all_forms_are_as_expected(model: tt.TreeThink) -> None:
    rules = [model.rules[key] for key in RULES]
    assert {test.kind for rule in rules for test in asked_by(rule)} == {"threshold"}
    forms = [form for rule in rules for form in (str(rule), rule.to_text("english"))]
    check_golden("components.txt", "\n\n".join(forms) + "\n")


def test_explanations_say_what_held_and_what_would_have_to_differ(model: tt.TreeThink) -> None:
    robot = tt.Object(1, "robot", pos=(29, 4), speed=(1, 0))
    state = tt.State(SCHEMA, [robot, tt.Object(2, "lamp", on=False)])
    texts = [
        str(model.explain(state, "go", (1, "pos"))),
        str(model.explain(state, "look", (2, "on"))),
    ]
    check_golden("components_explained.txt", "\n\n".join(texts) + "\n")


@pytest.mark.parametrize("key", RULES)
def test_code_and_paths_answer_as_the_engine_does(model: tt.TreeThink, key: RuleKey) -> None:
    rule = model.rules[key]
    scope: dict[str, object] = {}
    exec(rule.to_text("code"), scope)
    (function,) = (each for name, each in scope.items() if name.startswith(f"{key[0]}_{key[1]}_"))
    target = 1 if key[0] == "robot" else 2
    for before in situations():
        expected = model.predict(before, key[2])
        answer = function(before.to_dict(), target)  # type: ignore[operator]
        assert answer == expected.outcomes(target, key[1])
        _, leaf = follow(rule.root, before, target)
        assert sum(leaf.counts.values()) == expected.support(target, key[1])


@pytest.mark.parametrize("key", RULES)
def test_rules_are_read_back_from_their_text(model: tt.TreeThink, key: RuleKey) -> None:
    edited = tt.TreeThink.from_bytes(model.to_bytes())
    edited.replace(key, str(model.rules[key]))
    assert asked_by(edited.rules[key]) == asked_by(model.rules[key])
    for before in situations():
        answer = edited.predict(before, key[2]).outcomes(1, "pos")
        assert answer == model.predict(before, key[2]).outcomes(1, "pos")


def test_a_model_with_components_is_compared_and_simplified(model: tt.TreeThink) -> None:
    edited = tt.TreeThink.from_bytes(model.to_bytes())
    edited.replace(RULES[1], "∃ X1: robot.  X1[pos].x <= 9 ?\nyes: = no × 3\nno: = yes × 3")
    assert not model.diff(model)
    assert "lamp" in str(model.diff(edited))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("X0[pos] <= 3 ?", "must say which component of 'pos' is at most a number: 'X0.pos..x"),
        ("X0[pos].z <= 3 ?", "asks for the component 'z' of 'pos', which has no such, only x, y"),
        ("X0[pos].a <= 3 ?", "must read like"),
        ("X0[pos].x = 3 ?", "must read like"),
    ],
)
def test_wrong_tests_are_refused(model: tt.TreeThink, text: str, says: str) -> None:
    before = model.to_bytes()
    with pytest.raises(RuleError, match=says):
        model.replace(("robot", "pos", "go"), f"{text}\nyes: +(1, 0) × 3\nno: stays × 2")
    assert model.to_bytes() == before


def test_a_number_has_no_components() -> None:
    schema = tt.Schema({"car": ["fuel"]}, {"fuel": tt.Number()}, ["go"])
    with pytest.raises(RuleError, match="component 'x' of 'fuel', which has no such, since it is"):
        tt.TreeThink(schema).replace(
            ("car", "fuel", "go"), "X0[fuel].x <= 3 ?\nyes: +1 × 3\nno: stays × 2"
        )


def test_a_component_implies_those_above_and_refutes_those_below() -> None:
    def most(value: int, component: int = 0) -> Test:
        return Test("threshold", "pos", ("robot",), (0,), value, component=component)

    def at(x: int, y: int) -> Test:
        return Test("equality", "pos", ("robot",), (0,), (x, y))

    held = Knowledge(("robot",)).holding(most(3))
    failed = Knowledge(("robot",)).failing(most(3))
    assert held.implies(most(4)) and not held.implies(most(2)) and not held.implies(most(4, 1))
    assert failed.refutes(most(3)) and not failed.refutes(most(4))
    assert not failed.refutes(most(3, 1))
    assert held.refutes(at(4, 0)) and not held.refutes(at(3, 9))
    assert failed.refutes(at(3, 0)) and not failed.refutes(at(4, 0))
    exactly = Knowledge(("robot",)).holding(at(3, 7))
    assert exactly.implies(most(3)) and exactly.refutes(most(2))
    assert exactly.implies(most(7, 1)) and exactly.refutes(most(6, 1))
