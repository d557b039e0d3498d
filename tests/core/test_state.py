"""States: order does not matter, copies share, and errors name the object."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from treethink.errors import (
    StateError,
    TransitionError,
    TreeThinkError,
    UnknownNameError,
    WrongTypeError,
)
from treethink.state import Attribute, Object, Schema, State

LOWEST, HIGHEST = -(2**63), 2**63 - 1

SCHEMA = Schema(
    classes={"player": ["pos"], "door": ["pos", "open"], "game": ["score"], "mark": []},
    attributes={"pos": 2, "open": 1, "score": Attribute(1, facts=()), "spare": 3},
    actions=["left", "right"],
)

Twin = dict[int, tuple[str, dict[str, tuple[int, ...]]]]
"""A state in plain Python: id -> (class, attribute -> vector)."""

integers = st.integers(-2, 2) | st.integers(LOWEST, HIGHEST) | st.sampled_from([LOWEST, HIGHEST])


@st.composite
def objects_of(draw: st.DrawFn, class_name: str) -> tuple[str, dict[str, tuple[int, ...]]]:
    lengths = {name: SCHEMA.attributes[name].length for name in SCHEMA.classes[class_name]}
    return class_name, {n: draw(st.tuples(*[integers] * k)) for n, k in lengths.items()}


objects = st.sampled_from(list(SCHEMA.classes)).flatmap(objects_of)
twins = st.dictionaries(integers, objects, max_size=12)


def state_of(twin: Twin) -> State:
    return State(SCHEMA, [Object(id, name, **values) for id, (name, values) in twin.items()])


def twin_of(state: State) -> Twin:
    def vector(value: int | tuple[int, ...]) -> tuple[int, ...]:
        return value if isinstance(value, tuple) else (value,)

    return {
        each.id: (each.class_name, {name: vector(v) for name, v in each.values.items()})
        for each in state
    }


def maze() -> State:
    return State(SCHEMA, [Object(50, "player", pos=(5, 2)), Object(51, "door", pos=(3, 4), open=0)])


# ------------------------------------------------------------ against the twin


@given(twins)
def test_a_state_holds_what_it_was_made_of(twin: Twin) -> None:
    state = state_of(twin)
    assert twin_of(state) == twin
    assert len(state) == len(twin)
    assert sorted(state.ids) == sorted(twin)
    assert [each.id for each in state] == list(state.ids)
    for id, (name, values) in twin.items():
        assert id in state
        assert state[id] == Object(id, name, **values)
        for attribute, value in values.items():
            plain = value if len(value) > 1 else value[0]
            assert state.value(id, attribute) == getattr(state[id], attribute) == plain


@given(twins)
def test_objects_come_by_class_and_id(twin: Twin) -> None:
    state = state_of(twin)
    order = {name: position for position, name in enumerate(SCHEMA.classes)}
    expected = sorted(twin, key=lambda id: (order[twin[id][0]], id))
    assert list(state.ids) == expected
    for name in SCHEMA.classes:
        assert state.of_class(name) == tuple(each for each in state if each.class_name == name)


@given(twins, twins)
def test_states_are_equal_when_their_twins_are(one: Twin, other: Twin) -> None:
    assert (state_of(one) == state_of(other)) is (one == other)


@given(twins, st.data())
def test_one_difference_makes_states_unequal(twin: Twin, data: st.DataObject) -> None:
    ids = [id for id, (_, values) in twin.items() if values]
    assume(ids)
    id = data.draw(st.sampled_from(ids))
    name, values = twin[id]
    attribute = data.draw(st.sampled_from(list(values)))
    value = data.draw(st.tuples(*[integers] * len(values[attribute])))
    changed = {**twin, id: (name, {**values, attribute: value})}
    assert (state_of(changed) == state_of(twin)) is (value == values[attribute])


@given(twins, st.randoms())
def test_order_of_objects_does_not_matter(twin: Twin, random: Any) -> None:
    shuffled = dict(random.sample(list(twin.items()), len(twin)))
    assert state_of(shuffled) == state_of(twin)
    assert hash(state_of(shuffled)) == hash(state_of(twin))
    assert repr(state_of(shuffled)) == repr(state_of(twin))


@given(twins, st.data())
def test_replacing_equals_building_a_new_state_and_leaves_the_old_one_unchanged(
    twin: Twin, data: st.DataObject
) -> None:
    state = state_of(twin)
    hash(state)
    changes: dict[int, dict[str, tuple[int, ...]]] = {}
    expected = dict(twin)
    for id in data.draw(st.lists(st.sampled_from(sorted(twin)), unique=True)) if twin else []:
        name = twin[id][0]
        changes[id] = data.draw(objects_of(name))[1]
        expected[id] = (name, changes[id])

    at_once = state.replace_many(changes)
    one_by_one = state
    for id, values in changes.items():
        one_by_one = one_by_one.replace(id, **values)

    for after in (at_once, one_by_one):
        assert twin_of(after) == expected
        assert after == state_of(expected)
        assert hash(after) == hash(state_of(expected))
    assert twin_of(state) == twin


@given(twins)
def test_dict_json_pickle_and_repr_restore_an_equal_state(twin: Twin) -> None:
    state = state_of(twin)
    assert json.loads(state.to_json()) == state.to_dict()
    for restored in (
        State.from_dict(SCHEMA, state.to_dict()),
        State.from_json(SCHEMA, state.to_json()),
        pickle.loads(pickle.dumps(state)),
        eval(repr(state), {"Object": Object, "State": lambda objects: State(SCHEMA, objects)}),
    ):
        assert restored == state
        assert hash(restored) == hash(state)
        assert restored.to_json() == state.to_json()


@given(
    st.sampled_from(["near", "spread", "far"]),
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=60),
)
def test_objects_are_found_by_value_whatever_the_range(
    range_of_values: str, cells: list[tuple[int, int]]
) -> None:
    """In a table over the values' box, or by binary search where the box is too large."""
    steps = {"near": 1, "spread": 1000, "far": 2**64 // 5 - 1}
    low = 0 if range_of_values == "near" else LOWEST
    grid = [low + k * steps[range_of_values] for k in range(6)]
    values = [(grid[x], grid[y]) for x, y in cells]
    state = State(SCHEMA, [Object(i, "player", pos=v) for i, v in enumerate(values)])

    for target in {*values, (LOWEST, HIGHEST), (HIGHEST, LOWEST), (0, 0), (2, 3)}:
        expected = tuple(state[i] for i, value in enumerate(values) if value == target)
        assert state.find("player", pos=target) == expected


@given(twins, st.data())
def test_find_gives_the_objects_that_have_all_the_values(twin: Twin, data: st.DataObject) -> None:
    state = state_of(twin)
    for class_name, attributes in SCHEMA.classes.items():
        assert state.find(class_name) == state.of_class(class_name)
        for like in state.of_class(class_name):
            values = {a: like.values[a] for a in attributes if data.draw(st.booleans(), label=a)}
            assert state.find(class_name, **values) == tuple(
                each
                for each in state.of_class(class_name)
                if all(each.values[name] == value for name, value in values.items())
            )


@given(twins, st.data())
def test_changes_to_another_state_produce_that_state(twin: Twin, data: st.DataObject) -> None:
    before = state_of(twin)
    chosen = data.draw(st.sets(st.sampled_from(list(twin)))) if twin else set()
    other = {id: data.draw(objects_of(twin[id][0])) if id in chosen else twin[id] for id in twin}
    after = state_of(other)
    changes = before.changes_to(after)
    assert before.replace_many(changes) == after
    new = {id: values for id, (_, values) in other.items()}
    assert changes == {
        id: {name: after.value(id, name) for name in old if old[name] != new[id][name]}
        for id, (_, old) in twin.items()
        if old != new[id]
    }
    assert before.changes_to(before.replace_many(changes)) == changes
    assert before.changes_to(before) == {}


def test_changes_to_refuses_other_arguments() -> None:
    fewer = State(SCHEMA, [Object(50, "player", pos=(5, 2)), Object(52, "mark")])
    with pytest.raises(TransitionError, match="only before: 51; only after: 52"):
        maze().changes_to(fewer)
    turned = State(SCHEMA, [Object(51, "player", pos=(5, 2)), Object(50, "player", pos=(3, 4))])
    with pytest.raises(TransitionError, match="of another class after: 51"):
        maze().changes_to(turned)
    other = Schema({"player": ["pos"], "door": ["pos"]}, {"pos": 2}, [])
    with pytest.raises(StateError, match="of another schema"):
        maze().changes_to(State(other, [Object(50, "player", pos=(5, 2))]))
    with pytest.raises(WrongTypeError, match="the state after must be a State, got None"):
        maze().changes_to(None)  # type: ignore[arg-type]


def test_find_refuses_unknown_names_and_wrong_values() -> None:
    state = maze()
    with pytest.raises(UnknownNameError, match=r"unknown class 'dor'.*mean 'door'"):
        state.find("dor", pos=(1, 2))
    with pytest.raises(UnknownNameError, match=r"unknown attribute 'size' in class 'door'"):
        state.find("door", size=1)
    with pytest.raises(
        StateError, match=r"class 'door': attribute 'pos' takes .*got the value \(1,\)"
    ):
        state.find("door", pos=(1,))
    with pytest.raises(WrongTypeError, match="class name must be a str"):
        state.find(3)  # type: ignore[arg-type]


# ------------------------------------------------------- a story by hand


def test_the_example_of_the_readme() -> None:
    state = maze()
    moved = state.replace(50, pos=(6, 2))
    assert moved[50].pos == (6, 2)
    assert state[50].pos == (5, 2)
    assert moved[51] == state[51] == Object(51, "door", pos=(3, 4), open=0)
    assert state.of_class("door")[0].open == 0
    assert moved != state
    assert moved.replace(50, pos=(5, 2)) == state
    assert state.to_dict() == {
        "objects": [
            {"id": 50, "class": "player", "pos": [5, 2]},
            {"id": 51, "class": "door", "pos": [3, 4], "open": 0},
        ]
    }
    assert state.schema is moved.schema is SCHEMA


def test_a_state_can_be_a_dictionary_key() -> None:
    visited = {maze(): "start", maze().replace(51, open=1): "opened"}
    assert visited[maze().replace(51, open=1).replace(51, open=0)] == "start"
    assert len(visited) == 2


def test_equal_schemas_make_equal_states_and_others_never_do() -> None:
    twin = Schema.from_dict(SCHEMA.to_dict())
    assert State.from_dict(twin, maze().to_dict()) == maze()
    other = Schema(SCHEMA.classes, SCHEMA.attributes, ["up"])
    assert State.from_dict(other, maze().to_dict()) != maze()


def test_states_with_different_ids_are_unequal() -> None:
    assert State(SCHEMA, [Object(1, "mark")]) != State(SCHEMA, [Object(2, "mark")])
    assert State(SCHEMA, [Object(1, "mark")]) != State(SCHEMA, [])


def test_a_state_equals_nothing_else() -> None:
    assert maze() != 5
    assert maze() != None  # noqa: E711
    assert maze() != maze().to_dict()


@pytest.mark.parametrize("id", ["x", None, 1.0, True, 2**70, (50,)])
def test_non_ids_are_not_in_a_state(id: Any) -> None:
    assert id not in State(SCHEMA, [Object(1, "mark")])


def test_numpy_integers_are_accepted() -> None:
    state = State(SCHEMA, [Object(np.int16(1), "door", pos=np.array([2, 3]), open=np.uint8(1))])
    assert state == State(SCHEMA, [Object(1, "door", pos=(2, 3), open=1)])
    assert np.int64(1) in state
    changed = state.replace(np.int64(1), open=np.array([4]), pos=[np.int8(-1), 7])
    assert changed[1] == Object(1, "door", pos=(-1, 7), open=4)
    assert changed.replace(1, open=np.array(5)).value(1, "open") == 5
    assert type(changed.value(1, "open")) is type(changed[1].id) is int


def test_a_value_of_length_one_is_an_int_or_a_sequence_of_one() -> None:
    assert maze().replace(51, open=(1,)) == maze().replace(51, open=1)
    assert Object(51, "door", open=[1]) == Object(51, "door", open=1)
    assert maze().value(51, "open") == 0


def test_the_same_value_again_is_the_same_state() -> None:
    assert maze().replace(50, pos=[5, 2]) == maze()
    assert maze().replace(50) == maze()
    assert maze().replace_many({}) == maze().replace_many({50: {}}) == maze()


def test_copies_are_the_state_itself() -> None:
    state = maze()
    assert copy.copy(state) is state
    assert copy.deepcopy([state])[0] is state


def test_states_pickled_together_share_their_schema() -> None:
    one, other = pickle.loads(pickle.dumps([maze(), maze().replace(51, open=1)]))
    assert one.schema is other.schema
    assert one.schema == SCHEMA


def test_a_state_keeps_its_schema_alive() -> None:
    state = State(Schema({"mark": []}, {}, ["go"]), [Object(1, "mark")])
    assert state.schema.actions == ("go",)
    assert state.replace(1).schema is state.schema


def test_a_long_repr_is_cut() -> None:
    state = State(SCHEMA, [Object(i, "mark") for i in range(100)])
    assert repr(state).endswith("Object(11, 'mark'), ... 88 more])")


def test_long_vectors_and_many_objects() -> None:
    schema = Schema({"star": ["at", "size"]}, {"at": 50, "size": 1}, [])
    stars = [Object(i, "star", at=range(i, i + 50), size=i % 7) for i in range(10_000)]
    state = State(schema, reversed(stars))
    assert len(state) == 10_000
    assert state[9_999].at == tuple(range(9_999, 10_049))
    changed = state.replace_many({i: {"size": 9} for i in range(5_000)})
    assert sum(star.size == 9 for star in changed) == 5_000
    assert changed.replace_many({i: {"size": i % 7} for i in range(5_000)}) == state
    assert State.from_json(schema, state.to_json()) == state


def test_threads_may_share_a_state() -> None:
    state = State(SCHEMA, [Object(i, "player", pos=(i % 9, i // 9)) for i in range(500)])
    copies = [State.from_dict(SCHEMA, state.to_dict()) for _ in range(20)]
    hashes: list[int] = []
    threads = [
        threading.Thread(target=lambda: hashes.extend(hash(each) for each in copies))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(hashes) == {hash(state)}


def test_nothing_is_left_behind_when_python_ends() -> None:
    script = (
        "from treethink.state import Object, Schema, State\n"
        "schema = Schema({'a': ['p']}, {'p': 2}, [])\n"
        "state = State(schema, [Object(1, 'a', p=(1, 2))])\n"
        "kept = [state[1], state, schema]\n"
        "class Late:\n"
        "    def __del__(self, state=state): state[1]\n"
        "late = Late()\n"
    )
    process = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert process.returncode == 0
    assert "nanobind" not in process.stderr  # which complains of what it has to leave behind


# ---------------------------------------------------------------- objects


def test_objects_are_values() -> None:
    door = Object(51, "door", pos=[3, 4], open=0)
    assert (door.id, door.class_name, door.pos, door.open) == (51, "door", (3, 4), 0)
    assert door.values == {"pos": (3, 4), "open": 0}
    assert door == Object(51, "door", open=0, pos=(3, 4))
    assert hash(door) == hash(Object(51, "door", open=0, pos=(3, 4)))
    assert door not in (Object(52, "door", pos=(3, 4), open=0), Object(51, "door", pos=(3, 4)), 51)
    assert repr(door) == "Object(51, 'door', pos=(3, 4), open=0)"
    assert pickle.loads(pickle.dumps(door)) == copy.deepcopy(door) == copy.copy(door) == door


def test_objects_never_change() -> None:
    door = Object(51, "door", open=0)
    with pytest.raises(AttributeError, match=r"state.replace\(51, open="):
        door.open = 1
    with pytest.raises(AttributeError):
        del door.open
    with pytest.raises(TypeError):
        door.values["open"] = 1  # type: ignore[index]
    with pytest.raises(AttributeError, match="Did you mean 'open'"):
        _ = door.opn


# --------------------------------------------------------------- refusals

NO_INTEGERS = [True, 1.0, float("nan"), "1", b"1", None, {}, {1}, 1j, [[1]], np.float64(1)]


@pytest.mark.parametrize("value", [*NO_INTEGERS, np.bool_(True), np.array([1.0]), [True], [None]])
def test_a_value_is_made_of_integers(value: Any) -> None:
    if not isinstance(value, str | bool | np.bool_):  # these may be names and flags of a schema
        with pytest.raises(StateError, match=r"object 51 \('door'\): attribute 'open' takes"):
            Object(51, "door", pos=(3, 4), open=value)
    with pytest.raises(
        StateError, match=r"object 51 \('door'\): attribute 'open' takes an integer"
    ):
        maze().replace(51, open=value)
    with pytest.raises(
        StateError, match=r"object 51 \('door'\): attribute 'open' takes an integer"
    ):
        maze().replace_many({51: {"open": value}})


@pytest.mark.parametrize(
    "value", [1, (1,), (1, 2, 3), [], range(10**18), np.array([[1, 2]]), np.zeros((2, 2), int)]
)
def test_a_vector_has_the_length_of_its_attribute(value: Any) -> None:
    with pytest.raises(StateError, match="attribute 'pos' takes 2 integers, got"):
        maze().replace(50, pos=value)
    with pytest.raises(StateError, match="attribute 'pos' takes"):
        State(SCHEMA, [Object(50, "player", pos=value)])


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, 10**4000, np.uint64(2**63)])
def test_a_value_fits_in_64_bits(value: Any) -> None:
    with pytest.raises(StateError, match=r"'open' must fit in a signed 64-bit integer"):
        maze().replace(51, open=value)
    with pytest.raises(StateError, match=r"'pos' must fit in a signed 64-bit integer"):
        Object(50, "player", pos=(0, value))
    with pytest.raises(StateError, match="signed 64-bit"):
        Object(value, "player", pos=(0, 0))


@pytest.mark.parametrize("id", NO_INTEGERS)
def test_an_id_is_an_integer(id: Any) -> None:
    for call in (lambda: Object(id, "mark"), lambda: maze()[id], lambda: maze().replace(id)):
        with pytest.raises(StateError, match="id must be an integer"):
            call()


def test_no_id_is_used_twice() -> None:
    with pytest.raises(StateError, match="two objects have the id 7"):
        State(SCHEMA, [Object(7, "mark"), Object(7, "mark")])
    with pytest.raises(StateError, match="two objects have the id 7"):
        State(SCHEMA, [Object(7, "mark"), Object(7, "game", score=0)])


def test_an_unknown_id_is_refused() -> None:
    with pytest.raises(StateError, match="no object has the id 9 in this state of 2 objects"):
        maze()[9]
    with pytest.raises(StateError, match="no object has the id 9"):
        maze().replace(9, pos=(1, 1))
    with pytest.raises(StateError, match="no object has the id 9"):
        maze().replace_many({9: {}})
    with pytest.raises(StateError, match="no object has the id 9"):
        maze().value(9, "pos")


def test_an_unknown_class_gets_a_suggestion() -> None:
    with pytest.raises(UnknownNameError, match=r"class 'plyer' in the schema.*mean 'player'"):
        State(SCHEMA, [Object(1, "plyer", pos=(1, 1))])
    with pytest.raises(UnknownNameError, match="mean 'door'"):
        maze().of_class("doors")


def test_an_unknown_attribute_gets_a_suggestion() -> None:
    for call in (
        lambda: State(SCHEMA, [Object(51, "door", pos=(1, 1), opn=1)]),
        lambda: maze().replace(51, opn=1),
        lambda: maze().replace_many({51: {"opn": 1}}),
        lambda: maze().value(51, "opn"),
    ):
        with pytest.raises(UnknownNameError, match=r"'opn' in class 'door'.*mean 'open'") as raised:
            call()
        assert (raised.value.kind, raised.value.name) == ("attribute", "opn")
        assert raised.value.known == ("open", "pos")
        assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)


def test_an_attribute_of_another_class_is_an_extra_one() -> None:
    with pytest.raises(UnknownNameError, match="unknown attribute 'open' in class 'player'"):
        State(SCHEMA, [Object(1, "player", pos=(1, 1), open=1)])


def test_a_missing_attribute_is_named() -> None:
    with pytest.raises(StateError, match=r"object 51 \('door'\) lacks the attribute 'open'"):
        State(SCHEMA, [Object(51, "door", pos=(1, 1))])


@pytest.mark.parametrize(
    "refused",
    [
        lambda: State(None, []),  # type: ignore[arg-type]
        lambda: State(SCHEMA.to_dict(), []),  # type: ignore[arg-type]
        lambda: State(SCHEMA, None),  # type: ignore[arg-type]
        lambda: State(SCHEMA, 3),  # type: ignore[arg-type]
        lambda: State(SCHEMA, [3]),  # type: ignore[list-item]
        lambda: State(SCHEMA, [None]),  # type: ignore[list-item]
        lambda: State(SCHEMA, [Object.__new__(Object)]),
        lambda: Object(1, None),  # type: ignore[arg-type]
        lambda: Object(1, "\ud800"),
        lambda: maze().value(50, None),  # type: ignore[arg-type]
        lambda: maze().of_class(3),  # type: ignore[arg-type]
        lambda: maze().replace_many(None),  # type: ignore[arg-type]
        lambda: maze().replace_many({50: [1]}),  # type: ignore[dict-item]
        lambda: maze().replace_many({50: {3: 1}}),  # type: ignore[dict-item]
        lambda: State.from_dict(SCHEMA, []),
        lambda: State.from_dict(None, {"objects": []}),  # type: ignore[arg-type]
        lambda: State.from_json(SCHEMA, b"{}"),  # type: ignore[arg-type]
        lambda: State.from_json(SCHEMA, None),  # type: ignore[arg-type]
    ],
)
def test_arguments_of_a_wrong_type_are_refused(refused: Any) -> None:
    with pytest.raises(WrongTypeError):
        refused()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({}, "lacks the key 'objects'"),
        ({"objects": [], "more": 1}, "only the key 'objects'"),
        ({"objects": {}}, "'objects' must be a list"),
        ({"objects": [{}, 3]}, r"objects\[0\] lacks the key 'id'"),
        ({"objects": [{"id": 1}]}, r"objects\[0\] lacks the key 'class'"),
        ({"objects": [3]}, r"objects\[0\] must be a dict"),
        ({"objects": [{"id": "1", "class": "mark"}]}, "id must be an integer"),
        ({"objects": [{"id": 1, "class": "mark"}] * 2}, "two objects have the id 1"),
        ({"objects": [{"id": 1, "class": "game"}]}, "lacks the attribute 'score'"),
        (
            {"objects": [{"id": 1, "class": "game", "score": 1.5}]},
            "takes an integer, got the value 1.5",
        ),
    ],
)
def test_data_that_is_no_state_is_refused(data: Any, message: str) -> None:
    with pytest.raises(StateError, match=message):
        State.from_dict(SCHEMA, data)


@pytest.mark.parametrize(
    "text", ["", "{", "nope", "[" * 100_000, '{"objects": [{"id": ' + "1" * 5000 + "}]}"]
)
def test_text_that_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(StateError, match="not JSON"):
        State.from_json(SCHEMA, text)


def test_reading_leaves_the_data_alone() -> None:
    data = maze().to_dict()
    State.from_dict(SCHEMA, data)
    assert data == maze().to_dict()


class Meddler:
    """An integer that changes the data while it is being read."""

    def __init__(self, data: dict[Any, Any]):
        self.data = data

    def __index__(self) -> int:
        self.data.clear()
        self.data.update(dict.fromkeys(range(100)))
        return 3


def test_data_that_changes_while_it_is_read_does_no_harm() -> None:
    entry: dict[Any, Any] = {"id": 1, "class": "door"}
    entry |= {"open": Meddler(entry), "pos": [1, 2]}
    read = State.from_dict(SCHEMA, {"objects": [entry]})
    assert read == State(SCHEMA, [Object(1, "door", pos=(1, 2), open=3)])
    changes: dict[Any, Any] = {}
    changes[51] = {"open": Meddler(changes)}
    changes[50] = {"pos": (0, 0)}
    assert maze().replace_many(changes) == maze().replace(51, open=3).replace(50, pos=(0, 0))


# ------------------------------------------------------- a fuzz of the parser

words = st.sampled_from(
    ["id", "class", "objects", "pos", "open", "score", "door", "mark", "\ud800"]
)
json_like = st.recursive(
    st.none()
    | st.booleans()
    | integers
    | st.integers()
    | st.floats()
    | words
    | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=4),
    max_leaves=12,
)


