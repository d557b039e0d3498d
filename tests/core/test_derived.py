"""Derived attributes: computed for every state, used by tests, never predicted."""

from __future__ import annotations

import copy
import json
import pickle
import traceback
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import treethink as tt
from treethink.errors import RuleError, SchemaError, StateError


def affordable(state: tt.State, slot: tt.Object) -> bool:
    """Whether the credit is enough for the slot's price."""
    (machine,) = state.of_class("machine")
    return bool(machine.credit >= slot.price)


def advice(state: tt.State, slot: tt.Object) -> str:
    """Use a derived attribute that the schema lists earlier."""
    return "buy" if slot.affordable else "wait"


def schema_with(function: Any = affordable, later: Any = advice) -> tt.Schema:
    return tt.Schema(
        {
            "machine": ["credit"],
            "slot": ["price", "sold", "affordable", "advice"],
            "game": ["score"],
        },
        {
            "credit": tt.Number(),
            "price": tt.Number(),
            "sold": tt.Flag(),
            "affordable": tt.Derived(function),
            "advice": tt.Derived(later, tt.Category(["buy", "wait"])),
            "score": tt.Score(),
        },
        ["coin", "press"],
    )


SCHEMA = schema_with()
GIVEN = schema_with(None, None)


def shop(credit: int, prices: tuple[int, ...] = (1, 2), schema: tt.Schema = SCHEMA) -> tt.State:
    slots = [tt.Object(i, "slot", price=price, sold=False) for i, price in enumerate(prices, 1)]
    rest = [tt.Object(8, "game", score=0), tt.Object(9, "machine", credit=credit)]
    return tt.State(schema, [*slots, *rest])


def step(state: tt.State, action: str) -> tt.State:
    """Insert a coin, or buy whatever can be paid."""
    if action == "coin":
        return state.replace(9, credit=min(state[9].credit + 1, 3))
    changes: dict[int, dict[str, Any]] = {
        each.id: {"sold": True} for each in state.of_class("slot") if each.affordable
    }
    sold = sum(not state[x].sold for x in changes)
    return state.replace_many({**changes, 8: {"score": state[8].score + sold}})


