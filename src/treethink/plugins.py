"""Load worlds and learners of one's own by their location, `package.module:name`.

Loading one runs its module, so a location is code, and so is every file that holds one.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from treethink.errors import SettingError, shown

#: Where the modules of locations are searched; "none" refuses all locations.
Search = Literal["installed", "working folder", "none"]
_added: list[str] = []  # to `sys.path`: the working folder, or none
_search: ContextVar[Search] = ContextVar("search", default="installed")


@contextmanager
def searched(search: Search) -> Iterator[None]:
    """Search modules there while this lasts.

    With "working folder", modules in the working folder can be loaded too. It is searched last and
    only once a location is used, so no file in it can take the place of an installed module.
    """
    token = _search.set(search)
    try:
        yield
    finally:
        _search.reset(token)


def _add_working_folder() -> None:
    """Let modules in the working folder be found, after all others.

    It stays there, because modules may import others later. If the process has changed its folder
    since an earlier call, the folder of that call leaves.
    """
    folder = os.getcwd()
    while _added and (earlier := _added.pop()) in sys.path:
        sys.path.remove(earlier)
    if folder not in sys.path:
        sys.path.append(folder)
        _added.append(folder)


def load_object(location: str, kind: str, example: str) -> Any:
    """Return the object at `module:name`. Errors raised inside its module are not hidden.

    >>> load_object("math:tau", "number", "math:pi")
    6.283185307179586
    """
    module_name, _, attribute = location.partition(":")
    if module_name.endswith(".py") or not all(map(str.isidentifier, module_name.split("."))):
        raise SettingError(
            f"a {kind} of your own is given as module:name, {_advice(location, example)},"
            f" got {location!r}"
        )
    if _search.get() == "none":
        raise SettingError(
            f"the {kind} {location!r} is code of your own, which --no-plugins refuses to load"
        )
    if _search.get() == "working folder":
        _add_working_folder()
    try:
        value: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise
        hint = _did_you_mean(module_name, _modules_in_working_folder())
        raise SettingError(f"there is no {kind} at {location!r}: {error}{hint}") from error
    for part in attribute.split("."):
        if not hasattr(value, part):
            hint = _did_you_mean(part, dir(value))
            where = value.__name__ if isinstance(value, ModuleType) else shown(value)
            raise SettingError(f"there is no {kind} at {location!r}: no {part!r} in {where}{hint}")
        value = getattr(value, part)
    return value


def _advice(location: str, example: str) -> str:
    """Return an example of a location; for a path, the location that it stands for."""
    path, _, name = location.replace("\\", "/").rpartition(":")
    folder, _, file = path.rpartition("/")
    module = file.removesuffix(".py")
    if not file.endswith(".py") or not module.isidentifier() or not name:
        return f"such as {example}"
    return f"here {module}:{name}" + (f" in the folder {folder}" if folder else "")


def _modules_in_working_folder() -> list[str]:
    if _search.get() != "working folder":
        return []
    return [each.stem for each in Path.cwd().glob("*.py")]


def _did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a hint at the nearest public name, or nothing."""
    close = get_close_matches(name, [each for each in known if not each.startswith("_")], n=1)
    return f". Did you mean {close[0]!r}?" if close else ""
