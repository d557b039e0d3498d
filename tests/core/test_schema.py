"""Schemas: conversions keep them equal, and errors name the mistake."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treethink as tt
from treethink import _engine
from treethink.errors import SchemaError, TreeThinkError, UnknownNameError, WrongTypeError
from treethink.state import Attribute, Object, Schema, State

attributes = st.builds(
    Attribute,
    st.integers(1, 50),
    facts=st.none() | st.lists(st.sampled_from(["equality", "difference"])),
    outcomes=st.sampled_from(["auto", "change", "value"]),
)
names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5)


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    known_attributes = draw(st.dictionaries(st.sampled_from("abcdef"), attributes))
    own = (
        st.lists(st.sampled_from(sorted(known_attributes)), unique=True)
        if known_attributes
        else st.just([])
    )
    return Schema(
        draw(st.dictionaries(names, own, max_size=4)),
        known_attributes,
        draw(st.lists(names, unique=True, max_size=4)),
    )


def doors() -> Schema:
    return Schema(
        classes={"player": ["pos"], "door": ["open", "pos"], "game": ["score"]},
        attributes={"pos": 2, "open": 1, "score": Attribute(1, facts=())},
        actions=["left", "right"],
    )


@given(schemas())
def test_dict_json_and_pickle_restore_an_equal_schema(schema: Schema) -> None:
    for twin in (
        Schema.from_dict(schema.to_dict()),
        Schema.from_dict(json.loads(json.dumps(schema.to_dict()))),
        pickle.loads(pickle.dumps(schema)),
        Schema(schema.classes, schema.attributes, schema.actions),
        eval(repr(schema), {"Schema": Schema, "Attribute": Attribute}),
    ):
        assert twin == schema
        assert hash(twin) == hash(schema)
        assert twin.to_dict() == schema.to_dict()


@given(schemas(), schemas())
def test_schemas_are_equal_when_their_dicts_are_in_order_too(one: Schema, other: Schema) -> None:
    same = json.dumps(one.to_dict()) == json.dumps(other.to_dict())
    assert (one == other) is same
    assert not same or hash(one) == hash(other)


def test_order_of_names_is_part_of_a_schema() -> None:
    assert Schema({}, {"a": 1, "b": 1}, []) != Schema({}, {"b": 1, "a": 1}, [])
    assert Schema({}, {}, ["x", "y"]) != Schema({}, {}, ["y", "x"])


def test_a_class_lists_its_attributes_in_the_order_of_the_schema() -> None:
    assert doors().classes == {"player": ("pos",), "door": ("pos", "open"), "game": ("score",)}


def test_a_schema_can_be_read_but_not_changed() -> None:
    schema = doors()
    assert schema.actions == ("left", "right")
    assert schema.attributes["pos"] == Attribute(2)
    assert schema.attributes["score"].facts == ()
    with pytest.raises(TypeError):
        schema.classes["wall"] = ("pos",)  # type: ignore[index]
    with pytest.raises(AttributeError):
        schema.actions = ()  # type: ignore[misc]
    with pytest.raises(AttributeError):
        schema.attributes["pos"].length = 3  # type: ignore[misc]


def test_copies_are_the_schema_itself() -> None:
    schema = doors()
    assert copy.copy(schema) is schema
    assert copy.deepcopy({"here": schema})["here"] is schema


def test_a_schema_equals_nothing_else() -> None:
    assert doors() != doors().to_dict()
    assert doors() != None  # noqa: E711


def test_kinds_of_fact_are_kept_once_and_in_the_order_of_the_engine() -> None:
    given = Attribute(1, facts=["threshold", "difference", "order", "equality", "difference"])
    assert given.facts == ("equality", "difference", "order", "threshold")
    assert given.facts == tt.Number().facts
    assert Attribute(1, facts=()) != Attribute(1)


def test_single_numbers_may_be_codes_and_have_no_order_by_themselves() -> None:
    assert Attribute(1).facts == ("equality", "difference", "threshold")
    assert Attribute(2).facts == ("equality", "difference", "order", "threshold")
    assert Attribute(5).facts == ("equality", "difference", "order")


def test_every_registered_kind_of_fact_can_be_named() -> None:
    kinds = tuple(_engine.fact_kinds())
    assert kinds[:2] == ("equality", "difference")
    assert Attribute(1, facts=kinds).facts == kinds


def test_numpy_integers_are_lengths() -> None:
    assert Attribute(np.int64(3)) == Attribute(3)
    assert type(Attribute(np.int64(3)).length) is int


# ------------------------------------------------------------------ refusals


@pytest.mark.parametrize(
    "length", [0, -1, 1.0, float("nan"), True, "2", None, (2,), 10**9, 2**64, 10**30]
)
def test_a_length_is_a_positive_integer(length: Any) -> None:
    with pytest.raises(SchemaError, match="length must be"):
        Attribute(length)
    with pytest.raises(SchemaError, match="length must be"):
        Schema({}, {"pos": length}, [])


def test_an_unknown_kind_of_fact_gets_a_suggestion() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'equality'"):
        Attribute(1, facts=["equalty"])


@pytest.mark.parametrize("facts", ["equality", 3, [3], [None]])
def test_facts_are_a_list_of_names(facts: Any) -> None:
    with pytest.raises(WrongTypeError):
        Attribute(1, facts=facts)


@pytest.mark.parametrize("outcomes", [1, ["delta"], None])
def test_outcomes_are_told_by_name(outcomes: Any) -> None:
    with pytest.raises(WrongTypeError, match="outcomes must be one of auto, change, value"):
        Attribute(1, outcomes=outcomes)


def test_unknown_forms_of_outcomes_get_a_suggestion() -> None:
    with pytest.raises(UnknownNameError, match=r"'values' in an attribute.*mean 'value'"):
        Attribute(1, outcomes="values")


def test_delta_is_an_older_name_of_changes() -> None:
    assert Attribute(1, outcomes="delta") == Attribute(1, outcomes="change")


def test_a_class_with_an_unknown_attribute_gets_a_suggestion() -> None:
    with pytest.raises(UnknownNameError, match=r"'poss' in class 'player'.*mean 'pos'"):
        Schema({"player": ["poss"]}, {"pos": 2}, [])


@pytest.mark.parametrize(
    "name",
    ["two words", "1st", "class", "id", "class_name", "values", "replace", "__init__", "__dict__"],
)
def test_attributes_are_names_that_an_object_can_carry(name: str) -> None:
    with pytest.raises(SchemaError, match="name of attribute"):
        Schema({}, {name: 1}, [])


def test_every_name_that_an_object_already_uses_is_taken() -> None:
    for name in dir(Object):
        with pytest.raises(SchemaError):
            Schema({}, {name: 1}, [])


@pytest.mark.parametrize(
    ("classes", "attributes", "actions", "message"),
    [
        ({"": []}, {}, [], "name of class is empty"),
        ({}, {"": 1}, [], "name of attribute is empty"),
        ({}, {}, [""], "name of action is empty"),
        ({}, {}, ["go", "go"], "action 'go' is listed twice"),
        ({"player": ["pos", "pos"]}, {"pos": 1}, [], "attribute 'pos' twice"),
        ({"\ud800": []}, {}, [], "UTF-8"),
    ],
)
def test_names_must_be_nonempty_and_unique(
    classes: Any, attributes: Any, actions: Any, message: str
) -> None:
    with pytest.raises(SchemaError, match=message):
        Schema(classes, attributes, actions)


@pytest.mark.parametrize(
    ("classes", "attributes", "actions"),
    [
        ([], {}, []),
        (None, {}, []),
        ({"player": "pos"}, {"pos": 1}, []),
        ({"player": 3}, {"pos": 1}, []),
        ({"player": [3]}, {"pos": 1}, []),
        ({3: []}, {}, []),
        ({}, ["pos"], []),
        ({}, {3: 1}, []),
        ({}, {}, "go"),
        ({}, {}, [3]),
        ({}, {}, None),
    ],
)
def test_parts_of_a_wrong_type_are_refused(classes: Any, attributes: Any, actions: Any) -> None:
    with pytest.raises(WrongTypeError):
        Schema(classes, attributes, actions)


@pytest.mark.parametrize("change", [{"actions": None}, {"more": 1}, {"attributes": {"pos": {}}}])
def test_data_with_missing_or_extra_keys_is_refused(change: dict[str, Any]) -> None:
    data = doors().to_dict() | change
    with pytest.raises(TreeThinkError):
        Schema.from_dict({key: value for key, value in data.items() if value is not None})


json_like = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=8,
)


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(doors().to_dict(), json_like)) | json_like)
def test_any_data_gives_a_schema_or_a_treethink_error(data: Any) -> None:
    try:
        schema = Schema.from_dict(data)
    except TreeThinkError:
        return
    assert Schema.from_dict(schema.to_dict()) == schema


def test_a_failed_second_initialisation_changes_nothing() -> None:
    schema = doors()
    with pytest.warns(RuntimeWarning, match="already-initialized"), pytest.raises(TypeError):
        schema.__init__({}, {}, [])  # type: ignore[misc]
    assert schema == doors()
    assert schema.to_dict() == doors().to_dict()


FITTING = {
    "other facts": {"pos": Attribute(2, facts=["equality"])},
    "outcomes as values": {"pos": Attribute(2, outcomes="value")},
    "one unit": {"pos": Attribute(2, like="home")},
}


@pytest.mark.parametrize("other", FITTING.values(), ids=FITTING)
def test_states_fit_a_model_that_learns_in_another_way(other: dict[str, Attribute]) -> None:
    plain = {"pos": Attribute(2), "home": Attribute(2)}
    one, two = (
        Schema({"dog": ["pos", "home"]}, attributes, ["run"])
        for attributes in (plain, plain | other)
    )
    assert one != two and one.fits(two) and two.fits(one)
    here, there = (
        State(schema, [Object(1, "dog", pos=(0, 0), home=(1, 1))]) for schema in (one, two)
    )
    assert here == there and hash(here) == hash(there)
    model, twin = tt.TreeThink(one), tt.TreeThink(one)
    model.observe(here, "run", here.replace(1, pos=(1, 0)))
    twin.observe(there, "run", there.replace(1, pos=(1, 0)))
    assert str(model.rules["dog.pos.run"]) == str(twin.rules["dog.pos.run"])
    prediction = model.predict(there, "run")
    assert prediction.mode() == model.predict(here, "run").mode()
    assert prediction.probability(here.replace(1, pos=(1, 0))) == 1


@pytest.mark.parametrize(
    "other",
    [
        Schema({"dog": ["pos"]}, {"pos": 2}, ["walk"]),
        Schema({"cat": ["pos"]}, {"pos": 2}, ["run"]),
        Schema({"dog": ["pos"]}, {"pos": 3}, ["run"]),
        Schema({"dog": ["pos"]}, {"pos": tt.Position(2)}, ["run"]),
        Schema({"dog": ["pos"]}, {"pos": 2, "home": 2}, ["run"]),
        Schema({"dog": ["at"]}, {"at": 2}, ["run"]),
    ],
    ids=["actions", "classes", "length", "meaning", "attributes", "names"],
)
def test_states_of_other_objects_fit_no_model(other: Schema) -> None:
    schema = Schema({"dog": ["pos"]}, {"pos": 2}, ["run"])
    assert not schema.fits(other) and not other.fits(schema)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Attribute(5, facts=["threshold"]), "'threshold' does not fit values of length 5"),
        (lambda: Attribute(names=["a"], facts=["order"]), "'order' does not fit names or bools"),
        (
            lambda: tt.Position(9, facts=["threshold"]),
            "'threshold' does not fit values of length 9",
        ),
    ],
)
def test_kinds_of_fact_that_do_not_fit_are_refused(
    make: Callable[[], Attribute], says: str
) -> None:
    with pytest.raises(SchemaError, match=f"{says}; those that do: equality, difference"):
        make()


def test_presets_of_numbers_take_kinds_of_fact() -> None:
    fuel = tt.Number(facts=["threshold", "equality"])
    assert fuel.facts == ("equality", "threshold")
    assert repr(fuel) == "Number(facts=('equality', 'threshold'))"
    schema = Schema({"car": ["fuel"]}, {"fuel": fuel}, [])
    assert Schema.from_dict(json.loads(json.dumps(schema.to_dict()))) == schema
    assert pickle.loads(pickle.dumps(schema)) == schema