def stream(n: int = 600) -> list[tuple[tt.State, str, tt.State]]:
    seen = []
    state = shop(0)
    for i in range(n):
        if i % 7 == 0:
            state = shop(i % 4, (1 + i % 3, 1 + i // 2 % 3))
        action = "press" if i % 3 == 0 else "coin"
        after = step(state, action)
        seen.append((state, action, after))
        state = after
    return seen


@pytest.fixture(scope="module")
def model() -> tt.TreeThink:
    learner = tt.TreeThink(SCHEMA)
    learner.observe_many(stream())
    return learner


# -------------------------------------------------------------------------------- states


@given(st.integers(0, 5), st.lists(st.integers(0, 5), min_size=1, max_size=4), st.integers(0, 5))
def test_every_state_has_its_derived_values(credit: int, prices: list[int], then: int) -> None:
    state = shop(credit, tuple(prices))
    plain = state.to_dict()
    for each in plain["objects"]:  # what people write in a file
        each.pop("affordable", None)
        each.pop("advice", None)
    for one in (
        state,
        shop(then, tuple(prices)).replace(9, credit=credit),
        shop(then, tuple(prices)).replace_many({9: {"credit": credit}}),
        tt.State.from_dict(SCHEMA, plain),
        tt.State.from_json(SCHEMA, json.dumps(plain)),
        pickle.loads(pickle.dumps(state)),
        tt.State(SCHEMA, list(state)),
    ):
        assert one == state
        assert hash(one) == hash(state)
        for slot in one.of_class("slot"):
            assert slot.affordable is (credit >= slot.price)
            assert slot.advice == ("buy" if slot.affordable else "wait")
    assert len(state.find("slot", affordable=True)) == sum(credit >= each for each in prices)


@given(st.integers(0, 5), st.integers(0, 5))
def test_changes_leave_out_what_is_computed(credit: int, then: int) -> None:
    before, after = shop(credit), shop(then)
    assert before.changes_to(after) == ({9: {"credit": then}} if credit != then else {})
    assert before.replace_many(before.changes_to(after)) == after


def test_a_model_names_what_rules_ask_about_and_nothing_computes(model: tt.TreeThink) -> None:
    """Predicted states compute what a function derives, and keep what was given."""
    assert model.given_attributes(shop(0)) == ()
    given = tt.State(GIVEN, list(shop(0)))
    assert model.given_attributes(given) == ("affordable", "advice")
    assert model.predict(given, "coin").mode()[1].affordable is False
    assert model.predict(shop(0), "coin").mode()[1].affordable is True
    assert tt.TreeThink(SCHEMA).given_attributes(given) == ()


def test_the_most_likely_outcome_may_differ_in_derived_values(model: tt.TreeThink) -> None:
    states = [[tt.State(GIVEN, list(each)) for each in (a, b)] for a, _, b in stream(100)]
    log = [(a, action, b) for (a, b), (_, action, _) in zip(states, stream(100), strict=True)]
    assert any(model.predict(a, action).mode() != b for a, action, b in log)
    report = tt.evaluate(model, log)
    assert report.exact == report.right_mode == 100


def test_a_computed_value_cannot_be_replaced() -> None:
    with pytest.raises(StateError, match=r"object 1 \('slot'\): attribute 'affordable' is derived"):
        shop(0).replace(1, affordable=True)
    with pytest.raises(StateError, match="is derived"):
        shop(0).replace_many({1: {"affordable": True}})


def test_without_a_function_values_are_given() -> None:
    with pytest.raises(StateError, match="lacks the attribute 'affordable', and its schema has no"):
        shop(0, schema=GIVEN)
    state = tt.State(GIVEN, list(shop(0)))
    assert state == shop(0)
    assert state.replace(1, affordable=True)[1].affordable is True
    assert state.replace(9, credit=5)[1].affordable is False


def test_an_error_of_the_function_names_object_and_attribute() -> None:
    def broken(state: tt.State, slot: tt.Object) -> bool:
        return bool(1 // slot.price)

    with pytest.raises(
        StateError, match=r"object 2 \('slot'\): the derived attribute 'affordable'"
    ) as e:
        shop(0, (1, 0), schema_with(broken))
    assert isinstance(e.value.__cause__, ZeroDivisionError)
    assert "bool(1 // slot.price)" in "".join(traceback.format_exception(e.value))


def replaces(state: tt.State, slot: tt.Object) -> bool:
    return bool(state.replace(slot.id, price=0)[slot.id].price)


def builds(state: tt.State, slot: tt.Object) -> bool:
    return len(tt.State(state.schema, list(state))) > 0


@pytest.mark.parametrize("function", [replaces, builds])
def test_a_function_that_makes_a_state_is_one_error(function: Any) -> None:
    with pytest.raises(StateError, match=r"object 1 .*'affordable' .* may only read") as caught:
        shop(0, schema=schema_with(function))
    assert "RecursionError" not in str(caught.value)
    assert shop(3)[1].affordable  # other schemas, and later states, are computed as ever


def test_a_function_may_make_states_of_another_schema() -> None:
    def cheap(state: tt.State, slot: tt.Object) -> bool:
        return bool(shop(1, (slot.price,))[1].affordable)

    state = shop(0, (1, 2), schema_with(cheap))
    assert [each.affordable for each in state.of_class("slot")] == [True, False]


@pytest.mark.parametrize("wrong", [2, "yes", None])
def test_a_value_that_the_attribute_cannot_have_is_an_error(wrong: Any) -> None:
    with pytest.raises(StateError, match=r"object 1 \('slot'\): attribute 'affordable' takes True"):
        shop(0, schema=schema_with(lambda state, slot: wrong))


def test_a_keyboard_interrupt_passes() -> None:
    def interrupted(state: tt.State, slot: tt.Object) -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        shop(0, schema=schema_with(interrupted))


def test_a_function_that_another_process_cannot_find_is_one_error() -> None:
    schema = schema_with(lambda state, slot: True)
    with pytest.raises(
        SchemaError, match="'affordable' cannot be sent to another process: write it"
    ):
        pickle.dumps(shop(0, schema=schema))
    assert copy.deepcopy(schema) is schema


# ---------------------------------------------------------------------------- models


def test_it_has_no_rules(model: tt.TreeThink) -> None:
    predicted = {attribute for _, attribute, _ in model.rules}
    assert predicted == {"credit", "price", "sold", "score"}
    assert "affordable" not in str([rule.title for rule in model.rules.values()])
    with pytest.raises(RuleError, match="'affordable' is derived"):
        _ = model.rules["slot", "affordable", "press"]
    with pytest.raises(RuleError, match="'affordable' is derived"):
        model.replace(("slot", "affordable", "press"), "= yes")


def test_tests_use_it(model: tt.TreeThink) -> None:
    assert "affordable" in str(model.rules["slot", "sold", "press"]) or "advice" in str(
        model.rules["slot", "sold", "press"]
    )


def test_predicted_states_compute_it(model: tt.TreeThink) -> None:
    import numpy as np

    for before, action, after in stream(120):
        prediction = model.predict(before, action)
        assert prediction.mode() == after
        assert prediction.sample(np.random.default_rng(0)) == after
        assert prediction.probability(after) == 1.0
        assert tt.error(prediction, after) == 0.0
        named = {name for values in prediction.changes().values() for name in values}
        assert not named & {"affordable", "advice"}
    with pytest.raises(StateError, match="'affordable' of class 'slot' is derived"):
        prediction.outcomes(1, "affordable")
    with pytest.raises(StateError, match="is derived"):
        prediction.support(1, "affordable")


def test_every_way_to_learn_and_to_predict_agrees(model: tt.TreeThink) -> None:
    one = tt.TreeThink(SCHEMA)
    for transition in stream():
        one.observe(*transition)
    assert one.to_bytes() == model.to_bytes()
    situations = [(before, action) for before, action, _ in stream(30)]
    modes = [each.mode() for each in model.predict_many(situations)]
    assert modes == [after for _, _, after in stream(30)]


def test_derived_values_are_no_outcomes_of_a_probability(model: tt.TreeThink) -> None:
    """A state of the same content whose derived values were given otherwise is as probable."""
    before, action, after = stream(1)[0]
    given = tt.State(GIVEN, list(after)).replace(1, affordable=not after[1].affordable)
    assert model.predict(before, action).probability(given) == 1.0


def test_a_model_from_a_file_uses_the_function_of_the_states(model: tt.TreeThink) -> None:
    loaded = tt.TreeThink.from_bytes(model.to_bytes())
    assert loaded.to_bytes() == model.to_bytes()
    for before, action, after in stream(30):
        assert loaded.predict(before, action).mode() == after
    state = tt.State(loaded.schema, list(shop(0)))
    assert loaded.predict(state, "coin").mode()[1].affordable is False  # as it was given


def test_models_and_states_go_to_other_processes(model: tt.TreeThink) -> None:
    assert pickle.loads(pickle.dumps(model)).to_bytes() == model.to_bytes()
    assert pickle.loads(pickle.dumps(SCHEMA)).attributes["affordable"].function is affordable


def test_plans_compute_it(model: tt.TreeThink) -> None:
    """Pressing pays only after enough coins, which only the derived attribute tells."""
    state = shop(0, (2, 3))
    points = 0
    for _ in range(6):
        action = tt.plan(model, state, simulations=150, seed=0).action
        state = step(state, action)
        points = state[8].score
    assert points == 2


def test_an_error_of_the_function_stops_a_plan() -> None:
    calls = 0

    def late(state: tt.State, slot: tt.Object) -> bool:
        nonlocal calls
        calls += 1
        if calls > 40 * 600:
            raise ZeroDivisionError("late")
        return affordable(state, slot)

    model = tt.TreeThink(SCHEMA)
    model.observe_many(stream())
    state = shop(0, schema=schema_with(late))
    calls = 40 * 600 - 20
    with pytest.raises(
        StateError, match="'affordable' cannot be computed: ZeroDivisionError: late"
    ):
        tt.plan(model, state, simulations=500, seed=0)


def test_explanations_and_summaries_leave_it_out(model: tt.TreeThink) -> None:
    state = shop(2, (2, 3))
    explanation = model.explain(state, "press")
    assert {each.attribute for each in explanation.reasons} <= {"sold", "score"}
    assert {each.attribute for each in model.explain(state, "press", 1).reasons} == {
        "price",
        "sold",
    }
    assert "affordable when" not in str(model.summary())
    assert "affordable" in model.rules["slot", "sold", "press"].to_text("english")


def test_models_are_compared_in_states_that_fit_the_function(model: tt.TreeThink) -> None:
    other = tt.TreeThink(SCHEMA)
    other.observe_many(stream(30))
    assert model.diff(other)
    assert not model.diff(model)
