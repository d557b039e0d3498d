"""Names and flags can be equal; no rule calculates with their numbers."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import treethink as tt
from treethink.errors import RuleError
from treethink.rules import Node, Test

DRINKS = ["cola", "water", "tea", "milk"]
SCHEMA = tt.Schema(
    {"guest": ["wish", "glad"], "machine": ["drink", "lit"]},
    {
        "wish": tt.Category(DRINKS, like="drink"),
        "drink": tt.Category(DRINKS),
        "glad": tt.Flag(),
        "lit": tt.Flag(),
    },
    ["serve"],
)
DRINK = st.sampled_from(DRINKS)
KEY = ("guest", "glad", "serve")


def table(wish: str, drink: str, glad: bool = False) -> tt.State:
    return tt.State(
        SCHEMA,
        [tt.Object(1, "guest", wish=wish, glad=glad), tt.Object(2, "machine", drink=drink, lit=1)],
    )


@pytest.fixture(scope="module", params=["evidence", "wilson"])
def model(request: pytest.FixtureRequest) -> tt.TreeThink:
    """Guests are glad if they get what they wish."""
    model, rng = tt.TreeThink(SCHEMA, criterion=request.param), random.Random(0)
    for _ in range(600):
        wish, drink = rng.choices(DRINKS, k=2)
        model.observe(table(wish, drink), "serve", table(wish, drink, glad=wish == drink))
    return model


def test_what_is_the_same_is_learned_and_said_in_every_form(model: tt.TreeThink) -> None:
    rule = model.rules[KEY]
    assert str(rule).splitlines()[1] == "∃ X1: machine.  X1[drink] = X0[wish] ?"
    assert "`drink` equals" in rule.to_text("english")
    assert 'x1["drink"] == x0["wish"]' in rule.to_text("code")
    assert model.predict(table("tea", "tea"), "serve").mode()[1].glad is True


def test_the_text_of_a_learned_rule_can_be_read_back(model: tt.TreeThink) -> None:
    text = str(model.rules[KEY])
    twin = tt.TreeThink.from_bytes(model.to_bytes())
    for written in (text, text.replace("X1[drink] = X0[wish]", "X0[wish] - X1[drink] = 0")):
        twin.replace(KEY, written)
        assert str(twin.rules[KEY]).replace("  [pinned]", "") == text


@given(st.lists(st.tuples(DRINK, DRINK, DRINK), min_size=2, max_size=20))
def test_no_candidate_calculates_with_names(seen: list[tuple[str, str, str]]) -> None:
    model = tt.TreeThink(SCHEMA)
    for number, (wish, drink, new) in enumerate(seen):
        model.observe(table(wish, drink), "serve", table(wish, new, glad=number % 2 == 0))
    values = {
        test[-1]
        for name, own in SCHEMA.classes.items()
        for attribute in own
        for tests in model._candidates(name, attribute, "serve")
        for test in tests
        if test[0] == "difference"
    }
    assert values == {(0,)} if any(wish == drink for wish, drink, _ in seen) else values <= {(0,)}


@pytest.mark.parametrize(
    "test",
    [
        "∃ X1: machine.  X1[drink] - X0[wish] = 2 ?",
        "∃ X1: machine.  X0[wish] - X1[drink] = -1 ?",
        "∃ X1: machine.  X1[lit] - X0[glad] = 1 ?",
        "∃ X1: guest.  X1[glad] - X0[glad] = 1 ?",
    ],
)
def test_a_written_test_that_calculates_with_names_is_refused(test: str) -> None:
    model = tt.TreeThink(SCHEMA)
    before = model.to_bytes()
    with pytest.raises(RuleError, match="line 1"):
        model.replace(KEY, f"{test}\nyes: = yes\nno: = no")
    assert model.to_bytes() == before


def test_a_node_that_calculates_with_names_is_refused() -> None:
    model = tt.TreeThink(SCHEMA)
    test = Test("difference", "wish", ("guest", "guest"), (0, 1), 2, new=((1, "guest"),))
    leaf = Node(("guest", "guest"), {True: 1})
    with pytest.raises(RuleError, match="no fact can have"):
        model.replace(KEY, Node(("guest",), {True: 1}, test, leaf, Node(("guest",), {})))


def test_numbers_are_compared_as_before() -> None:
    schema = tt.Schema({"a": ["n"], "b": ["n"]}, {"n": tt.Number()}, ["go"])
    model = tt.TreeThink(schema)
    text = "∃ X1: b.  X1[n] - X0[n] = 2 ?\n├─ yes: +1 × 1\n└─ no:  stays × 1"
    model.replace(("a", "n", "go"), text)
    assert text in str(model.rules["a", "n", "go"]).replace("  [pinned]", "")
