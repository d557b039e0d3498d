"""Names that begin with an underscore belong to their module: no other one uses them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from treethink import _engine

SOURCE = Path(__file__).parents[2] / "src" / "treethink"
OWN = {"self", "cls", "other", "mcs"}
"""Names for an object of the class at hand, whose private names are one's own."""
ENGINE = {name for each in (_engine, *vars(_engine).values()) for name in dir(each)}
"""What the engine keeps from users it has for us."""
MODULES = {path.stem for path in SOURCE.rglob("_*.py")}
"""Modules that only their own package imports."""


def is_private(name: str) -> bool:
    return (
        name.startswith("_")
        and not name.startswith("__")
        and name not in {"_engine", *ENGINE, *MODULES}
    )


def foreign_private_names(tree: ast.Module) -> Iterator[str]:
    """Private names that a module has from elsewhere."""
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
