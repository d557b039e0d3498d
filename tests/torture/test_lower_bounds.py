"""The lower bounds in pyproject.toml can be tested, and those known to be too low are not used."""

import tomllib

import pytest

from lower_bounds import EXTRAS, ROOT, lowest_versions

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_every_dependency_but_pytorch_is_tested_at_its_lower_bound():
    names = [each.partition("==")[0] for each in lowest_versions(PROJECT)]
    extras = PROJECT["optional-dependencies"]
    used = {"gym", "experiments", "neural", "notebook"}  # the others are tools of developers
    assert used == {*EXTRAS, "neural"} and extras.keys() >= used
    declared = [*PROJECT["dependencies"], *(each for extra in EXTRAS for each in extras[extra])]
    assert names == [each.partition(">=")[0] for each in declared]


def test_typer_is_one_that_works_with_every_click_that_it_allows():
    (typer,) = (each for each in lowest_versions(PROJECT) if each.startswith("typer=="))
    lowest = tuple(map(int, typer.removeprefix("typer==").split(".")))
    assert lowest >= (0, 15, 4)  # with earlier ones and click 8.2, every command prints the version


def test_a_bound_that_cannot_be_tested_is_refused():
    with pytest.raises(SystemExit, match="'numpy<3' must be NAME>=VERSION"):
        lowest_versions({"dependencies": ["numpy<3"], "optional-dependencies": {}})
