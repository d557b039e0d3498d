"""Worlds and learners of one's own, found by where they are: `package.module:name`."""

from __future__ import annotations

import importlib
from typing import Any

from treethink.errors import SettingError, shown


def found_at(name: str, kind: str, example: str) -> Any:
    """What stands at `module:name`. What goes wrong inside its module is not ours to hide.

    >>> found_at("math:tau", "number", "math:pi")
    6.283185307179586
    """
    module_name, _, attribute = name.partition(":")
    if not all(part.isidentifier() for part in module_name.split(".")):
        raise SettingError(
            f"a {kind} of your own is given as module:name, such as {example}, got {name!r}"
        )
    try:
        found: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise
        raise SettingError(f"there is no {kind} at {name!r}: {error}") from error
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise SettingError(f"there is no {kind} at {name!r}: no {part!r} in {shown(found)}")
        found = getattr(found, part)
    return found
