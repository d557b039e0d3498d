"""Learners of one's own, found by where they are: `package.module:Class`.

A name comes from whoever makes a learner or runs a config. Names in files of learners and in
checkpoints are compared, and never followed: a file must not say what is imported.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from treethink.baselines.base import Filed
from treethink.errors import SettingError, WrongTypeError, shown
from treethink.plugins import found_at
from treethink.state import Schema

#: What is asked of every learner.
VERBS = ("observe", "predict", "save", "load")


def found_learner(name: str) -> type:
    """The class at `module:Class`."""
    found = found_at(name, "learner", "mylearners.trees:Forest")
    _check_class(name, found)
    return found  # type: ignore[no-any-return]


def made_learner(name: str, learner: type, schema: Schema, settings: Mapping[str, Any]) -> Any:
    """One of that class; what it cannot be made with is said before it is."""
    try:
        if "self" in settings:
            raise TypeError("there is no setting 'self'")
        inspect.signature(learner).bind(schema, **settings)
    except (TypeError, ValueError) as error:
        raise SettingError(
            f"{name!r} cannot be made with a schema and the settings {dict(settings)}: {error}"
        ) from None
    return learner(schema, **settings)


def _check_class(name: str, found: object) -> None:
    if not isinstance(found, type):
        raise WrongTypeError(f"{name!r} must be a class of learners, got {shown(found)}")
    missing = [verb for verb in VERBS if not callable(getattr(found, verb, None))]
    if missing:
        raise WrongTypeError(
            f"{name!r} is no learner: it has no {', '.join(missing)}; a learner has"
            f" {', '.join(VERBS)}"
        )
    if inspect.isabstract(found):
        left = ", ".join(sorted(getattr(found, "__abstractmethods__", ())))
        raise WrongTypeError(f"{name!r} cannot be made: it leaves {left} to be implemented")
    if issubclass(found, Filed) and not isinstance(getattr(found, "name", None), str):
        raise WrongTypeError(f'{name!r} has no name; its files need one: name = "..."')
