"""The API page has every public name, and every name says what it is and shows its use."""

from __future__ import annotations

import importlib
import inspect
import re
import runpy
import sys
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "api.md"
#: The modules whose `__all__` people meet.
MODULES = (
    "treethink",
    "treethink.worlds",
    "treethink.worlds.gym",
    "treethink.planning",
    "treethink.baselines",
    "treethink.repro.runner",
    "treethink.checks",
)
#: Names that are numbers, registries and types of values: their module's docstring has them.
PLAIN = {
    "__version__",
    "Distribution",
    "LEARNERS",
    "LEARNER_CHECKS",
    "TOLERANCE",
    "WORLDS",
    "WORLD_CHECKS",
}


@cache
def page() -> str:
    return PAGE.read_text(encoding="utf-8")


@cache
def listed() -> dict[str, Any]:
    """What the page takes from docstrings, by path."""
    paths = re.findall(r"^::: (\S+)$", page(), re.MULTILINE)
    assert len(paths) == len(set(paths))
    return {path: found(path) for path in paths}


def found(path: str) -> Any:
    """The object that a path leads to."""
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


def public() -> Iterator[str]:
    for module in MODULES:
        for name in importlib.import_module(module).__all__:
            if name not in PLAIN:
                yield f"{module}.{name}"


@pytest.mark.parametrize("path", list(public()))
def test_a_public_name_is_on_the_page(path: str) -> None:
    assert any(each is found(path) for each in listed().values())


@pytest.mark.parametrize("path", re.findall(r"^::: (\S+)$", page(), re.MULTILINE))
def test_what_is_on_the_page_says_what_it_is_and_shows_its_use(path: str) -> None:
    what = found(path)
    assert (what.__doc__ or "").strip()
    assert shows_itself(what) or is_used_on_the_page(path)


def test_the_page_has_what_a_model_inherits_from_the_engine() -> None:
    (shown,) = re.findall(
        r"^::: treethink.TreeThink\n +options:\n +inherited_members: \[(.*)\]$", page(), re.M
    )
    inherited = vars(found("treethink._engine.Model"))
    methods = {name for name in inherited if not name.startswith("_") and callable(inherited[name])}
    assert {"observe", "predict"} <= methods - {"schema"} <= set(shown.split(", "))


def shows_itself(what: Any) -> bool:
    """Whether its docstring, or that of something in it, has an example."""
    inside = vars(what).values() if isinstance(what, type) else ()
    return any(">>>" in (getattr(each, "__doc__", None) or "") for each in (what, *inside))


def is_used_on_the_page(path: str) -> bool:
    """Whether code on the page, or what it prints, has the name. Errors share one example."""
    code = "\n".join(re.findall(r"^```(?:python|output)\n(.*?)^```$", page(), re.M | re.S))
    name = path.rpartition(".")[2]
    is_error = isinstance(found(path), type) and issubclass(found(path), Exception)
    return re.search(rf"\b{name}\b", code) is not None or is_error


# ------------------------------------------------------------------------- the site


@pytest.mark.parametrize("path", re.findall(r"^::: (\S+)$", page(), re.MULTILINE))
def test_parameters_are_followed_by_examples_or_nothing(path: str) -> None:
    """Other lines after them would be read as parameters."""
    _, _, below = (inspect.getdoc(found(path)) or "").partition("Parameters\n----------\n")
    below = below.partition("Examples\n--------\n")[0]
    for line, following in pairwise([*below.splitlines(), ""]):
        assert not line or line.startswith(" ") or following.startswith("    ")


@pytest.fixture
def fenced(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """What the site makes of a docstring; griffe itself is not needed for that."""
    monkeypatch.setitem(sys.modules, "griffe", SimpleNamespace(Extension=object))
    names: dict[str, Any] = runpy.run_path(str(PAGE.parent / "site" / "examples.py"))
    function: Callable[[str], str] = names["fenced"]
    return function


def test_examples_without_a_heading_are_fenced(fenced: Callable[[str], str]) -> None:
    told = "A number.\n\n>>> 1 + 1\n2\n>>> 2\n2\n\nAnd more."
    assert fenced(told) == ("A number.\n\n```pycon\n>>> 1 + 1\n2\n>>> 2\n2\n```\n\nAnd more.")
    assert fenced("None.\n\n    >>> 1\n    1") == "None.\n\n    ```pycon\n    >>> 1\n    1\n    ```"


def test_examples_with_a_heading_are_left_alone(fenced: Callable[[str], str]) -> None:
    told = "A number.\n\nExamples\n--------\n>>> 1 + 1\n2"
    assert fenced(told) == told
    assert fenced("Nothing to see.") == "Nothing to see."
