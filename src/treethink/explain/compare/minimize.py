"""The smallest state that still shows something.

A level of fifty objects hides what matters in it. So objects are removed, many at once as long
as that goes, until none of those left can go.
"""

from __future__ import annotations

from collections.abc import Callable

from treethink.state import State


def smallest(state: State, still: Callable[[State], bool]) -> State:
    """The state without all objects that are not needed for `still` to say yes.

    >>> from treethink import Object, Schema
    >>> schema = Schema({"lamp": ["on"]}, {"on": 1}, [])
    >>> lamps = State(schema, [Object(i, "lamp", on=i % 3) for i in range(20)])
    >>> smallest(lamps, lambda some: 4 in some and 7 in some)
    State([Object(4, 'lamp', on=1), Object(7, 'lamp', on=1)])
    """
    objects = list(state)
    chunk = max(len(objects) // 2, 1)
    while True:
        start, before = 0, len(objects)
        while start < len(objects):
            fewer = objects[:start] + objects[start + chunk :]
            if still(State(state.schema, fewer)):
                objects = fewer
            else:
                start += chunk
        if chunk == 1 and len(objects) == before:
            return State(state.schema, objects)
        chunk = max(chunk // 2, 1)
