"""The public names: documented on the API page, bound to the engine, found under old paths."""

from __future__ import annotations

import ast
import importlib
import inspect
import pickle
import pydoc
import re
import runpy
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import treethink

PAGE = Path(__file__).parents[2] / "docs" / "api.md"
#: The modules whose `__all__` people meet.
MODULES = (
    "treethink",
    "treethink.errors",
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
def documented_objects() -> dict[str, Any]:
    """What the page takes from docstrings, by path."""
    paths = re.findall(r"^::: (\S+)$", page(), re.MULTILINE)
    assert len(paths) == len(set(paths))
    return {path: object_at(path) for path in paths}


def object_at(path: str) -> Any:
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
    assert any(each is object_at(path) for each in documented_objects().values())


@pytest.mark.parametrize("path", re.findall(r"^::: (\S+)$", page(), re.MULTILINE))
def test_every_object_on_the_page_has_a_docstring_and_an_example(path: str) -> None:
    what = object_at(path)
    assert (what.__doc__ or "").strip()
    assert shows_itself(what) or is_used_on_the_page(path)


# --------------------------------------------------------------------- engine methods


def stubs() -> dict[str, ast.FunctionDef]:
    """The methods of TreeThink that are replaced by the engine's, as they stand in model.py."""
    source = Path(inspect.getfile(treethink.TreeThink)).read_text(encoding="utf-8")
    (model,) = (
        each
        for each in ast.parse(source).body
        if isinstance(each, ast.ClassDef) and each.name == "TreeThink"
    )
    return {
        each.name: each
        for each in model.body
        if isinstance(each, ast.FunctionDef)
        and "engine_method" in map(ast.unparse, each.decorator_list)
    }


def test_every_public_method_of_the_engine_is_documented_in_treethink() -> None:
    engine = vars(treethink._engine.Model)
    assert stubs().keys() == {
        name for name in engine if not name.startswith("_") and callable(engine[name])
    }


@pytest.mark.parametrize("name", stubs())
def test_a_documented_method_is_the_engines_own_function(name: str) -> None:
    assert vars(treethink.TreeThink)[name] is getattr(treethink._engine.Model, name)


@pytest.mark.parametrize("name", stubs())
def test_a_documented_signature_is_that_of_the_engine(name: str) -> None:
    stub = stubs()[name]
    ((signature, *_),) = getattr(treethink._engine.Model, name).__nb_signature__
    (engine,) = ast.parse(f"{signature.replace('collections.abc.', '')}: ...").body
    assert isinstance(engine, ast.FunctionDef)
    documented = (ast.unparse(stub.args), ast.unparse(stub.returns or ast.Constant(None)))
    assert documented == (
        ast.unparse(engine.args),
        ast.unparse(engine.returns or ast.Constant(None)),
    )


@pytest.mark.parametrize("name", stubs())
def test_a_documented_method_passes_its_arguments_on_in_order(name: str) -> None:
    stub = stubs()[name]
    names = [each.arg for each in stub.args.args[1:]]
    names += [f"**{stub.args.kwarg.arg}"] if stub.args.kwarg else []
    arguments = ", ".join(names)
    docstring = ast.get_docstring(stub)
    assert docstring and docstring in (getattr(treethink.TreeThink, name).__doc__ or "")
    assert ast.unparse(stub.body[-1]).removeprefix("return ") == f"super().{name}({arguments})"


# ------------------------------------------------------------------------- signatures


def public_methods() -> Iterator[tuple[type, str]]:
    """All methods of public classes, and their constructors where they have one."""
    for path in public():
        cls = object_at(path)
        if not isinstance(cls, type):
            continue
        for name, method in inspect.getmembers(cls):
            inherited = any(name in vars(each) for each in (BaseException, dict, object))
            if not name.startswith("_") and callable(method) and not inherited:
                yield cls, name


METHODS = sorted(set(public_methods()), key=lambda each: (each[0].__qualname__, each[1]))


def test_methods_of_the_engine_are_among_the_public_methods() -> None:
    names = {f"{cls.__name__}.{name}" for cls, name in METHODS}
    assert {"State.replace", "State.from_dict", "Prediction.sample", "TreeThink.observe"} <= names


@pytest.mark.parametrize(("cls", "name"), METHODS)
def test_every_public_method_has_a_signature_and_help(cls: type, name: str) -> None:
    method = getattr(cls, name)
    parameters = inspect.signature(method).parameters
    text = pydoc.render_doc(method, renderer=pydoc.plaintext)  # type: ignore[attr-defined]
    assert all(parameter in text for parameter in parameters)
    first = (inspect.getdoc(method) or "").splitlines()
    assert first and first[0].strip() in text


@pytest.mark.parametrize("path", [path for path in public() if callable(object_at(path))])
def test_every_public_class_and_function_has_a_signature_and_help(path: str) -> None:
    what = object_at(path)
    made_by_the_engine = what is treethink.Prediction  # nobody else makes one
    of_python = isinstance(what, type) and issubclass(what, Exception)
    if not made_by_the_engine and not of_python:
        inspect.signature(what)
    text = pydoc.render_doc(what, renderer=pydoc.plaintext)  # type: ignore[attr-defined]
    assert (what.__doc__ or "").strip().splitlines()[0] in text


def test_a_bound_method_of_the_engine_has_the_signature_without_self() -> None:
    model = treethink.TreeThink(treethink.make("walls").schema)
    assert str(inspect.signature(model.observe)).startswith("(before: 'State', action: 'str'")
    state = treethink.make("walls").reset(seed=0)
    assert str(inspect.signature(state.value)).startswith("(id: 'typing.SupportsIndex'")
    sample = inspect.signature(model.predict(state, "up").sample)
    assert sample.parameters["rng"].default is None
    assert next(iter(inspect.signature(treethink.State.value).parameters)) == "self"
    assert str(inspect.signature(treethink.State.from_json)).startswith("(schema: ")


def test_the_types_of_the_engines_functions_are_still_immutable() -> None:
    with pytest.raises(TypeError, match="immutable type"):
        type(treethink.State.value).anything = 1  # type: ignore[attr-defined]
    assert inspect.signature(treethink.State.value).parameters  # lookups are not mixed up


# -------------------------------------------------------------------------- old paths

#: Objects that have moved: the path that docs/api.md once listed, and the path now.
MOVED = {
    "treethink.examine.Examination": "treethink.evaluation.Examination",
    "treethink.examine.examine": "treethink.evaluation.examine",
    "treethink.experiment.Curve": "treethink.repro.runner.Curve",
    "treethink.experiment.Learner": "treethink.repro.runner.Learner",
    "treethink.experiment.trial": "treethink.repro.runner.trial",
    "treethink.explain.differences.Diff": "treethink.explain.compare.Diff",
    "treethink.explain.mistaken.Check": "treethink.explain.compare.Check",
    "treethink.explain.reasons.Reason": "treethink.explain.why.Reason",
    "treethink.explain.why.reason.Reason": "treethink.explain.why.Reason",
    "treethink.explain.summary.Summary": "treethink.explain.summary.Summary",
    "treethink.explain.why.Explanation": "treethink.explain.why.Explanation",
    "treethink.figures.reproduce.reproduce": "treethink.repro.figures.reproduce.reproduce",
    "treethink.learner.Change": "treethink.Change",
    "treethink.learner.FOLDT": "treethink.FOLDT",
    "treethink.learner.Facts": "treethink.Facts",
    "treethink.learner.Prediction": "treethink.Prediction",
    "treethink.learner.TreeThink": "treethink.TreeThink",
    "treethink.parallel.parallel_transitions": "treethink.stream.parallel_transitions",
    "treethink.planning.film.write": "treethink.planning.gif.write",
    "treethink.planning.levels.levels": "treethink.planning.paper_levels.levels",
}
#: Imports of old examples whose paths have stayed, or whose modules are imported by themselves.
IMPORTS = """
from treethink import figures, report
from treethink.baselines import LEARNERS, Oracle, Paper, Qora, Static, make_learner
from treethink.baselines.base import Learner
from treethink.baselines.prediction import Product
from treethink.checks import WORLD_CHECKS, check_learner, check_world
from treethink.experiment import Curve, config, pool, records, trial
from treethink.metrics import error
from treethink.planning import ScoreBounds, film, score_bounds
from treethink.rules import Node, Rule, Rules, Test
from treethink.state import State
from treethink.stream import transitions
from treethink.worlds import Scene, World, draw
from treethink.worlds.base import Pixels
from treethink.worlds.draw.layout import Told, caption
from treethink.worlds.draw.pixels import board, finished, stacked, writing
from treethink.worlds.looks import BLUE, GREY, Look
"""


@pytest.mark.parametrize("old", MOVED)
def test_an_old_path_leads_to_the_same_object(old: str) -> None:
    assert object_at(old) is object_at(MOVED[old])


@pytest.mark.parametrize("line", IMPORTS.strip().splitlines())
def test_imports_of_old_examples_still_work(line: str) -> None:
    exec(line, {})


def test_old_paths_work_in_a_fresh_process_and_unknown_ones_are_errors() -> None:
    code = (
        "import treethink.experiment.records, treethink.learner as old, treethink.model as new;"
        " assert old.TreeThink is new.TreeThink"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(ModuleNotFoundError, match=r"treethink\.learners"):
        importlib.import_module("treethink.learners")
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("treethink.experiment.nothing")
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        object_at("treethink.learner.Nothing")


def test_a_model_pickled_under_its_old_path_is_loaded() -> None:
    model = treethink.TreeThink(treethink.make("walls").schema)
    model.observe_many(treethink.transitions(treethink.make("walls"), steps=50, seed=0))
    content = pickle.dumps(model, protocol=2)
    old = content.replace(b"ctreethink.model\nTreeThink\n", b"ctreethink.learner\nTreeThink\n")
    assert old != content
    assert pickle.loads(old).to_bytes() == model.to_bytes()
    tree = treethink.FOLDT(["player"])
    old = pickle.dumps(tree, protocol=2).replace(b"ctreethink.foldt\n", b"ctreethink.learner\n")
    assert type(pickle.loads(old)) is treethink.FOLDT


def shows_itself(what: Any) -> bool:
    """Whether its docstring, or that of something in it, has an example."""
    inside = vars(what).values() if isinstance(what, type) else ()
    return any(">>>" in (getattr(each, "__doc__", None) or "") for each in (what, *inside))


def is_used_on_the_page(path: str) -> bool:
    """Whether code on the page, or what it prints, has the name. Errors share one example."""
    code = "\n".join(re.findall(r"^```(?:python|output)\n(.*?)^```$", page(), re.M | re.S))
    name = path.rpartition(".")[2]
    is_error = isinstance(object_at(path), type) and issubclass(object_at(path), Exception)
    return re.search(rf"\b{name}\b", code) is not None or is_error


# ------------------------------------------------------------------------- the site


@pytest.mark.parametrize("path", re.findall(r"^::: (\S+)$", page(), re.MULTILINE))
def test_parameters_are_followed_by_examples_or_nothing(path: str) -> None:
    """Other lines after them would be read as parameters."""
    _, _, below = (inspect.getdoc(object_at(path)) or "").partition("Parameters\n----------\n")
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
    text = "A number.\n\n>>> 1 + 1\n2\n>>> 2\n2\n\nAnd more."
    assert fenced(text) == ("A number.\n\n```pycon\n>>> 1 + 1\n2\n>>> 2\n2\n```\n\nAnd more.")
    assert fenced("None.\n\n    >>> 1\n    1") == "None.\n\n    ```pycon\n    >>> 1\n    1\n    ```"


def test_examples_with_a_heading_are_left_alone(fenced: Callable[[str], str]) -> None:
    text = "A number.\n\nExamples\n--------\n>>> 1 + 1\n2"
    assert fenced(text) == text
    assert fenced("Nothing to see.") == "Nothing to see."


class ExprName(str):
    """A name in a signature, as griffe has it."""


@pytest.fixture
def value_of(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """What the site shows for a default; the constants are those of a pretended package."""
    griffe = SimpleNamespace(Extension=object, ExprName=ExprName, GriffeError=LookupError)
    monkeypatch.setitem(sys.modules, "griffe", griffe)
    value: Callable[..., Any] = runpy.run_path(str(PAGE.parent / "site" / "defaults.py"))[
        "value_of"
    ]
    number = SimpleNamespace(is_alias=False, is_attribute=True, value="5_000")
    constants = {
        "package.MEMORY": number,
        "package.IMPORTED": SimpleNamespace(is_alias=True, final_target=number),
        "package.print_it": SimpleNamespace(is_alias=False, is_attribute=False),
    }
    function = SimpleNamespace(resolve=lambda name: f"package.{name}")
    loader = SimpleNamespace(modules_collection=constants)
    return lambda name: value(function, ExprName(name), loader)


def test_the_site_shows_values_of_defaults(value_of: Callable[[str], Any]) -> None:
    assert value_of("MEMORY") == value_of("IMPORTED") == "5_000"
    assert value_of("print_it") == "print_it"
    assert value_of("unknown") == "unknown"


def test_the_site_has_a_version_and_a_repository_only_where_it_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    about = runpy.run_path(str(PAGE.parent / "site" / "about.py"))
    monkeypatch.delenv(about["VARIABLE"], raising=False)

    def configured() -> dict[str, Any]:
        file = str(PAGE.parents[1] / "mkdocs.yml")
        return dict(about["on_config"]({"config_file_path": file, "site_name": "TreeThink"}))

    assert configured()["copyright"] == f"TreeThink {treethink.__version__}"
    assert "repo_url" not in configured()
    monkeypatch.setenv(about["VARIABLE"], "https://example.org/code/treethink/")
    assert configured()["repo_url"] == "https://example.org/code/treethink/"
    assert configured()["repo_name"] == "treethink"
    monkeypatch.delenv(about["VARIABLE"])
    listed = {"urls": {"Repository": "https://example.org/other"}}
    assert about["repository_of"](listed) == "https://example.org/other"
    assert about["repository_of"]({}) == ""
