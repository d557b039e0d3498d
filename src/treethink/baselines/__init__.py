"""Baseline learners, by name, with the same interface as `TreeThink`.

    world -> [ learner ] -> prediction -> metric

A new learner is one file beside this one and one line in `LEARNERS`. A learner of your own is named
by its location, `package.module:Class`. Such a location comes from whoever makes a learner or runs
a config. Names in learner files and checkpoints are compared, and never imported: a file must not
decide what code is run. Neural learners need PyTorch, and are imported on first use; `hoeffding`
needs River when it is made.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, MutableMapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from treethink.baselines.base import SavedToFile
from treethink.baselines.hoeffding import Hoeffding
from treethink.baselines.memoriser import Memoriser
from treethink.baselines.nearest import NearestNeighbours
from treethink.baselines.paper import Paper
from treethink.baselines.qora import Qora
from treethink.baselines.trivial import Oracle, Static
from treethink.errors import (
    SettingError,
    UnknownNameError,
    WrongTypeError,
    missing_package,
    shown,
)
from treethink.model import ABLATION, TreeThink
from treethink.plugins import load_object
from treethink.state import Schema
from treethink.stream.random_play import check_world_type
from treethink.worlds import World

#: The methods that every learner has.
VERBS = ("observe", "predict", "save", "load")


class _Learners(MutableMapping[str, type]):
    """Learner classes by name. Some are given by their location, and imported on first use."""

    def __init__(self, known: Mapping[str, type | str]):
        self._known = dict(known)

    def __getitem__(self, name: str) -> type:
        learner = self._known[name]
        if isinstance(learner, str):
            learner = self._known[name] = _import_class(name, learner)
        return learner

    def __setitem__(self, name: str, learner: type) -> None:
        self._known[name] = learner

    def __delitem__(self, name: str) -> None:
        del self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


def _import_class(name: str, location: str) -> type:
    module, _, class_name = location.partition(":")
    try:
        learner: type = getattr(import_module(f"{__name__}.{module}"), class_name)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "torch":
            raise
        raise missing_package(f"learner {name!r} needs PyTorch", "neural") from None
    return learner


LEARNERS: MutableMapping[str, type] = _Learners(
    {
        each.name: each
        for each in (
            TreeThink,
            Static,
            Oracle,
            Memoriser,
            NearestNeighbours,
            Hoeffding,
            Paper,
            Qora,
        )
    }
    | {"npe": "npe.learner:NPE", "npe-star": "npe.hand_built:HandBuilt"}
)

__all__ = [
    "LEARNERS",
    "make_learner",
    "TreeThink",
    "Static",
    "Oracle",
    "Memoriser",
    "NearestNeighbours",
    "Hoeffding",
    "Paper",
    "Qora",
]


def make_learner(name: str, world: World, **settings: Any) -> Any:
    """Return a new learner of that name for a world.

    A name with a colon is the location of a class of your own, `package.module:Class`. It is called
    with the world's schema and the settings.

    >>> from treethink.worlds import make
    >>> make_learner("paper", make("walls"), alpha=0.05)
    <Paper: 0 observations, 0 rules vary>
    >>> make_learner("papers", make("walls"))
    Traceback (most recent call last):
    treethink.errors.UnknownNameError: unknown learner 'papers' ... Did you mean 'paper'? ...
    >>> make_learner("paper", make("walls"), alhpa=0.05)
    Traceback (most recent call last):
    treethink.errors.SettingError: learner 'paper' has no setting 'alhpa'. ... It has: 'alpha'.
    """
    if not isinstance(name, str):
        raise WrongTypeError(f"a learner is made by its name, got {shown(name)}")
    check_world_type(world, "a learner")
    if ":" in name:
        return _make_own_learner(name, load_learner_class(name), world.schema, settings)
    if name not in LEARNERS:
        raise UnknownNameError("learner", name, LEARNERS, "the registry of learners")
    learner = LEARNERS[name]
    _check_settings(name, learner, settings)
    return learner(world if learner is Oracle else world.schema, **settings)


def _check_settings(name: str, learner: type, settings: dict[str, Any]) -> None:
    parameters = inspect.signature(learner).parameters.values()
    known = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY]
    known += ABLATION if any(each.kind is each.VAR_KEYWORD for each in parameters) else ()
    for each in settings:
        if each not in known:
            close = get_close_matches(each, known, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            listed = ", ".join(map(repr, known)) or "none"
            raise SettingError(f"learner {name!r} has no setting {each!r}.{hint} It has: {listed}.")


# ------------------------------------------------------------------ learners of one's own


def load_learner_class(location: str) -> type:
    """Return the learner class at `module:Class`."""
    learner = load_object(location, "learner", "mylearners.trees:Forest")
    _check_learner_class(location, learner)
    return learner  # type: ignore[no-any-return]


def _check_learner_class(location: str, learner: object) -> None:
    if not isinstance(learner, type):
        raise WrongTypeError(f"{location!r} must be a class of learners, got {shown(learner)}")
    missing = [verb for verb in VERBS if not callable(getattr(learner, verb, None))]
    if missing:
        raise WrongTypeError(
            f"{location!r} is no learner: it has no {', '.join(missing)}; a learner has"
            f" {', '.join(VERBS)}"
        )
    if inspect.isabstract(learner):
        left = ", ".join(sorted(getattr(learner, "__abstractmethods__", ())))
        raise WrongTypeError(f"{location!r} cannot be made: it leaves {left} to be implemented")
    if issubclass(learner, SavedToFile) and not isinstance(getattr(learner, "name", None), str):
        raise WrongTypeError(f'{location!r} has no name; its files need one: name = "..."')


def _make_own_learner(
    location: str, learner: type, schema: Schema, settings: Mapping[str, Any]
) -> Any:
    """Return a learner of that class; raise a `SettingError` if it does not take the settings."""
    try:
        if "self" in settings:
            raise TypeError("there is no setting 'self'")
        inspect.signature(learner).bind(schema, **settings)
    except (TypeError, ValueError) as error:
        raise SettingError(
            f"{location!r} cannot be made with a schema and the settings {dict(settings)}: {error}"
        ) from None
    return learner(schema, **settings)
