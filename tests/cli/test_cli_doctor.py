"""`doctor`: it tells the truth about versions and about what works, and nothing about the user."""

from __future__ import annotations

import getpass
import json
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

import treethink
from command_line import called
from treethink.cli import doctor
from treethink.model import TreeThink


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    return lambda *options: called(capsys, "doctor", *options)


def test_everything_works_and_nothing_is_left_behind(run: Any) -> None:
    result = run()
    assert (result.code, result.err) == (0, "")
    assert result.out.endswith("\neverything works\n")
    assert f"treethink   {treethink.__version__}\n" in result.out
    assert f"numpy       {metadata.version('numpy')}\n" in result.out
    assert not [*Path().iterdir()]
    assert run("--quiet").out == "everything works\n"


def test_the_report_names_no_folder_and_no_user(run: Any) -> None:
    text = run().out + run("--json").out
    assert str(Path.home()) not in text and str(Path(treethink.__file__).parent) not in text
    assert getpass.getuser() not in text.split()


def test_the_object_lists_what_was_tried(run: Any) -> None:
    found = json.loads(run("--json").out)
    assert found["works"] is True and found["system"]["treethink"] == treethink.__version__
    assert found["trials"] == [
        {"name": name, "error": None} for name in ("learn", "save", "load", "plan", "picture")
    ]
    by_name = {each["name"]: each for each in found["packages"]}
    assert by_name["rich"]["version"] == metadata.version("rich")


def test_what_is_broken_is_reported(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(TreeThink, "save", fail)
    result = run()
    assert result.code == 1 and "  learn       works" in result.out
    assert "  save        FAILED: OSError: the disk is full" in result.out
    assert "  load        FAILED: ModelFileError: " in result.out
    assert "  plan        works" in result.out
    assert result.out.endswith("\nsomething does not work\n")
    quiet = run("--quiet").out.splitlines()
    assert len(quiet) == 3 and "FAILED" in quiet[0]


def test_a_missing_package_says_what_it_is_for_and_how_to_install_it(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = metadata.version

    def version(name: str) -> str:
        if name == "gymnasium":
            raise metadata.PackageNotFoundError(name)
        return found(name)

    monkeypatch.setattr(metadata, "version", version)
    result = run()
    assert result.code == 0
    line = "  gymnasium   not installed: no Gymnasium environments; pip install '.[gym]' in a clone"
    assert line in result.out


def test_every_package_of_this_project_is_listed() -> None:
    root = Path(__file__).parents[2]
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    def names(requirements: list[str]) -> set[str]:
        return {each.split(">")[0].split("[")[0].strip() for each in requirements}

    assert names(project["dependencies"]) == {*doctor._REQUIRED}
    for extra in ("gym", "rware", "river", "experiments", "notebook", "neural"):
        listed = {name for name, (each, _) in doctor._OPTIONAL.items() if each == extra}
        assert names(project["optional-dependencies"][extra]) == listed
