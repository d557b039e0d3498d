"""Learners to compare with, by name, behind the same verbs as `TreeThink`.

    world -> [ learner ] -> prediction -> metric

A new learner is one file beside this one and one line in `LEARNERS`. One of your own, elsewhere,
is `module:Class`. Those of neural networks need PyTorch, and are imported when they are asked for.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
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
from treethink.learner import TreeThink
from treethink.stream import check_world_type
from treethink.worlds import World

_HERE: dict[str, type] = {each.name: each for each in (TreeThink, Static, Oracle, Paper, Qora)}
_NEURAL = {"npe": "npe:NPE", "npe-star": "npe_star:HandBuilt"}


class _Learners(Mapping[str, type]):
    """Classes by name, of which the neural ones are imported when they are looked up."""

    def __getitem__(self, name: str) -> type:
        if name in _HERE:
            return _HERE[name]
        module, _, found = _NEURAL[name].partition(":")
        try:
            learner = getattr(import_module(f"{__name__}.{module}"), found)
        except ModuleNotFoundError as error:
            if error.name is None or error.name.partition(".")[0] != "torch":
                raise
            raise MissingPackageError(
                f"learner {name!r} needs PyTorch: pip install 'treethink[neural]'"
            ) from None
        assert isinstance(learner, type)
        return learner

    def __iter__(self) -> Iterator[str]:
        yield from _HERE
        yield from _NEURAL

    def __len__(self) -> int:
        return len(_HERE) + len(_NEURAL)


LEARNERS: Mapping[str, type] = _Learners()

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
