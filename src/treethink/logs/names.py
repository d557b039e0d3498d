"""Names of columns: which column is the action, which are attributes, which make up a vector.

    names of columns -> [ roles, parts, vectors ] -> what each column is for

Only names are read here. A name is matched without regard to case, spaces and hyphens.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from keyword import iskeyword

from treethink.state import Object

#: What a column can be for besides an attribute, and how it may be called; the best name is first.
ROLES: Mapping[str, tuple[str, ...]] = {
    "episode": (
        "episode", "ep", "run", "trial", "episode_id", "run_id", "trajectory", "session",
        "session_id",
    ),
    "step": (
        "step", "t", "timestep", "time_step", "tick", "time", "timestamp", "ts", "datetime",
    ),
    "action": ("action", "act", "command", "event", "operation"),
    "reward": ("reward", "rew", "r"),
    "terminated": ("terminated", "done", "terminal", "end", "ended"),
    "id": ("id", "object", "object_id", "obj"),
    "class": ("class", "class_name", "type", "kind"),
}  # fmt: skip
#: What only rows of single objects have.
OBJECT_ROLES = ("id", "class")
#: How an id may be called too, where several rows have the same step.
_NAMES_OF_OBJECTS = ("name", "object_name", "entity")
#: The class and object of columns that name no object, such as `floor`.
SYSTEM = "system"
#: Before the name of a column with the value in the state after: `next.lift.floor`.
AFTER = ("next.", "after.")

_AXES = (("x", "y", "z"), ("x", "y"), ("col", "row"), ("column", "row"))
_AXIS = re.compile(r"(?P<stem>|.+[._ ])(?P<axis>x|y|z|row|col|column)", re.IGNORECASE)
_INDEX = re.compile(r"(?P<stem>.+?)(\[(?P<index>[0-9])\]|\.(?P<other>[0-9]))")
_POSITION = "pos"


def plain(name: str) -> str:
    """Return the form in which names are compared.

    >>> plain("Time Step"), plain("lift.Next-Floor")
    ('time_step', 'lift.next_floor')
    """
    return re.sub(r"[\s\-]+", "_", name.strip()).casefold()


def find_roles(columns: Iterable[str], many_rows: bool = False) -> dict[str, str]:
    """Return the column of each role that a log has.

    `many_rows` says that several rows have the same step, so that each is an object.

    >>> find_roles(["Ep", "t", "Act", "lift.floor", "done"])
    {'episode': 'Ep', 'step': 't', 'action': 'Act', 'terminated': 'done'}
    >>> find_roles(["t", "action", "name", "type", "floor"], many_rows=True)
    {'step': 't', 'action': 'action', 'id': 'name', 'class': 'type'}
    """
    by_name = {plain(column): column for column in reversed([*columns])}
    found = {}
    for role, names in ROLES.items():
        if role == "id" and many_rows:
            names = (*names, *_NAMES_OF_OBJECTS)
        column = next((by_name[name] for name in names if name in by_name), None)
        if column is not None:
            found[role] = column
    if not many_rows and any(role not in found for role in OBJECT_ROLES):  # one row per step
        return {role: column for role, column in found.items() if role not in OBJECT_ROLES}
    return found


def split(column: str, wide: bool) -> tuple[str, str]:
    """Return the object and the attribute that a column names.

    >>> split("lift.pos.x", wide=True), split("floor", wide=True), split("pos.x", wide=False)
    (('lift', 'pos.x'), ('', 'floor'), ('', 'pos.x'))
    """
    first, dot, rest = column.partition(".")
    return (first, rest) if wide and dot and first and rest else ("", column)


def vectors(parts: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the attributes that several columns make up, each with its columns.

    >>> dict(vectors(["x", "y", "dest_col", "dest_row", "size[0]", "size[1]", "score"]))
    {'pos': ('x', 'y'), 'dest': ('dest_col', 'dest_row'), 'size': ('size[0]', 'size[1]')}
    """
    stems: dict[str, dict[str, str]] = {}
    for part in parts:
        if (match := _AXIS.fullmatch(part)) is not None:
            stems.setdefault(match["stem"], {})[match["axis"].casefold()] = part
        elif (match := _INDEX.fullmatch(part)) is not None:
            stems.setdefault(match["stem"], {})[match["index"] or match["other"]] = part
    for stem, found in stems.items():
        for axes in (*_AXES, tuple(map(str, range(len(found))))):
            if len(axes) > 1 and set(axes) == set(found):
                name = stem.rstrip("._ ") or _POSITION
                yield name, tuple(found[axis] for axis in axes)
                break


def identifier(name: str, taken: Iterable[str] = ()) -> str:
    """Return a name that an attribute can have, unlike those that are taken.

    >>> identifier("Door open"), identifier("2nd"), identifier("class"), identifier("a", ["a"])
    ('Door_open', '_2nd', 'class_', 'a_2')
    """
    text = re.sub(r"\W", "_", name.strip())
    if not text.isidentifier():
        text = f"_{text}"
    if (
        iskeyword(text)
        or text in ("id", "class_name", "values", "replace")
        or hasattr(Object, text)
    ):
        text += "_"
    unique, number, used = text, 1, set(taken)
    while unique in used:
        number += 1
        unique = f"{text}_{number}"
    return unique


def stem(name: str) -> str:
    """Return the name without a number at its end.

    >>> stem("door12"), stem("door_2"), stem("7")
    ('door', 'door', '7')
    """
    return re.sub(r"[\s_\-]*[0-9]+$", "", name) or name


def classes_of(objects: Mapping[str, frozenset[str]]) -> dict[str, str]:
    """Return a class for each object, given the attributes of each.

    Objects whose names differ by the number at their end share a class if they have the same
    attributes.

    >>> classes_of({"door1": frozenset("a"), "door2": frozenset("a"), "lift2": frozenset("b")})
    {'door1': 'door', 'door2': 'door', 'lift2': 'lift2'}
    """
    groups: dict[str, list[str]] = {}
    for name in objects:
        groups.setdefault(stem(name), []).append(name)
    alike = {
        group: len(names) > 1 and len({objects[name] for name in names}) == 1
        for group, names in groups.items()
    }
    return {name: stem(name) if alike[stem(name)] else name or SYSTEM for name in objects}
