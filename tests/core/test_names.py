"""Names of categories and bools of flags: people see and give them, everywhere."""

from __future__ import annotations

import json
import pickle
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treethink as tt
from treethink.errors import RuleError, SchemaError, StateError
from treethink.outcome_text import name_in, name_text
from treethink.text import printable

#: Any name: quotes, commas, escapes of terminals, several lines, words of the language of rules.
NAMES = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6),
    st.sampled_from(
        ["yes", "no", "stays", "x", "×", "= 1", "+1", "a, b", '"', "\\", "\\n", "a\nb"]
    ),
    st.sampled_from(
        ["a ?", "  X0: b", "[pinned]", "# c", "\x1b[31m", "\u2028", "1", "(1, 0)", "∃"]
    ),
)
LISTS = st.lists(NAMES, min_size=2, max_size=5, unique=True)


def machine(names: list[str]) -> tt.Schema:
    attributes = {"drink": tt.Category(names), "open": tt.Flag(), "n": tt.Number()}
    return tt.Schema({"slot": list(attributes)}, attributes, ["go"])


def slot(schema: tt.Schema, drink: Any, is_open: Any = False, n: int = 0) -> tt.State:
    return tt.State(schema, [tt.Object(1, "slot", drink=drink, open=is_open, n=n)])


def learned(schema: tt.Schema) -> tt.TreeThink:
    """Return a model of a slot that goes through its drinks, and opens at the last one."""
    names = schema.attributes["drink"].names or ()
    states = [slot(schema, name, name == names[-1]) for name in names]
    model = tt.TreeThink(schema)
    pairs = zip(states, [*states[1:], states[0]], strict=True)
    model.observe_many([(before, "go", after) for before, after in pairs] * 30)
    return model


# ---------------------------------------------------------------------------------- states


@given(LISTS, st.data())
def test_states_take_and_give_names(names: list[str], data: st.DataObject) -> None:
    schema = machine(names)
    code = data.draw(st.integers(0, len(names) - 1))
    is_open = data.draw(st.booleans())
    state = slot(schema, names[code], is_open)
    assert (
        state == slot(schema, code, int(is_open)) == slot(schema, np.int32(code), np.bool_(is_open))
    )
    assert hash(state) == hash(slot(schema, code, is_open))
    (each,) = state
    assert (each.drink, each.open) == (names[code], is_open)
    assert type(each.open) is bool
    assert state.value(1, "drink") == names[code]
    assert state.find("slot", drink=names[code], open=is_open) == state.of_class("slot")
    assert state.find("slot", drink=code) == (each,)
    other = names[code - 1]
    changed = state.replace(1, drink=other, open=not is_open)
    assert state.changes_to(changed) == {1: {"drink": other, "open": not is_open}}
    assert state.replace_many(state.changes_to(changed)) == changed
    assert (
        eval(repr(state), {**vars(tt), "State": lambda objects: tt.State(schema, objects)}) == state
    )


@given(LISTS, st.data())
def test_states_keep_names_through_every_form(names: list[str], data: st.DataObject) -> None:
    schema = machine(names)
    state = slot(schema, data.draw(st.sampled_from(names)), data.draw(st.booleans()))
    entry = state.to_dict()["objects"][0]
    assert (entry["drink"], entry["open"]) == (state[1].drink, state[1].open)
    for twin in (
        tt.State.from_dict(schema, state.to_dict()),
        tt.State.from_json(schema, state.to_json()),
        tt.State.from_json(schema, json.dumps(json.loads(state.to_json()))),
        pickle.loads(pickle.dumps(state)),
        tt.State(schema, list(state)),
    ):
        assert twin == state
        assert twin[1] == state[1]


@pytest.mark.parametrize("wrong", ["Cola", "", 2, -1, 2**70, True, 1.0, None, (0,) * 2, "\ud800"])
def test_another_name_is_one_clear_error(wrong: Any) -> None:
    state = slot(machine(["cola", "water"]), "cola")
    with pytest.raises(tt.errors.TreeThinkError) as caught:
        state.replace(1, drink=wrong)
    assert isinstance(caught.value, StateError)
    text = str(caught.value)
    assert text.startswith("object 1 ('slot'): attribute 'drink' takes one of 'cola', 'water' or")
    assert ("did you mean 'cola'" in text) == (wrong == "Cola")
    assert repr(wrong)[:40] in text


@pytest.mark.parametrize("wrong", ["yes", 2, -1, 0.5, None, (0, 1)])
def test_a_flag_takes_bools_only(wrong: Any) -> None:
    state = slot(machine(["cola", "water"]), "cola")
    with pytest.raises(
        StateError, match=r"object 1 \('slot'\): attribute 'open' takes True, False"
    ):
        state.replace(1, open=wrong)


