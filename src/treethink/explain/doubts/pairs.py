"""Pairs of attributes that rules never compare, although they may mean the same.

    schema, states -> [ pairs ] -> diagnosis, summary

Rules compare attributes of one name or one unit (`like`). Two others that have values in common are
worth a word where something is not learned.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations, islice

from treethink.state import Schema, State

#: At most so many states, and so many objects of them, are looked at.
MAX_STATES = 200
MAX_OBJECTS = 20_000


def never_compared(schema: Schema, states: Iterable[State]) -> tuple[tuple[str, str], ...]:
    """Return pairs of attributes of one length whose values overlap and that no rule compares.

    If they mean the same, the first of a pair should be `like` the second. Values are those of the
    first states given; attributes with two values or fewer do not count, nor do names and flags.
    """
    possible = _possible(schema)
    if not possible:
        return ()
    seen = _values(schema, {name for pair in possible for name in pair}, states)
    return tuple(
        _in_order(schema, a, b)
        for a, b in possible
        if min(len(seen[a]), len(seen[b])) > 2 and len(seen[a] & seen[b]) > 1
    )


def how_to_compare(schema: Schema, one: str, other: str) -> tuple[str, str]:
    """Return how to make two attributes comparable: one of them, and the unit of the other."""
    first, second = sorted((one, other), key=list(schema.attributes).index)
    attribute, unit = _in_order(schema, first, second)
    return attribute, schema.unit(unit)


def _in_order(schema: Schema, first: str, second: str) -> tuple[str, str]:
    """Return the attribute to change, and the other: the later one, unless it has a unit."""
    has_unit = [schema.attributes[name].like is not None for name in (first, second)]
    return (first, second) if has_unit == [False, True] else (second, first)


def are_comparable(schema: Schema, a: str, b: str) -> bool:
    """Whether rules compare the two attributes: equal names, or the same unit."""
    return schema.unit(a) == schema.unit(b)


def could_be_alike(schema: Schema, a: str, b: str) -> bool:
    """Whether one attribute can have the unit of the other: numbers, or the same names."""
    one, other = schema.attributes[a], schema.attributes[b]
    if one.is_symbolic or other.is_symbolic:
        return one.names is not None and one.names == other.names
    return one.length == other.length


def facts_of(schema: Schema, class_name: str) -> list[str]:
    """Return the attributes of a class that take part in facts."""
    return [name for name in schema.classes[class_name] if schema.attributes[name].facts]


def vector(state: State, object_id: int | None, attribute: str) -> tuple[int, ...]:
    """Return a value as a tuple of numbers, also that of a category or a flag."""
    assert object_id is not None
    code = state.schema.attributes[attribute].encode(state.value(object_id, attribute))
    return (code,) if isinstance(code, int) else code


def _possible(schema: Schema) -> list[tuple[str, str]]:
    """Return the pairs that could be compared and are not."""
    used = {name for class_name in schema.classes for name in facts_of(schema, class_name)}
    numbers = [
        name for name, each in schema.attributes.items() if name in used and not each.is_symbolic
    ]
    return [
        (a, b)
        for a, b in combinations(numbers, 2)
        if schema.attributes[a].length == schema.attributes[b].length
        and not are_comparable(schema, a, b)
    ]


def _values(
    schema: Schema, names: set[str], states: Iterable[State]
) -> dict[str, set[tuple[int, ...]]]:
    """Return the values that these attributes have in the first of the states."""
    own = {name: names.intersection(each) for name, each in schema.classes.items()}
    seen: dict[str, set[tuple[int, ...]]] = {name: set() for name in names}
    objects = ((state, each) for state in islice(states, MAX_STATES) for each in state)
    for state, each in islice(objects, MAX_OBJECTS):
        for name in own[each.class_name]:
            seen[name].add(vector(state, each.id, name))
    return seen
