"""Objects as flat rows of numbers, for learners that know nothing of objects.

    state -> [ ObjectFeatures ] -> for each object of a class, a row of features

The row of an object has its own values, and for each class the values of the nearest objects of
that class: attributes that both have as differences, all others as they are. So a wall on the right
is a wall at (1, 0), wherever the object is. Rows of one class have equal lengths; what is not there
is None. The order of objects and their ids do not matter: nearest first, then by value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from treethink.state import Object, Schema, State

#: A value of a feature: a whole number, or None where there is no such object.
Feature = int | None
Row = tuple[Feature, ...]
#: What happened to an attribute: the change of a number, or the new value of a category or flag.
Outcome = tuple[int, ...]


class ObjectFeatures:
    """Computes the rows of the objects of a state; `nearest` objects of each class take part.

    >>> schema = Schema({"cart": ["pos"], "wall": ["pos"]}, {"pos": 1}, ["go"])
    >>> state = State(schema, [Object(0, "cart", pos=3), Object(1, "wall", pos=5)])
    >>> features = ObjectFeatures(schema, nearest=1)
    >>> features.names("cart"), dict(features.rows(state, "cart"))
    (['pos', 'cart1.pos', 'wall1.pos'], {0: (3, None, 2)})
    """

    def __init__(self, schema: Schema, nearest: int = 4):
        self.schema, self.nearest = schema, nearest
        self._latest: tuple[State, dict[str, list[tuple[int, Row]]]] | None = None

    def names(self, class_name: str) -> list[str]:
        """Return the names of the features of a class."""
        return [name for name, _ in self._columns(class_name)]

    def symbolic(self, class_name: str) -> list[bool]:
        """Return which features are names or flags, of which only equality means anything."""
        return [symbolic for _, symbolic in self._columns(class_name)]

    def rows(self, state: State, class_name: str) -> list[tuple[int, Row]]:
        """Return the id and the row of each object of a class.

        Those of the latest state are kept: a state is mostly predicted from, and then learned from.
        """
        if self._latest is None or self._latest[0] is not state:
            self._latest = state, {}
        known = self._latest[1]
        if class_name not in known:
            known[class_name] = list(self._rows(state, class_name))
        return known[class_name]

    def _rows(self, state: State, class_name: str) -> Iterator[tuple[int, Row]]:
        tables = {
            name: _Table(self.schema, state, name, class_name) for name in self.schema.classes
        }
        own = tables[class_name]
        for i, own_id in enumerate(own.ids):
            row: list[Feature] = [int(n) for n in own.values[i]]
            for name, table in tables.items():
                skipped = i if name == class_name else None
                row += table.nearest(own, i, skipped, self.nearest)
            yield own_id, tuple(row)

    def _columns(self, class_name: str) -> list[tuple[str, bool]]:
        columns = self._columns_of(class_name, "")
        for other in self.schema.classes:
            for i in range(1, self.nearest + 1):
                columns += self._columns_of(other, f"{other}{i}.")
        return columns

    def _columns_of(self, class_name: str, prefix: str) -> list[tuple[str, bool]]:
        return [
            (f"{prefix}{name}[{i}]" if length > 1 else f"{prefix}{name}", each.is_symbolic)
            for name in self.schema.classes[class_name]
            for each in (self.schema.attributes[name],)
            for length in (each.length,)
            for i in range(length)
        ]


class _Table:
    """The values of all objects of a class, as a matrix, to be compared with those of another."""

    def __init__(self, schema: Schema, state: State, class_name: str, beside: str):
        objects = state.of_class(class_name)
        attributes, others = schema.classes[class_name], schema.classes[beside]
        width = sum(schema.attributes[name].length for name in attributes)
        numbers = [schema.numbers(each) for each in objects]
        flat = [[n for name in attributes for n in _parts(each[name])] for each in numbers]
        self.ids = [each.id for each in objects]
        self.values = np.array(flat, np.int64).reshape(len(objects), width)
        #: The columns that are told as differences, and those of the other class.
        self._mine: list[int] = []
        self._theirs: list[int] = []
        self._first = 0  # how many of them are those of the first such attribute
        at, positions = 0, _positions(schema, others)
        for name in attributes:
            length = schema.attributes[name].length
            if name in others and not schema.attributes[name].is_symbolic:
                self._mine += range(at, at + length)
                self._theirs += range(positions[name], positions[name] + length)
                self._first = self._first or length
            at += length

    def nearest(self, own: _Table, i: int, skipped: int | None, most: int) -> list[Feature]:
        """Return the values of the nearest objects, relative to object `i` of the other class."""
        relative = self.values
        if self._mine and len(relative):
            relative = relative.copy()
            relative[:, self._mine] -= own.values[i, self._theirs]
        distances = np.abs(relative[:, self._mine[: self._first]]).sum(axis=1)
        if skipped is not None:
            relative = np.delete(relative, skipped, axis=0)
            distances = np.delete(distances, skipped)
        if len(distances) > most:  # all that may be among the nearest
            farthest = np.partition(distances, most - 1)[most - 1]
            near = distances <= farthest
            relative, distances = relative[near], distances[near]
        order = np.lexsort((*relative.T[::-1], distances))[:most]
        flat: list[Feature] = [int(n) for n in relative[order].ravel()]
        return flat + [None] * (relative.shape[1] * (most - len(order)))


def _positions(schema: Schema, attributes: Sequence[str]) -> dict[str, int]:
    """Return the column at which each attribute begins."""
    positions, at = {}, 0
    for name in attributes:
        positions[name] = at
        at += schema.attributes[name].length
    return positions


class Outcomes:
    """Turns the next value of an attribute into an outcome, and back."""

    def __init__(self, schema: Schema):
        self._schema = schema

    def outcome(self, before: Object, after: Object, attribute: str) -> Outcome:
        """Return the change of a number, and the new value of a name or a flag."""
        definition = self._schema.attributes[attribute]
        old, new = (_parts(definition.encode(each.values[attribute])) for each in (before, after))
        if definition.is_symbolic:
            return new
        return tuple(b - a for a, b in zip(old, new, strict=True))

    def value(self, before: Object, attribute: str, outcome: Outcome) -> Any:
        """Return the next value of an attribute, given its outcome."""
        definition = self._schema.attributes[attribute]
        old = _parts(definition.encode(before.values[attribute]))
        if not definition.is_symbolic:
            outcome = tuple(a + b for a, b in zip(old, outcome, strict=True))
        return definition.decode(outcome if definition.length > 1 else outcome[0])


#: Called for each example: the object before and after, its row, and its class.
Example = tuple[Row, tuple[Outcome, ...]]


def examples_of(
    before: State,
    after: State,
    class_name: str,
    features: ObjectFeatures,
    outcomes: Callable[[Object, Object, str], Outcome],
) -> list[Example]:
    """Return the rows of a class with the outcomes of its attributes, in an order without ids."""
    predicted = before.schema.predicted(class_name)
    examples = [
        (row, tuple(outcomes(before[x], after[x], name) for name in predicted))
        for x, row in features.rows(before, class_name)
    ]
    return sorted(examples, key=_order)


def _order(example: Example) -> tuple[Any, ...]:
    row, outcomes = example
    return [(n is not None, n or 0) for n in row], outcomes


def _parts(value: Any) -> tuple[int, ...]:
    return value if isinstance(value, tuple) else (value,)
