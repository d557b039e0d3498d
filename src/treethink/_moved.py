"""Old import paths of public names: `import treethink.examine` gives `treethink.evaluation`.

One table of modules that have moved. Importing an old path loads the module that replaced it; both
names then stand for the same module object.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

#: Old path -> new path, both below `treethink`.
MOVED = {
    "examine": "evaluation",
    "experiment": "repro.runner",
    "explain.differences": "explain.compare",
    "explain.mistaken": "explain.compare",
    "explain.reasons": "explain.why",
    "figures": "repro.figures",
    "learner": "model",
    "parallel": "stream.parallel",
    "report": "repro.report",
}


class MovedModules(MetaPathFinder, Loader):
    """Finds a module, and what is below it, under its old path."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return a spec for an old path, and None for every other one."""
        return ModuleSpec(fullname, self) if new_path(fullname) else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Load the module under its new path."""
        module = import_module(new_path(spec.name) or spec.name)
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Give the module, which is loaded already, its own spec back."""
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state


def new_path(fullname: str) -> str | None:
    """Return where a module is now, or None if it has not moved."""
    package, _, old = fullname.partition(".")
    for start, now in MOVED.items():
        if package == "treethink" and (old == start or old.startswith(f"{start}.")):
            return f"treethink.{now}{old[len(start) :]}"
    return None


def install() -> None:
    """Let old paths be imported from now on."""
    if not any(isinstance(finder, MovedModules) for finder in sys.meta_path):
        sys.meta_path.insert(0, MovedModules())  # before a submodule is found a second time
