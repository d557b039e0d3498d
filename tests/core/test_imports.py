"""What modules take from each other, beyond the layers that import-linter checks.

- Names that begin with an underscore are used only in their own module.
- Modules import from modules, not from the package `treethink` itself, which imports all of them.
- The shortcut methods of models and rules import higher packages when they are called.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

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


def taken_from_the_package(tree: ast.Module) -> list[str]:
    """Return the names imported from `treethink` that are not modules of it."""
    modules = {"_engine", *(path.stem for path in SOURCE.glob("*")), "__version__"}
    return [
        alias.name
        for each in ast.walk(tree)
        if isinstance(each, ast.ImportFrom) and each.module == "treethink"
        for alias in each.names
        if alias.name not in modules
    ]


def test_modules_do_not_import_public_names_from_the_package() -> None:
    names_by_module = {
        path.relative_to(SOURCE).as_posix(): names
        for path in sorted(SOURCE.rglob("*.py"))
        if (names := taken_from_the_package(ast.parse(path.read_text(encoding="utf-8"))))
    }
    assert names_by_module == {}
    assert taken_from_the_package(ast.parse("from treethink import Agent, state")) == ["Agent"]


@pytest.mark.parametrize("module", ["model", "rules"])
def test_shortcut_methods_import_higher_packages_when_they_are_called(module: str) -> None:
    tree = ast.parse((SOURCE / f"{module}.py").read_text(encoding="utf-8"))
    imported = [each.module or "" for each in tree.body if isinstance(each, ast.ImportFrom)]
    higher = ("treethink.explain", "treethink.export", "treethink.editing", "treethink.worlds")
    assert not [name for name in imported if name.startswith(higher)]
