"""Old import paths: `from treethink.examine import examine` finds `treethink.evaluation.examine`.

`MOVED` is the table of modules that have moved. Importing an old path gives a module that looks up
each name in the modules that replaced it, so the objects are the same under both paths. Pickles
of models that name an old path can be loaded as well.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

#: Old path -> the new modules that hold its names; all below `treethink`. A submodule that is not
#: listed is looked up below the first new module of its package.
MOVED = {
    "baselines.npe_star": ["baselines.npe.hand_built"],
    "chance": ["metrics"],
    "examine": ["evaluation"],
    "experiment": ["repro.runner"],
    "explain.differences": ["explain.compare"],
    "explain.mistaken": ["explain.compare"],
    "explain.prolog": ["export.prolog"],
    "explain.reasons": ["explain.why"],
    "explain.why.reason": ["explain.why"],
    "figures": ["repro.figures"],
    "learner": ["model", "foldt"],
    "mistakes": ["evaluation"],
    "notebook": ["explain.notebook"],
    "parallel": ["stream.parallel"],
    "planning.exact": ["planning.scores"],
    "planning.film": ["planning.gif"],
    "planning.levels": ["planning.paper_levels"],
    "report": ["repro.report"],
}


class MovedModule(ModuleType):
    """The module of an old path: it has the names of the modules that replaced it."""

    def __init__(self, name: str, new_paths: Sequence[str]):
        super().__init__(name)
        self.__path__: list[str] = []  # it may have had submodules, which are listed as well
        self._new_paths = new_paths

    def __getattr__(self, name: str) -> Any:
        for path in self._new_paths:
            module = import_module(path)
            if hasattr(module, name):
                return getattr(module, name)
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")


class MovedModules(MetaPathFinder, Loader):
    """Finder and loader of modules under their old paths."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return a spec for an old path, and None for every other one."""
        return ModuleSpec(fullname, self, is_package=True) if new_paths(fullname) else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return a module that refers to the new ones."""
        module = MovedModule(spec.name, new_paths(spec.name))
        for path in new_paths(spec.name):
            import_module(path)  # an optional package that it needs is missed now, not later
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: the module is complete."""


def new_paths(fullname: str) -> list[str]:
    """Return the modules that replaced an old one; none if it has not moved.

    >>> new_paths("treethink.learner"), new_paths("treethink.figures.reproduce")
    (['treethink.model', 'treethink.foldt'], ['treethink.repro.figures.reproduce'])
    """
    package, _, old = fullname.partition(".")
    parent, _, name = old.rpartition(".")
    if package != "treethink":
        return []
    if old in MOVED:
        return [f"treethink.{new}" for new in MOVED[old]]
    return [f"{new}.{name}" for new in new_paths(f"treethink.{parent}")[:1]] if parent else []


def install() -> None:
    """Make old paths importable."""
    if not any(isinstance(finder, MovedModules) for finder in sys.meta_path):
        sys.meta_path.append(MovedModules())
