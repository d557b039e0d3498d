"""Learners to compare with, by name, behind the same verbs as `TreeThink`.

    world -> [ learner ] -> prediction -> metric

A new learner is one file beside this one and one line in `LEARNERS`. One of your own, elsewhere,
is `module:Class`. Those of neural networks need PyTorch, and are imported when they are asked for.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, MutableMapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from treethink.baselines.own import found_learner, made_learner
from treethink.baselines.paper import Paper
from treethink.baselines.qora import Qora
from treethink.baselines.trivial import Oracle, Static
from treethink.errors import (
    MissingPackageError,
    SettingError,
    UnknownNameError,
    WrongTypeError,
    shown,
)
from treethink.model import TreeThink
from treethink.stream.random_play import check_world_type
from treethink.worlds import World


class _Learners(MutableMapping[str, type]):
    """Classes by name. Of some only the place is known, until they are looked up."""

    def __init__(self, known: Mapping[str, type | str]):
        self._known = dict(known)

    def __getitem__(self, name: str) -> type:
        learner = self._known[name]
        if isinstance(learner, str):
            learner = self._known[name] = _imported(name, learner)
        return learner

    def __setitem__(self, name: str, learner: type) -> None:
        self._known[name] = learner

    def __delitem__(self, name: str) -> None:
        del self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


def _imported(name: str, place: str) -> type:
    module, _, found = place.partition(":")
    try:
        learner: type = getattr(import_module(f"{__name__}.{module}"), found)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "torch":
            raise
        raise MissingPackageError(
            f"learner {name!r} needs PyTorch: pip install 'treethink[neural]'"
        ) from None
    return learner


LEARNERS: MutableMapping[str, type] = _Learners(
    {each.name: each for each in (TreeThink, Static, Oracle, Paper, Qora)}
    | {"npe": "npe.npe:NPE", "npe-star": "npe.hand_built:HandBuilt"}
)

__all__ = ["LEARNERS", "make_learner", "TreeThink", "Static", "Oracle", "Paper", "Qora"]


def make_learner(name: str, world: World, **settings: Any) -> Any:
    """A learner of that name for a world.

    A name with a colon is where to find one of your own: `package.module:Class`, which is made
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
        return made_learner(name, found_learner(name), world.schema, settings)
    if name not in LEARNERS:
        raise UnknownNameError("learner", name, LEARNERS, "the registry of learners")
    learner = LEARNERS[name]
    _check_settings(name, learner, settings)
    return learner(world if learner is Oracle else world.schema, **settings)


def _check_settings(name: str, learner: type, settings: dict[str, Any]) -> None:
    parameters = inspect.signature(learner).parameters.values()
    known = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY]
    for each in settings:
        if each not in known:
            close = get_close_matches(each, known, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            listed = ", ".join(map(repr, known)) or "none"
            raise SettingError(f"learner {name!r} has no setting {each!r}.{hint} It has: {listed}.")
