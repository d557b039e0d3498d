"""Tests of an installed package: version, types, and public names.

Every wheel is tried with this file alone (see [tool.cibuildwheel] in pyproject.toml), so it needs
nothing but pytest.
"""

import tomllib
from importlib.metadata import entry_points, version
from importlib.resources import files
from pathlib import Path

import pytest

import treethink

ROOT = Path(__file__).parents[2]


def test_the_version_is_the_one_that_pyproject_states():
    stated = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert treethink.__version__ == version("treethink") == stated


def test_the_changelog_and_the_citation_name_this_version():
    assert treethink.__version__ in (ROOT / "CHANGELOG.md").read_text()
    assert f"version: {treethink.__version__}\n" in (ROOT / "CITATION.cff").read_text()


@pytest.mark.parametrize("name", treethink.__all__)
def test_every_public_name_exists_and_has_a_docstring(name):
    value = getattr(treethink, name)
    assert name == "__version__" or value.__doc__


def test_public_names_are_those_of_the_design():
    promised = {"Schema", "Attribute", "Object", "State", "make", "error"}
    promised |= {"TreeThink", "FOLDT", "Facts", "Prediction", "Rule"}
    assert promised <= set(treethink.__all__)


def test_an_installed_package_learns_and_predicts():
    world = treethink.make("walls")
    model = treethink.TreeThink(world.schema, criterion="wilson")
    state = world.reset(seed=0)
    model.observe(state, "left", state)
    assert model.predict(state, "left").mode() == state


def test_every_error_is_public_and_a_treethink_error():
    from treethink import errors

    defined = {
        n for n, v in vars(errors).items() if isinstance(v, type) and issubclass(v, Exception)
    }
    assert defined <= set(treethink.__all__)
    assert all(
        issubclass(getattr(treethink, n), (treethink.TreeThinkError, Warning)) for n in defined
    )


def test_the_package_contains_type_information():
    assert files(treethink).joinpath("py.typed").is_file()


def test_the_stub_of_the_engine_names_everything_in_the_engine():
    stub = files(treethink).joinpath("_engine.pyi").read_text()
    public = [name for name in vars(treethink._engine) if not name.startswith("_")]
    assert public
    assert [name for name in public if name not in stub] == []


def test_the_command_is_installed():
    (command,) = entry_points(group="console_scripts", name="treethink")
    assert callable(command.load())