@st.composite
def mutated(draw: st.DrawFn) -> Any:
    """A state's data with something in it replaced, removed or added."""
    data: Any = state_of(draw(twins)).to_dict()
    place = data
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            return data
        key = draw(st.sampled_from(keys))
        if isinstance(place[key], dict | list) and draw(st.booleans()):
            place = place[key]
            continue
        change = draw(st.sampled_from(["replace", "remove", "add"]))
        if change == "replace":
            place[key] = draw(json_like)
        elif change == "remove":
            del place[key]
        elif isinstance(place, dict):
            place[draw(words)] = draw(json_like)
        else:
            place.insert(key, draw(json_like))
        return data


@given(mutated() | json_like)
def test_any_data_gives_a_state_or_a_treethink_error(data: Any) -> None:
    try:
        state = State.from_dict(SCHEMA, data)
    except TreeThinkError:
        return
    assert State.from_dict(SCHEMA, state.to_dict()) == state


@given(mutated().map(json.dumps) | st.text(max_size=20), st.data())
def test_any_text_gives_a_state_or_a_treethink_error(text: str, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(text)))
    noise = data.draw(st.text(max_size=2))
    for given_text in (text, text[:cut], text[:cut] + noise + text[cut + 1 :]):
        try:
            state = State.from_json(SCHEMA, given_text)
        except TreeThinkError:
            continue
        assert State.from_json(SCHEMA, state.to_json()) == state


def test_an_attribute_may_be_called_name():
    schema = Schema({"lamp": ["name"]}, {"name": 1}, [])
    state = State(schema, [Object(1, "lamp", name=3), Object(2, "lamp", name=4)])
    assert [each.id for each in state.find("lamp", name=4)] == [2]
