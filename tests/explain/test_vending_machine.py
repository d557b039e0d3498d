"""A vending machine as a user writes it: learned, exported, edited, explained and planned in."""

from __future__ import annotations

import random
from typing import Any

import pytest

import treethink as tt
from exporting import loaded, proven
from small_prolog import Program
from treethink.export import prolog
from treethink.export.python import module_text

DRINKS = ["cola", "ice tea", 'it\'s "odd", ok?']


def affordable(state: tt.State, slot: tt.Object) -> bool:
    """Whether the credit is enough for the slot's price."""
    (machine,) = state.of_class("machine")
    return bool(machine.credit >= slot.price)


SCHEMA = tt.Schema(
    {
        "machine": ["credit", "lamp"],
        "slot": ["drink", "price", "sold", "chosen", "affordable"],
        "game": ["score"],
    },
    {
        "credit": tt.Number(),
        "lamp": tt.Category(["off", *DRINKS]),
        "drink": tt.Category(DRINKS),
        "price": tt.Number(),
        "sold": tt.Flag(),
        "chosen": tt.Flag(),
        "affordable": tt.Derived(affordable),
        "score": tt.Score(),
    },
    ["coin", "press"],
)


def machine(credit: int, prices: list[int], chosen: int, sold: bool = False) -> tt.State:
    slots = [
        tt.Object(i, "slot", drink=drink, price=price, sold=sold, chosen=i == chosen)
        for i, (drink, price) in enumerate(zip(DRINKS, prices, strict=True))
    ]
    box = tt.Object(8, "machine", credit=credit, lamp="off")
    return tt.State(SCHEMA, [*slots, box, tt.Object(9, "game", score=0)])


def step(state: tt.State, action: str) -> tt.State:
    """Insert a coin, or press: the chosen slot sells its drink, if that can be paid."""
    if action == "coin":
        return state.replace(8, credit=state[8].credit + 1)
    slot = next(iter(state.find("slot", chosen=True, affordable=True, sold=False)), None)
    if slot is None:
        return state
    return state.replace_many(
        {slot.id: {"sold": True}, 8: {"lamp": slot.drink}, 9: {"score": state[9].score + 1}}
    )


def situations(n: int, seed: int) -> list[tuple[tt.State, str]]:
    rng = random.Random(seed)
    return [
        (
            machine(
                rng.randrange(6),
                [rng.randint(1, 6) for _ in DRINKS],
                rng.randrange(3),
                rng.random() < 0.2,
            ),
            rng.choice(["coin", "press", "press"]),
        )
        for _ in range(n)
    ]


@pytest.fixture(scope="module")
def model() -> tt.TreeThink:
    learner = tt.TreeThink(SCHEMA)
    learner.observe_many((s, action, step(s, action)) for s, action in situations(4_000, 0))
    return learner


def test_it_is_learned(model: tt.TreeThink) -> None:
    for state, action in situations(300, 1):
        prediction = model.predict(state, action)
        assert prediction.mode() == step(state, action)
        assert tt.error(prediction, step(state, action)) == 0.0


def test_exports_answer_as_it_does(model: tt.TreeThink) -> None:
    module, program = loaded(module_text(model)), Program(prolog.text_of(model))
    for state, action in situations(12, 2):
        prediction = model.predict(state, action)
        expected: dict[int, dict[str, Any]] = {
            x.id: {m: prediction.outcomes(x.id, m) for m in SCHEMA.predicted(x.class_name)}
            for x in state
        }
        assert module["predict"](state.to_dict(), action) == expected
        assert tt.State.from_dict(SCHEMA, module["mode"](state.to_dict(), action)) == (
            prediction.mode()
        )
        assert proven(program, state, action) == expected


def test_every_rule_can_be_written_again(model: tt.TreeThink) -> None:
    other = tt.TreeThink.from_bytes(model.to_bytes())
    for key, rule in model.rules.items():
        other.replace(key, str(rule))
        assert str(other.rules[key]).replace("  [pinned]", "") == str(rule)
    for state, action in situations(100, 3):
        assert other.predict(state, action).mode() == step(state, action)


def test_it_can_be_edited_by_name(model: tt.TreeThink) -> None:
    other = tt.TreeThink.from_bytes(model.to_bytes())
    other.replace(("machine", "lamp", "press"), '= "ice tea"')
    state = machine(0, [1, 1, 1], 0)
    assert other.predict(state, "press").mode()[8].lamp == "ice tea"


@pytest.mark.parametrize("form", ["formula", "english", "code"])
def test_texts_and_pictures_use_names(model: tt.TreeThink, form: str) -> None:
    rule = model.rules["machine", "lamp", "press"]
    assert "ice tea" in rule.to_text(form)
    for picture in (rule.to_svg(), rule.to_dot(), rule.to_mermaid()):
        assert "ice tea" in picture


def test_explanations_use_names(model: tt.TreeThink) -> None:
    text = str(model.explain(machine(5, [3, 3, 3], 1), "press"))
    assert 'lamp: off -> "ice tea"' in text
    assert "sold: no -> yes" in text
    assert "affordable:" not in text


def test_a_plan_inserts_coins_until_the_drink_can_be_paid(model: tt.TreeThink) -> None:
    state, actions = machine(0, [9, 2, 9], 1), []
    for _ in range(3):
        actions.append(tt.plan(model, state, simulations=60, seed=0).action)
        state = step(state, actions[-1])
    assert actions == ["coin", "coin", "press"]
    assert state[8].lamp == "ice tea"
