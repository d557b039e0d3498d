"""Presets: each says what it is, survives every copy, and refuses what it cannot be."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treethink as tt
from treethink.errors import SchemaError, UnknownNameError, WrongTypeError


def always(state: tt.State, each: tt.Object) -> bool:
    return True


PRESETS = [
    tt.Position(),
    tt.Position(3),
    tt.Number(),
    tt.Category(["cola", "water"]),
    tt.Flag(),
    tt.Score(),
    tt.Attribute(1, names=["low", "high"]),
    tt.Derived(always),
    tt.Derived(always, tt.Category(["a", "b"])),
    tt.Derived(None, tt.Attribute(2)),
]


def schema_with(*attributes: tt.Attribute) -> tt.Schema:
    known = {f"a{number}": each for number, each in enumerate(attributes)}
    return tt.Schema({"thing": list(known)}, known, ["go"])


@given(st.lists(st.sampled_from(PRESETS)))
def test_dict_json_pickle_and_repr_restore_an_equal_schema(attributes: list[tt.Attribute]) -> None:
    schema = schema_with(*attributes)
    for twin in (
        tt.Schema.from_dict(json.loads(json.dumps(schema.to_dict()))),
        pickle.loads(pickle.dumps(schema)),
        copy.deepcopy(schema),
    ):
        assert twin == schema
        assert hash(twin) == hash(schema)
        assert twin.to_dict() == schema.to_dict()


@pytest.mark.parametrize("attribute", [each for each in PRESETS if not each.derived])
def test_the_repr_of_a_preset_makes_it_again(attribute: tt.Attribute) -> None:
    again = eval(repr(attribute), vars(tt))
    assert again == attribute
    assert type(again) is type(attribute)


def test_presets_with_other_meanings_differ() -> None:
    assert len(set(PRESETS)) == len(PRESETS)
    assert schema_with(tt.Number()) != schema_with(tt.Attribute(1))
    assert schema_with(tt.Category(["a", "b"])) != schema_with(tt.Category(["b", "a"]))


def test_a_derived_attribute_is_equal_whatever_its_function_is() -> None:
    assert tt.Derived(always) == tt.Derived(None) != tt.Flag()
    assert schema_with(tt.Derived(always)) == schema_with(tt.Derived(None))


def test_data_has_the_kind_and_only_what_an_attribute_uses() -> None:
    data = schema_with(tt.Position(2), tt.Attribute(2)).to_dict()["attributes"]
    plain = {
        "length": 2,
        "facts": ["equality", "difference", "order", "threshold"],
        "outcomes": "auto",
    }
    assert data == {"a0": plain | {"kind": "position"}, "a1": plain}


def test_a_preset_can_be_written_with_its_kind_and_arguments_alone() -> None:
    data = schema_with(tt.Flag()).to_dict() | {
        "attributes": {"a0": {"kind": "category", "names": ["x", "y"], "derived": True}}
    }
    assert tt.Schema.from_dict(data).attributes["a0"] == tt.Derived(None, tt.Category(["x", "y"]))


def test_a_hundred_thousand_names_are_no_problem() -> None:
    names = [f"n{number}" for number in range(100_000)]
    assert schema_with(tt.Category(names)).attributes["a0"].names == tuple(names)
    with pytest.raises(SchemaError, match="'n7' of a value is listed twice"):
        tt.Category([*names, "n7"])


# -------------------------------------------------------------------------------- units


def test_attributes_of_one_unit_need_equal_lengths_and_names() -> None:
    schema_with(tt.Position(2), tt.Position(2, like="a0"), tt.Position(2, like="a1"))
    with pytest.raises(SchemaError, match=r"'a1' is like 'a0', so both need the same length"):
        schema_with(tt.Position(2), tt.Position(3, like="a0"))
    with pytest.raises(SchemaError, match="the same names"):
        schema_with(tt.Category(["a"]), tt.Category(["b"], like="a0"))
    with pytest.raises(SchemaError, match="flags"):
        schema_with(tt.Flag(), tt.Number(like="a0"))


def test_like_must_name_another_attribute() -> None:
    with pytest.raises(UnknownNameError, match=r"'A0' in 'like' of attribute 'a1'.*mean 'a0'"):
        schema_with(tt.Number(), tt.Number(like="A0"))
    with pytest.raises(SchemaError, match="'a0' is like itself"):
        schema_with(tt.Number(like="a0"))
    with pytest.raises(SchemaError, match="is like itself"):
        schema_with(tt.Number(like="a1"), tt.Number(like="a0"))


# ----------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: tt.Category([]), SchemaError, "at least one name"),
        (lambda: tt.Category(["a", "b", "a"]), SchemaError, "'a' of a value is listed twice"),
        (lambda: tt.Category("cola"), WrongTypeError, "list of names, got 'cola'"),
        (lambda: tt.Category({"cola"}), WrongTypeError, "list of names, got {'cola'}"),
        (lambda: tt.Category([1]), WrongTypeError, "must be a str, got 1"),  # type: ignore[list-item]
        (lambda: tt.Category([""]), SchemaError, "empty"),
        (lambda: tt.Position(0), SchemaError, "length must be 1 to"),
        (lambda: tt.Number(like=3), WrongTypeError, "must be a str, got 3"),
        (lambda: tt.Attribute(2, names=["a"]), SchemaError, "length 1, got 2"),
        (lambda: tt.Derived(3), WrongTypeError, "callable or None, got 3"),
        (lambda: tt.Derived(always, 2), WrongTypeError, "not derived, got 2"),
        (lambda: tt.Derived(always, tt.Derived(None)), WrongTypeError, "not derived"),
        (lambda: tt.Derived(always, tt.Score()), SchemaError, "score cannot be derived"),
    ],
)
def test_a_wrong_argument_is_refused(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        ({"kind": "positon"}, UnknownNameError, "Did you mean 'position'"),
        ({"kind": 3}, WrongTypeError, "must be a str, got 3"),
        ({"kind": "category"}, SchemaError, "lacks the key 'names'"),
        ({"kind": "flag", "length": 2}, SchemaError, "'length' of attribute 'a0' must be 1"),
        ({"kind": "score", "facts": ["equality"]}, SchemaError, "'facts' of attribute 'a0'"),
        ({"kind": "flag", "derived": 1}, SchemaError, "must be true or false, got 1"),
        ({"kind": "flag", "nmaes": []}, SchemaError, "unknown key 'nmaes'"),
    ],
)
def test_wrong_data_is_refused(data: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        tt.Schema.from_dict({"classes": {"t": ["a0"]}, "attributes": {"a0": data}, "actions": []})


# ------------------------------------------------------------------ numbers of values


@given(
    st.sampled_from([tt.Number(), tt.Position(2), tt.Flag(), tt.Category(["cola", "water"])]),
    st.data(),
)
def test_a_value_has_the_number_that_the_engine_has(attribute: tt.Attribute, data: Any) -> None:
    number = st.integers(-(10**18), 10**18)
    code = data.draw(
        st.tuples(number, number)
        if attribute.length == 2
        else st.integers(0, 1)
        if attribute.is_symbolic
        else number
    )
    assert attribute.encode(attribute.decode(code)) == code
    of_numpy = tuple(map(np.int64, code)) if isinstance(code, tuple) else np.int64(code)
    assert attribute.encode(of_numpy) == code  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("attribute", "wrong", "accepted"),
    [
        (tt.Number(), 1.0, "a number"),
        (tt.Number(), None, "a number"),
        (tt.Number(), "1", "a number"),
        (tt.Number(), (1, 2), "a number"),
        (tt.Position(2), (1, None), "2 numbers"),
        (tt.Position(2), (1, 2.0), "2 numbers"),
        (tt.Position(2), (1, 2, 3), "2 numbers"),
        (tt.Position(2), "12", "2 numbers"),
        (tt.Position(2), None, "2 numbers"),
        (tt.Flag(), 1.0, "True or False"),
        (tt.Flag(), None, "True or False"),
        (tt.Flag(), 2, "True or False"),
        (tt.Category(["a", "b"]), np.True_, "'a', 'b'"),
        (tt.Category(["a", "b"]), True, "'a', 'b'"),
        (tt.Category(["a", "b"]), 1.0, "'a', 'b'"),
        (tt.Category(["a", "b"]), None, "'a', 'b'"),
        (tt.Category(["a", "b"]), "c", "'a', 'b'"),
    ],
)
def test_what_is_no_value_has_no_number(attribute: Any, wrong: Any, accepted: str) -> None:
    with pytest.raises(SchemaError, match=f"a value must be .*{accepted}.*, got "):
        attribute.encode(wrong)


def test_bools_of_numpy_are_bools() -> None:
    assert tt.Flag().encode(np.True_) == 1  # type: ignore[arg-type]
    assert tt.Number().encode(np.False_) == 0  # type: ignore[arg-type]
