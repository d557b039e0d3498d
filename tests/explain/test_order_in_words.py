"""Order and thresholds in English, code, Prolog, explanations and edits: all mean the same."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

import treethink as tt
from golden import check_golden
from treethink.editing.implication import Knowledge
from treethink.errors import RuleError
from treethink.explain.path import follow
from treethink.rules import Test

KINDS = ["equality", "difference", "order", "threshold"]
Transition = tuple[tt.State, str, tt.State]


def sign(number: int) -> int:
    return (number > 0) - (number < 0)


SCHEMA = tt.Schema(
    {"fox": ["pos", "food", "limit"], "hen": ["pos", "food"], "den": ["food"]},
    {
        "pos": tt.Position(2, facts=["equality", "difference", "order"]),
        "food": tt.Number(facts=KINDS),
        "limit": tt.Number(like="food", facts=KINDS),
    },
    ["hunt", "eat", "rest"],
)


def chases(seed: int) -> Iterator[Transition]:
    """A fox hunts a hen by signs; it eats up to its limit, and rests while the den is not full."""
    rng = random.Random(seed)
    while True:
        fox, hen = ((rng.randrange(9), rng.randrange(9)) for _ in range(2))
        food, limit, den = (rng.randrange(10) for _ in range(3))
        state = tt.State(
            SCHEMA,
            [
                tt.Object(1, "fox", pos=fox, food=food, limit=limit),
                tt.Object(2, "hen", pos=hen, food=rng.randrange(10)),
                tt.Object(3, "den", food=den),
            ],
        )
        action = rng.choice(SCHEMA.actions)
        after = state
        if action == "hunt":
            after = state.replace(1, pos=(fox[0] + sign(hen[0] - fox[0]), fox[1]))
        elif action == "eat" and food < limit:
            after = state.replace(1, food=food + 1)
        elif action == "rest" and den <= 6:
            after = state.replace(1, limit=limit + 1)
        yield state, action, after


@pytest.fixture(scope="module")
def model() -> tt.TreeThink:
    stream = chases(0)
    model = tt.TreeThink(SCHEMA)
    model.observe_many(next(stream) for _ in range(1_500))
    return model


def asked_by(rule: tt.Rule) -> list[Test]:
    return [node.test for node in rule.root.walk() if node.test]


def test_all_forms_are_as_expected(model: tt.TreeThink) -> None:
    rules = [model.rules["fox", name, action] for name, action in RULES]
    kinds = {test.kind for rule in rules for test in asked_by(rule)}
    assert {"order", "threshold"} <= kinds
    forms = [form for rule in rules for form in (str(rule), rule.to_text("english"))]
    check_golden("order_and_threshold.txt", "\n\n".join(forms) + "\n")


RULES = (("pos", "hunt"), ("food", "eat"), ("limit", "rest"))


@pytest.mark.parametrize(("name", "action"), RULES)
def test_code_and_paths_answer_as_the_engine_does(
    model: tt.TreeThink, name: str, action: str
) -> None:
    rule = model.rules["fox", name, action]
    scope: dict[str, object] = {}
    exec(rule.to_text("code"), scope)
    (function,) = (each for key, each in scope.items() if key.startswith(f"fox_{name}_when"))
    stream = chases(1)
    for _ in range(60):
        before, _, _ = next(stream)
        expected = model.predict(before, action).outcomes(1, name)
        assert function(before.to_dict(), 1) == expected  # type: ignore[operator]
        _, leaf = follow(rule.root, before, 1)
        assert sum(leaf.counts.values()) == model.predict(before, action).support(1, name)


@pytest.mark.parametrize(("name", "action"), RULES)
def test_rules_are_read_back_from_their_text(model: tt.TreeThink, name: str, action: str) -> None:
    edited = tt.TreeThink.from_bytes(model.to_bytes())
    rule = model.rules["fox", name, action]
    edited.replace(("fox", name, action), str(rule))
    again = edited.rules["fox", name, action]
    assert asked_by(again) == asked_by(rule)
    stream = chases(2)
    for _ in range(60):
        before, _, _ = next(stream)
        answer = edited.predict(before, action).outcomes(1, name)
        assert answer == model.predict(before, action).outcomes(1, name)


def test_explanations_say_what_held_and_what_would_have_to_differ(model: tt.TreeThink) -> None:
    state = tt.State(
        SCHEMA,
        [
            tt.Object(1, "fox", pos=(4, 4), food=2, limit=5),
            tt.Object(2, "hen", pos=(6, 3), food=0),
            tt.Object(3, "den", food=3),
        ],
    )
    texts = [str(model.explain(state, action, (1, name))) for name, action in RULES]
    check_golden("order_and_threshold_explained.txt", "\n\n".join(texts) + "\n")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("X0[pos] <= 3 ?", "asks for the threshold of .pos., which the schema keeps out"),
        ("sign(X0[limit] - X0[food]) = 2 ?", "asks for a sign, which is -1, 0 or 1, got"),
        ("X0[food] < 3 ?", "must read like"),
    ],
)
def test_wrong_tests_are_refused(model: tt.TreeThink, text: str, says: str) -> None:
    with pytest.raises(RuleError, match=says):
        model.replace(("fox", "food", "eat"), f"{text}\nyes: +1 × 3\nno: stays × 2")


def test_a_threshold_implies_those_above_and_refutes_those_below() -> None:
    def most(value: int, kind: str = "threshold") -> Test:
        return Test(kind, "food", ("fox",), (0,), value)

    held = Knowledge(("fox",)).holding(most(3))
    failed = Knowledge(("fox",)).failing(most(3))
    assert held.implies(most(4)) and held.implies(most(3)) and not held.implies(most(2))
    assert failed.refutes(most(2)) and failed.refutes(most(3)) and not failed.refutes(most(4))
    assert held.refutes(most(4, "equality")) and not held.refutes(most(3, "equality"))
    assert failed.refutes(most(3, "equality")) and not failed.refutes(most(4, "equality"))
    exactly = Knowledge(("fox",)).holding(most(3, "equality"))
    assert exactly.implies(most(3)) and exactly.refutes(most(2))
    new = Test("threshold", "food", ("hen",), (1,), 3, new=((1, "hen"),))
    none = Knowledge(("fox",)).failing(new)
    assert none.refutes(Test("threshold", "food", ("hen",), (1,), 2, new=((1, "hen"),)))
    assert not none.refutes(Test("threshold", "food", ("hen",), (1,), 4, new=((1, "hen"),)))
