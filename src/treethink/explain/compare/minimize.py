"""The smallest state that still has a property, by delta debugging.

In a level of fifty objects it is hard to see which of them matter. So objects are removed, many at
once while that works, until none of the rest can be removed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from treethink.errors import StateError
from treethink.state import Object, Schema, State


def minimize(state: State, holds: Callable[[State], bool]) -> State:
    """Remove all objects that are not needed for `holds` to be true.

    >>> from treethink import Object, Schema
    >>> schema = Schema({"lamp": ["on"]}, {"on": 1}, [])
    >>> lamps = State(schema, [Object(i, "lamp", on=i % 3) for i in range(20)])
    >>> minimize(lamps, lambda state: 4 in state and 7 in state)
    State([Object(4, 'lamp', on=1), Object(7, 'lamp', on=1)])
    """
    objects = list(state)
    chunk = max(len(objects) // 2, 1)
    while True:
        start, before = 0, len(objects)
        while start < len(objects):
            fewer = objects[:start] + objects[start + chunk :]
            smaller = state_or_none(state.schema, fewer)
            if smaller is not None and holds(smaller):
                objects = fewer
            else:
                start += chunk
        if chunk == 1 and len(objects) == before:
            return State(state.schema, objects)
        chunk = max(chunk // 2, 1)


def state_or_none(schema: Schema, objects: Iterable[Object]) -> State | None:
    """Return the state of objects that fit the schema; None if no derived value fits them.

    The functions of derived attributes are for states of the world: one that expects a machine
    raises an error where there is none.
    """
    try:
        return State(schema, objects)
    except StateError:
        return None
