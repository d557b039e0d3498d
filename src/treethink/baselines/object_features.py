"""Objects as flat rows of numbers, for learners that know nothing of objects.

    state -> [ ObjectFeatures ] -> for each object of a class, a row of features

The row of an object has its own values, and for each class the values of the nearest objects of
that class: attributes that both have as differences, all others as they are. So a wall on the right
is a wall at (1, 0), wherever the object is. Rows of one class have equal lengths; what is not there
is None. The order of objects and their ids do not matter: nearest first, then by value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

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

    def names(self, class_name: str) -> list[str]:
        """Return the names of the features of a class."""
        return [name for name, _ in self._columns(class_name)]

    def symbolic(self, class_name: str) -> list[bool]:
        """Return which features are names or flags, of which only equality means anything."""
        return [symbolic for _, symbolic in self._columns(class_name)]

    def rows(self, state: State, class_name: str) -> Iterator[tuple[int, Row]]:
        """Yield the id and the row of each object of a class."""
        values = {
            name: [(each.id, self.schema.numbers(each)) for each in state.of_class(name)]
            for name in self.schema.classes
        }
        for own_id, own in values[class_name]:
            row: list[Feature] = [n for name in own for n in _parts(own[name])]
            for other, objects in values.items():
                row += self._nearest(own_id, own, other, objects)
            yield own_id, tuple(row)

    def _nearest(
        self, own_id: int, own: dict[str, Any], other: str, objects: list[tuple[int, Any]]
    ) -> list[Feature]:
        """Return the values of the nearest objects of a class, relative to one object."""
        shared = [self._is_difference(own, name) for name in self.schema.classes[other]]
        seen = sorted(
            self._key(own, each, shared) for each_id, each in objects if each_id != own_id
        )[: self.nearest]
        flat: list[Feature] = [n for _, parts in seen for n in parts]
        width = sum(self._length(name) for name in self.schema.classes[other])
        return flat + [None] * (width * (self.nearest - len(seen)))

    def _key(
        self, own: dict[str, Any], each: dict[str, Any], shared: list[bool]
    ) -> tuple[int, tuple[int, ...]]:
        """Return the distance of an object in the first shared attribute, and its values."""
        distance, parts = 0, []
        for relative, (name, value) in zip(shared, each.items(), strict=True):
            here = _parts(value)
            if relative:
                here = tuple(b - a for a, b in zip(_parts(own[name]), here, strict=True))
                distance = distance or sum(map(abs, here))
            parts += here
        return distance, tuple(parts)

    def _is_difference(self, own: dict[str, Any], name: str) -> bool:
        return name in own and not self.schema.attributes[name].is_symbolic

    def _length(self, name: str) -> int:
        return self.schema.attributes[name].length

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
