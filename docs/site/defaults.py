"""Show the values of defaults in signatures, in place of the names of constants.

    def f(memory=DEFAULT_MEMORY) -> [ defaults ] -> def f(memory=5_000)

`mkdocs.yml` lists this file, and griffe, which reads the sources, calls it when it has read them.
"""

from __future__ import annotations

from typing import Any

import griffe


class Defaults(griffe.Extension):
    """The extension that griffe calls."""

    def on_package(self, *, pkg: Any, loader: Any, **_: Any) -> None:
        """Replace the defaults of all functions of a package."""
        pending = [pkg]
        while pending:
            each = pending.pop()
            for parameter in each.parameters if each.is_function else ():
                if isinstance(parameter.default, griffe.ExprName):
                    parameter.default = value_of(each, parameter.default, loader)
            pending += [member for member in each.members.values() if not member.is_alias]


def value_of(function: Any, name: Any, loader: Any) -> Any:
    """Return the value of a constant as it is written; the name if it is not a constant."""
    try:
        constant = loader.modules_collection[function.resolve(str(name))]
        constant = constant.final_target if constant.is_alias else constant
    except (KeyError, griffe.GriffeError):
        return name
    return constant.value if constant.is_attribute else name
