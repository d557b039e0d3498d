"""Names that begin with an underscore are used only in their own module."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from treethink import _engine

SOURCE = Path(__file__).parents[2] / "src" / "treethink"
OWN = {"self", "cls", "other", "mcs"}
"""Names of variables that hold an object of the same class."""
ENGINE = {name for each in (_engine, *vars(_engine).values()) for name in dir(each)}
"""Private names of the engine, which the package may use."""
MODULES = {path.stem for path in SOURCE.rglob("_*.py")}
"""Modules that only their own package imports."""


def is_private(name: str) -> bool:
    return (
        name.startswith("_")
        and not name.startswith("__")
        and name not in {"_engine", *ENGINE, *MODULES}
    )


def foreign_private_names(tree: ast.Module) -> Iterator[str]:
    """Yield the private names that a module takes from other modules."""
    own = {each.name for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)}
    attributes = [each for each in ast.walk(tree) if isinstance(each, ast.Attribute)]
    own |= {each.attr for each in attributes if is_own_attribute(each)}
    for each in ast.walk(tree):
        if isinstance(each, ast.ImportFrom):
            yield from (alias.name for alias in each.names if is_private(alias.name))
        elif isinstance(each, ast.Attribute) and is_private(each.attr) and each.attr not in own:
            yield each.attr


def is_own_attribute(each: ast.Attribute) -> bool:
    return isinstance(each.value, ast.Name) and each.value.id in OWN


def test_modules_do_not_use_private_names_of_other_modules() -> None:
    names_by_module = {
        path.relative_to(SOURCE).as_posix(): names
        for path in sorted(SOURCE.rglob("*.py"))
        if (names := list(foreign_private_names(ast.parse(path.read_text(encoding="utf-8")))))
    }
    assert names_by_module == {}


def test_private_names_of_other_modules_are_detected() -> None:
    text = "from a import _b\nrule._nodes\nclass C:\n    def d(self): return self._e, x._e, _engine"
    assert list(foreign_private_names(ast.parse(text))) == ["_b", "_nodes"]
