"""Every error that TreeThink raises about its input.

Each says what was wrong, where, and what would have been right. All are
`TreeThinkError`s; each is also the built-in error that a caller might expect.
"""

import operator
from collections.abc import Iterable
from difflib import get_close_matches


class TreeThinkError(Exception):
    """Base of all errors of this package."""


def shown(value: object) -> str:
    """A value for a message: its repr, shortened, and never failing."""
    try:
        text = repr(value)
    except Exception:  # a repr may do anything; of an int with too many digits it is refused
        return f"<{type(value).__name__}>"
    return text if len(text) <= 100 else f"{text[:100]}..."


class UnknownNameError(TreeThinkError, LookupError):
    """A name that the schema, the registry or a file does not know.

    `advice` is given where no known name is near.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str], where: str, advice: str = ""):
        known = sorted(known)
        folded = {each.casefold(): each for each in known}  # another case is no other name
        close = get_close_matches(name, known, n=1) or [
            folded[each] for each in get_close_matches(name.casefold(), folded, n=1)
        ]
        hint = f" Did you mean {close[0]!r}?" if close else ""
        listed = ", ".join(repr(each) for each in known) or "none"
        more = f" {advice}" if advice and not close else ""
        super().__init__(f"unknown {kind} {name!r} in {where}.{hint} Known: {listed}.{more}")
        self.kind = kind
        self.name = name
        self.known = tuple(known)
        self.where = where
        self.advice = advice

    def __reduce__(self) -> tuple[type, tuple[str, str, tuple[str, ...], str, str]]:
        return type(self), (self.kind, self.name, self.known, self.where, self.advice)


class WrongTypeError(TreeThinkError, TypeError):
    """An argument of a type that the call cannot use."""


class SchemaError(TreeThinkError, ValueError):
    """A schema that contradicts itself."""


class StateError(TreeThinkError, ValueError):
    """Objects that do not fit their schema, or an object that a state does not have."""


class TransitionError(TreeThinkError, ValueError):
    """Two states that are not before and after of one transition."""


class RuleError(TreeThinkError, ValueError):
    """A rule, or a part of one, that cannot be."""


class SettingError(TreeThinkError, ValueError):
    """A setting outside of its range."""


class ModelFileError(TreeThinkError, ValueError):
    """A file that is no model, is damaged, or was written by a newer version."""


class StreamError(TreeThinkError, RuntimeError):
    """A stream that broke off in another process."""


class RecordsError(TreeThinkError, ValueError):
    """A folder or file of records that is none, is damaged, or was written by a newer version."""


class ResourceError(TreeThinkError, RuntimeError):
    """A learner that would take more memory or time than it may."""


class CheckFailed(TreeThinkError, AssertionError):  # noqa: N818  # it is a verdict
    """A world or a learner that breaks a promise. See `treethink.checks`."""


class MissingPackageError(TreeThinkError, ImportError):
    """A package that only some parts need, and that is not installed."""


def whole_number(name: str, value: object, least: int = 0) -> int:
    """A setting that counts something, as an int of our own; or one clear error."""
    try:
        number = None if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = None
    if number is None:
        raise SettingError(f"{name} must be a whole number, got {shown(value)}")
    if number < least:
        raise SettingError(f"{name} must be at least {least}, got {shown(number)}")
    return number
