"""The smallest state that still has a property, by delta debugging.

In a level of fifty objects it is hard to see which of them matter. So objects are removed, many at
once while that works, until none of the rest can be removed.
"""

from __future__ import annotations

from collections.abc import Callable

from treethink.state import State


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
            if holds(State(state.schema, fewer)):
                objects = fewer
            else:
                start += chunk
        if chunk == 1 and len(objects) == before:
            return State(state.schema, objects)
        chunk = max(chunk // 2, 1)