@pytest.mark.parametrize("wrong", [True, np.True_, "cola"])
def test_an_attribute_without_a_preset_takes_neither_bools_nor_names(wrong: Any) -> None:
    schema = tt.Schema({"slot": ["n"]}, {"n": 1}, [])
    with pytest.raises(StateError, match="'n' takes an integer"):
        tt.State(schema, [tt.Object(1, "slot", n=wrong)])


def test_outcomes_of_names_are_values() -> None:
    schema = tt.Schema({"slot": ["n"]}, {"n": tt.Attribute(names=["a", "b"])}, ["go"])
    assert tt.TreeThink(schema).rules["slot", "n", "go"].frame == tt.Frame("value")
    with pytest.raises(SchemaError, match="'value'"):
        tt.Attribute(names=["a", "b"], outcomes="change")


# ---------------------------------------------------------------------------- rules and texts


@given(NAMES)
def test_the_text_of_a_name_is_printable_and_can_be_read_back(name: str) -> None:
    text = name_text(name)
    assert name_in(text) == name
    assert printable(text) == text
    assert "  " not in text


@given(LISTS)
def test_predictions_and_rules_have_names(names: list[str]) -> None:
    schema = machine(names)
    model = learned(schema)
    prediction = model.predict(slot(schema, names[0]), "go")
    assert prediction.outcomes(1, "drink") == {names[1]: 1.0}
    assert prediction.outcomes(1, "open") == {len(names) == 2: 1.0}
    assert prediction.changes()[1]["drink"] == {names[1]: 1.0}
    root = model.rules["slot", "drink", "go"].root
    assert root.counts.keys() == set(names)
    assert {node.test.value for node in root.walk() if node.test is not None} <= {
        *names,
        True,
        False,
    }


@given(LISTS)
def test_the_text_of_a_rule_can_be_read_back(names: list[str]) -> None:
    model = learned(machine(names))
    for key, rule in model.rules.items():
        text, english = str(rule), rule.to_text("english")
        assert all(line.isprintable() for line in (text + english).split("\n"))
        root = rule.root
        model.replace(key, text)
        assert [node.counts for node in model.rules[key].root.walk()] == [
            node.counts for node in root.walk()
        ]
        assert re.sub(r"  \[pinned\]", "", str(model.rules[key])) == text
        model.replace(key, root)  # a node of a rule
        assert re.sub(r"  \[pinned\]", "", str(model.rules[key])) == text


def test_texts_say_names() -> None:
    model = learned(machine(["cola", "ice tea"]))
    rule = model.rules["slot", "drink", "go"]
    assert str(rule).splitlines()[1:] == [
        "X0[drink] = cola ?",
        '├─ yes: = "ice tea" × 30',
        "└─ no:  = cola × 30",
    ]
    assert rule.to_text("english") == (
        'When `go` is chosen, the slot\'s `drink` becomes "ice tea" if its `drink` is cola; '
        "otherwise it becomes cola."
    )
    state = slot(model.schema, "cola")
    explained = str(model.explain(state, "go", (1, "drink")).reasons[0].title)
    assert explained == 'slot 1, drink: cola -> "ice tea", seen 30 times'


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("= pepsi", "must be one of 'cola', 'water'"),
        ("= 2", "must be one of 'cola', 'water'"),
        ("X0[drink] = colla ?\nyes: = cola\nno: = water", "did you mean 'cola'"),
        ("+1", "is a change"),
    ],
)
def test_a_wrong_name_in_a_rule_changes_nothing(text: str, error: str) -> None:
    model = learned(machine(["cola", "water"]))
    before = model.to_bytes()
    with pytest.raises(RuleError, match=error):
        model.replace(("slot", "drink", "go"), text)
    assert model.to_bytes() == before


def test_names_numbers_and_bools_can_be_written_by_hand() -> None:
    model = learned(machine(["cola", "water"]))
    model.replace(("slot", "drink", "go"), {"water": 3})
    assert model.rules["slot", "drink", "go"].root.counts == {"water": 3}
    model.replace(("slot", "open", "go"), {True: 2})
    assert model.rules["slot", "open", "go"].root.counts == {True: 2}
    with pytest.raises(RuleError, match="cola"):
        model.replace(("slot", "drink", "go"), {"pepsi": 1})


# ------------------------------------------------------------------------------------ metrics


@given(LISTS, st.data())
def test_all_wrong_names_are_equally_wrong(names: list[str], data: st.DataObject) -> None:
    schema = machine(names)
    prediction = learned(schema).predict(slot(schema, names[0]), "go")
    name = data.draw(st.sampled_from(names))
    truth = prediction.mode().replace(1, drink=name)
    assert tt.error(prediction, truth) == float(name != names[1])
