"""What is said of one run, and whether something that was read says it.

    Run, how it went -> entry -> file -> [ checked ] -> entry

Files may be damaged, edited or made by others: nothing of them is believed before it is checked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from treethink.errors import RecordsError, shown
from treethink.file import is_plain_name
from treethink.repro.runner.spec import Run

Entry = dict[str, Any]

STATUSES = ("finished", "stopped", "failed", "missing")
#: What an entry says of how a run went, and what it says of one that has not.
_UNKNOWN: Mapping[str, Any] = {
    "status": "missing",
    "message": "",
    "observed": 0,
    "last_error": None,
    "seconds": 0.0,
    "examined": None,
    "examined_transfer": None,
    "planned": None,
    "commit": None,
    "traceback": None,
}
#: What is a table, or null where there is none.
_TABLES = ("transfer", "examined", "examined_transfer", "planned")
#: What entries did not say before there were plans.
NEWER: Mapping[str, Any] = {"plans": {}, "planned": None}


def entry(run: Run, **told: Any) -> Entry:
    """What is said of a run; what is not told is unknown."""
    return {**run.to_dict(), **_UNKNOWN, **told}


def flat(told: Mapping[str, Any]) -> Entry:
    """An entry without tables in it: what they say has names with dots. Empty ones say nothing.

    >>> flat({"seed": 0, "options": {"width": 5}, "settings": {}, "examined": None})
    {'seed': 0, 'options.width': 5}
    """
    found: Entry = {}
    for name, value in told.items():
        if isinstance(value, Mapping):
            found |= {f"{name}.{inner}": each for inner, each in flat(value).items()}
        elif value is not None or name not in _TABLES:
            found[name] = value
    return found


def checked(found: object, where: str) -> Entry:
    """The entry that was found; or one clear error. `where` names file and place."""
    if not isinstance(found, dict):
        raise RecordsError(f"{where} must be the entry of a run, got {shown(found)}")
    for name, kind in _REQUIRED.items():
        if name not in found:
            raise RecordsError(f"{where}: {name!r} is missing")
        _check(found[name], kind, f"{where}, {name}")
    for name, kind in _OPTIONAL.items():
        if name in found:
            _check(found[name], kind, f"{where}, {name}")
    for name, kind in _EXAMINED.items():
        examined = found["examined"]
        if examined is not None and name not in examined:
            raise RecordsError(f"{where}, examined: {name!r} is missing")
        for whole in ("examined", "examined_transfer"):
            if name in (found.get(whole) or {}):
                _check(found[whole][name], kind, f"{where}, {whole}, {name}")
    for whole, kinds in (("plans", _PLAN), ("planned", _PLANNED)):
        for label, told in (found.get(whole) or {}).items():
            _check_all(told, kinds, f"{where}, {whole}, {label}")
    return found


# ----------------------------------------------------------------------- what may be there

#: What a value must be, in words, and whether it is.
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
    says, fits = kind
    return f"{says} or null", lambda value: value is None or fits(value)


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
    **dict.fromkeys(("window", "episode", "examine"), _COUNT),
    **dict.fromkeys(("transfer", "examined_transfer", "planned"), _or_null(_TABLE)),
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


def _check_all(found: object, kinds: Mapping[str, Kind], where: str) -> None:
    """A table that must have all of these."""
    _check(found, _TABLE, where)
    assert isinstance(found, dict)
    for name, kind in kinds.items():
        if name not in found:
            raise RecordsError(f"{where}: {name!r} is missing")
        _check(found[name], kind, f"{where}, {name}")


def _check(value: object, kind: Kind, where: str) -> None:
    says, fits = kind
    if not fits(value):
        raise RecordsError(f"{where} must be {says}, got {shown(value)}")
