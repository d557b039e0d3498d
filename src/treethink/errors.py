"""The errors that TreeThink raises about its input.

Each message says what was wrong, where, and what is accepted. All are `TreeThinkError`s, and each
is also a suitable built-in error.
"""

import operator
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

__all__ = [
    "BrokenModelError",
    "CheckFailed",
    "MissingPackageError",
    "ModelFileError",
    "NoiseWarning",
    "RecordsError",
    "ResourceError",
    "RuleError",
    "SceneError",
    "SchemaError",
    "SettingError",
    "StateError",
    "StreamError",
    "TransitionError",
    "TreeThinkError",
    "UnknownNameError",
    "WrongTypeError",
]

_MOST_NAMES = 20  # that a message lists
_NEAREST = 6  # of more names


class TreeThinkError(Exception):
    """Base of all errors of this package."""


def shown(value: object) -> str:
    """Return the repr of a value for a message: shortened, and without raising errors."""
    try:
        text = repr(value)
    except Exception:  # a repr may fail, such as that of an int with too many digits
        return f"<{type(value).__name__}>"
    return text if len(text) <= 100 else f"{text[:100]}..."


def nearest_name(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most similar to a name; None if none is similar."""
    known = sorted(known)
    folded = {each.casefold(): each for each in known}  # case-insensitive
    close = get_close_matches(name, known, n=1) or [
        folded[each] for each in get_close_matches(name.casefold(), folded, n=1)
    ]
    return close[0] if close else None


def _nearest_first(name: str, known: Sequence[str]) -> str:
    """Return the known names; of many, the most similar ones and how many more there are.

    >>> _nearest_first("lfet", ["left", "right"])
    "'left', 'right'"
    """
    if len(known) <= _MOST_NAMES:
        return ", ".join(map(repr, known)) or "none"
    nearest = get_close_matches(name, known, n=_NEAREST, cutoff=0)
    return f"{', '.join(map(repr, nearest))} and {len(known) - len(nearest):,} more"


def names_accepted(names: Sequence[str], value: object) -> str:
    """Return the names that an attribute takes, with the one most similar to a wrong value.

    >>> names_accepted(["cola", "water"], "Colla")
    "one of 'cola', 'water' or a number from 0 to 1 (did you mean 'cola'?)"
    """
    listed = ", ".join(map(repr, names[:_MOST_NAMES]))
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    close = nearest_name(value, names) if isinstance(value, str) else None
    advice = f" (did you mean {close!r}?)" if close else ""
    return f"one of {listed}{more} or a number from 0 to {len(names) - 1}{advice}"


class UnknownNameError(TreeThinkError, LookupError):
    """A name that is not in the schema, the registry or the file.

    `advice` is added to the message if no known name is similar.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str], where: str, advice: str = ""):
        known = sorted(known)
        close = nearest_name(name, known)
        hint = f" Did you mean {close!r}?" if close else ""
        more = f" {advice}" if advice and not close else ""
        listed = _nearest_first(name, known)
        super().__init__(f"unknown {kind} {name!r} in {where}.{hint} Known: {listed}.{more}")
        self.kind = kind
        self.name = name
        self.known = tuple(known)
        self.where = where
        self.advice = advice

    def __reduce__(self) -> tuple[type, tuple[str, str, tuple[str, ...], str, str]]:
        return type(self), (self.kind, self.name, self.known, self.where, self.advice)


class WrongTypeError(TreeThinkError, TypeError):
    """An argument of a wrong type."""


class SchemaError(TreeThinkError, ValueError):
    """A schema that contradicts itself."""


class StateError(TreeThinkError, ValueError):
    """Objects that do not fit their schema, or an object that a state does not have."""


class TransitionError(TreeThinkError, ValueError):
    """Two states that cannot be the states before and after a transition."""


class RuleError(TreeThinkError, ValueError):
    """A rule, or a part of one, that is not valid."""


class SettingError(TreeThinkError, ValueError):
    """A setting outside of its range."""


class ModelFileError(TreeThinkError, ValueError):
    """A file that is not a model file, is damaged, or was written by a newer version."""


class StreamError(TreeThinkError, RuntimeError):
    """A stream that failed in another process."""


class LogError(TreeThinkError, ValueError):
    """A log of transitions that cannot be read, or a schema file that is not valid."""


class RecordsError(TreeThinkError, ValueError):
    """Records that are missing, damaged, or written by a newer version."""


class ResourceError(TreeThinkError, RuntimeError):
    """A computation that would take more memory or time than allowed."""


class BrokenModelError(TreeThinkError, RuntimeError):
    """A model that a change has left half-way, so that nothing in it can be relied on."""


class NoiseWarning(UserWarning):
    """A rule has had so many different outcomes that it looks like noise (`max_outcomes`)."""


class SceneError(TreeThinkError, ValueError):
    """A scene of a world with a syntax error."""


class CheckFailed(TreeThinkError, AssertionError):  # noqa: N818  # reads as a verdict
    """A world or a learner that breaks a contract. See `treethink.checks`."""


class MissingPackageError(TreeThinkError, ImportError):
    """An optional package that is needed and not installed."""


def how_to_install(extra: str) -> str:
    """Return how the packages of an optional extra are installed.

    >>> print(how_to_install("gym"))
    pip install '.[gym]' in a clone of TreeThink
    """
    return f"pip install '.[{extra}]' in a clone of TreeThink"


def missing_package(need: str, extra: str) -> MissingPackageError:
    """Return an error that says what needs which package, and how to install it.

    >>> print(missing_package("GIFs need Pillow", "experiments"))
    GIFs need Pillow, which is not installed: pip install '.[experiments]' in a clone of TreeThink
    """
    return MissingPackageError(f"{need}, which is not installed: {how_to_install(extra)}")


def whole_number(name: str, value: object, least: int = 0) -> int:
    """Return a setting as a plain int; raise a `SettingError` if it is not one, or too small."""
    is_bool = type(value).__name__ in ("bool", "bool_")  # NumPy 1 converts its bools, too
    try:
        number = None if is_bool else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = None
    if number is None:
        raise SettingError(f"{name} must be a whole number, got {shown(value)}")
    if number < least:
        raise SettingError(f"{name} must be at least {least}, got {shown(number)}")
    return number
