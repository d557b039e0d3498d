"""Load worlds and learners of one's own by their location, `package.module:name`."""

from __future__ import annotations

import importlib
from typing import Any

from treethink.errors import SettingError, shown


def load_object(location: str, kind: str, example: str) -> Any:
    """Return the object at `module:name`. Errors raised inside its module are not hidden.

    >>> load_object("math:tau", "number", "math:pi")
    6.283185307179586
    """
    module_name, _, attribute = location.partition(":")
    if not all(part.isidentifier() for part in module_name.split(".")):
        raise SettingError(
            f"a {kind} of your own is given as module:name, such as {example}, got {location!r}"
        )
    try:
        value: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise
        raise SettingError(f"there is no {kind} at {location!r}: {error}") from error
    for part in attribute.split("."):
        if not hasattr(value, part):
            raise SettingError(f"there is no {kind} at {location!r}: no {part!r} in {shown(value)}")
        value = getattr(value, part)
    return value
