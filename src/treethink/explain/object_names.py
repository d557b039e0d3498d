"""How texts call objects: by class and id, or by the names that a log gives them.

state, id -> [ object_names ] -> "player 50", "lift"
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType

from treethink.state import State

_NAMES: ContextVar[Mapping[int, str]] = ContextVar("_NAMES", default=MappingProxyType({}))


@contextmanager
def named_objects(names: Mapping[int, str]) -> Iterator[None]:
    """Let texts call objects by these names, by id, such as `Log.names`.

    >>> from treethink import read_frame
    >>> log = read_frame({"action": ["up", ""], "door1.open": [0, 1], "door2.open": [0, 0]})
    >>> with named_objects(log.names):
    ...     object_name(log.last_state, 1)
    'door2'
    >>> object_name(log.last_state, 1)
    'door 1'
    """
    token = _NAMES.set(names)
    try:
        yield
    finally:
        _NAMES.reset(token)


def object_name(state: State, object_id: int | None) -> str:
    """Name an object by its own name if it has one, otherwise by its class and id."""
    assert object_id is not None
    class_name = state[object_id].class_name
    name = _NAMES.get().get(object_id)
    if name is None:
        return f"{class_name} {object_id}"
    return name if name.startswith(class_name) else f"{class_name} {name}"
