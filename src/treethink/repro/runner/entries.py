"""The entry of a run: what was run and how it went, as a table of JSON.

    Run, how it went -> [ entry ] -> file -> [ checked ] -> entry

Files may be damaged, edited or written by other programs, so entries are checked when read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from treethink.errors import RecordsError, shown
from treethink.file import is_plain_name
from treethink.repro.runner.scores import check_scored
from treethink.repro.runner.spec import Run

Entry = dict[str, Any]

STATUSES = ("finished", "stopped", "failed", "missing")
#: What an entry says about how a run went, with the values of a run that has not been performed.
_UNKNOWN: Mapping[str, Any] = {
    "status": "missing",
    "message": "",
    "observed": 0,
    "last_error": None,
    "seconds": 0.0,
    "examined": None,
    "examined_transfer": None,
    "planned": None,
    "scored": None,
    "commit": None,
    "traceback": None,
}
#: Keys whose values are tables, or null.
_TABLES = ("transfer", "examined", "examined_transfer", "planned", "scored")
#: Keys that older entries lack, with the values that these entries stand for.
ADDED_LATER: Mapping[str, Any] = {"plans": {}, "planned": None, "score": 0, "scored": None}


def entry(run: Run, **values: Any) -> Entry:
    """Return the entry of a run; values that are not given are those of a missing run."""
    return {**run.to_dict(), **_UNKNOWN, **values}


def flat(entry: Mapping[str, Any]) -> Entry:
    """Return an entry with names with dots in place of nested tables; empty ones are left out.

    >>> flat({"seed": 0, "options": {"width": 5}, "settings": {}, "examined": None})
    {'seed': 0, 'options.width': 5}
    """
    result: Entry = {}
    for name, value in entry.items():
        if isinstance(value, Mapping):
            result |= {f"{name}.{inner}": each for inner, each in flat(value).items()}
        elif value is not None or name not in _TABLES:
            result[name] = value
    return result


def checked(value: object, where: str) -> Entry:
    """Return the value if it is a valid entry; else raise an error. `where` names its place."""
    if not isinstance(value, dict):
        raise RecordsError(f"{where} must be the entry of a run, got {shown(value)}")
    for name, kind in _REQUIRED.items():
        if name not in value:
            raise RecordsError(f"{where}: {name!r} is missing")
        _check(value[name], kind, f"{where}, {name}")
    for name, kind in _OPTIONAL.items():
        if name in value:
            _check(value[name], kind, f"{where}, {name}")
    _check_examined(value, where)
    for whole, kinds in (("plans", _PLAN), ("planned", _PLANNED)):
        for label, each in (value.get(whole) or {}).items():
            _check_all(each, kinds, f"{where}, {whole}, {label}")
    if (wrong := check_scored(value.get("scored") or {})) is not None:
        raise RecordsError(f"{where}, scored, {wrong}")
    return value


def _check_examined(entry: Entry, where: str) -> None:
    for name, kind in _EXAMINED.items():
        if entry["examined"] is not None and name not in entry["examined"]:
            raise RecordsError(f"{where}, examined: {name!r} is missing")
        for whole in ("examined", "examined_transfer"):
            if name in (entry.get(whole) or {}):
                _check(entry[whole][name], kind, f"{where}, {whole}, {name}")


# -------------------------------------------------------------------------- accepted values

#: A kind of value: its description, and a function that recognises it.
Kind = tuple[str, Callable[[Any], bool]]


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < 2**63


_TEXT: Kind = ("a text", lambda value: isinstance(value, str))
_COUNT: Kind = ("a whole number of at least 0, of 64 bits", _is_count)
_AMOUNT: Kind = (
    "a finite number of at least 0",
    lambda value: _is_count(value) or (type(value) is float and 0 <= value < math.inf),
)
_TABLE: Kind = ("a table", lambda value: isinstance(value, dict))
_FLAG: Kind = ("true or false", lambda value: isinstance(value, bool))
_NUMBER: Kind = (
    "a finite number",
    lambda value: type(value) in (int, float) and -math.inf < value < math.inf,
)


def _or_null(kind: Kind) -> Kind:
    description, fits = kind
    return f"{description} or null", lambda value: value is None or fits(value)


_REQUIRED: Mapping[str, Kind] = {
    "key": ("the name of a file", is_plain_name),
    "status": (f"one of {', '.join(STATUSES)}", lambda value: value in STATUSES),
    **dict.fromkeys(("world", "learner", "label", "message"), _TEXT),
    **dict.fromkeys(("seed", "steps", "observed"), _COUNT),
    **dict.fromkeys(("options", "settings", "predict"), _TABLE),
    "last_error": _or_null(_COUNT),
    "seconds": _AMOUNT,
    "examined": _or_null(_TABLE),
}
_OPTIONAL: Mapping[str, Kind] = {
    **dict.fromkeys(("window", "episode", "examine", "score"), _COUNT),
    **dict.fromkeys(("transfer", "examined_transfer", "planned", "scored"), _or_null(_TABLE)),
    "plans": _TABLE,
    **dict.fromkeys(("commit", "traceback"), _or_null(_TEXT)),
    "limits": _TABLE,
}
_EXAMINED: Mapping[str, Kind] = {
    **dict.fromkeys(("held_out", "exact", "right_mode", "plausible"), _COUNT),
    **dict.fromkeys(("scenes", "wrong_scenes"), _COUNT),
    "mean_error": _AMOUNT,
    "learned": _FLAG,
}
_PLAN: Mapping[str, Kind] = {
    "world": _TEXT,
    "options": _TABLE,
    **dict.fromkeys(("steps", "episodes", "simulations"), _COUNT),
    "every": _or_null(_COUNT),
}
_PLANNED: Mapping[str, Kind] = {
    "mean": _NUMBER,
    **dict.fromkeys(("deviation", "seconds"), _AMOUNT),
    **dict.fromkeys(("episodes", "redrawn"), _COUNT),
}


def _check_all(table: object, kinds: Mapping[str, Kind], where: str) -> None:
    """Check a table that must have all of these keys."""
    _check(table, _TABLE, where)
    assert isinstance(table, dict)
    for name, kind in kinds.items():
        if name not in table:
            raise RecordsError(f"{where}: {name!r} is missing")
        _check(table[name], kind, f"{where}, {name}")


def _check(value: object, kind: Kind, where: str) -> None:
    description, fits = kind
    if not fits(value):
        raise RecordsError(f"{where} must be {description}, got {shown(value)}")
