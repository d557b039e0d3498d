"""`--help`: pages of 80 columns, whose examples work, and what is said of unknown names.

The files in `golden` are written by

    REWRITE_GOLDEN=1 pytest tests/cli/test_cli_help.py
"""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

import treethink
from command_line import Ran, called, started
from models import learned
from treethink import cli

GOLDEN = Path(__file__).parents[1] / "golden"
NAMES = list(get_command(cli.app).commands)
#: What cannot be run here: a keyboard is needed, or minutes are.
ONLY_PARSED = {"play", "run", "reproduce", "report", "bench"}


@pytest.fixture
def page(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """The help of a command, or of all of them."""
    monkeypatch.setenv("COLUMNS", "80")

    def shown(*name: str) -> str:
        ran = called(capsys, *name, "--help")
        assert ran.code == 0 and ran.err == ""
        return ran.out

    return shown


@pytest.mark.parametrize("name", ["", *NAMES])
def test_a_page_is_as_it_was(page: Any, name: str) -> None:
    shown = page(*filter(None, [name]))
    file = GOLDEN / f"help{name and '_'}{name}.txt"
    if os.environ.get("REWRITE_GOLDEN"):
        file.write_text(shown, encoding="utf-8", newline="\n")
    assert shown == file.read_text(encoding="utf-8")
    assert all(len(line) <= 80 for line in shown.splitlines()) and shown.isascii()


@pytest.mark.parametrize("columns", ["40", "200"])
def test_a_page_fits_other_terminals(page: Any, columns: str, monkeypatch: Any) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    about, _, _ = page("learn").partition("\nExamples\n")
    assert all(len(line) <= min(int(columns), 100) for line in about.splitlines())


@pytest.mark.parametrize("name", NAMES)
def test_every_option_is_explained_and_takes_what_it_says(name: str) -> None:
    for each in get_command(cli.app).commands[name].params:
        assert each.help, each.name  # type: ignore[attr-defined]
        flag = getattr(each, "is_flag", False)
        assert flag or each.metavar, each.name


# ----------------------------------------------------------------------- examples


def examples(text: str) -> list[str]:
    """The commands of a page, without what follows in the shell."""
    _, _, listed = text.partition("\nExamples\n")
    return [re.split(r"\s(?:#|\||>)", line.strip())[0].strip() for line in listed.splitlines()]


@pytest.mark.parametrize("name", NAMES)
def test_every_command_has_examples_that_it_takes(page: Any, name: str) -> None:
    found = examples(page(name))
    assert found and all(each.startswith(f"treethink {name}") for each in found)
    for each in found:
        # Parses, and runs nothing.
        get_command(cli.app).commands[name].make_context(name, shlex.split(each)[2:])


@pytest.mark.parametrize("name", [each for each in NAMES if each not in ONLY_PARSED])
def test_the_examples_run(
    page: Any, name: str, tmp_path: Path, monkeypatch: Any, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    learned("maze", 1_500).save("maze.tt")
    monkeypatch.setenv("VISUAL", "true")  # an editor in which nothing is done
    for each in examples(page(name)):
        command = shlex.split(each)[1:]
        if name == "learn":
            command += ["--steps", "300"]
        if name == "plan":
            command += ["--steps", "2"]
        ran = called(capsys, *command)
        assert ran.code == 0 and ran.out, each


def test_the_examples_of_the_first_page_are_commands_that_we_have(page: Any) -> None:
    found = [shlex.split(each)[1] for each in examples(page())]
    assert len(found) >= 5 and {*found} <= {*NAMES}


# ------------------------------------------------------------ names, and none of them


def test_without_a_command_there_is_the_list(page: Any, capsys: Any) -> None:
    assert called(capsys) == Ran(0, page(), "")


def test_help_is_also_h(page: Any, capsys: Any) -> None:
    assert called(capsys, "learn", "-h").out == page("learn")


def test_the_version(capsys: Any) -> None:
    assert called(capsys, "--version").out == f"treethink {treethink.__version__}\n"


@pytest.mark.parametrize(("typed", "meant"), [("lern", "learn"), ("explian", "explain")])
def test_an_unknown_command_suggests_the_nearest(capsys: Any, typed: str, meant: str) -> None:
    ran = called(capsys, typed, "maze")
    assert (ran.code, ran.out) == (2, "") and len(ran.err.splitlines()) == 1
    assert ran.err.startswith(f"treethink: unknown command {typed!r} ")
    assert f"Did you mean {meant!r}?" in ran.err and "'worlds'" in ran.err


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("learn", "missing argument 'WORLD'"),
        ("learn maze --stepps 3", "no such option: --stepps"),
        ("learn maze --steps many", "--steps"),
        ("explain maze.tt --world maze", "--action"),
        ("learn maze walls", "walls"),
    ],
)
def test_wrong_usage_says_how_to_get_help(capsys: Any, command: str, says: str) -> None:
    name = command.split()[0]
    ran = called(capsys, *command.split())
    assert (ran.code, ran.out) == (2, "")
    assert re.fullmatch(rf"treethink: .*{says}.*\. Try 'treethink {name} --help'\.\n", ran.err)


def test_wrong_usage_of_no_command_does_too(capsys: Any) -> None:
    said = "treethink: no such option: --fast. Try 'treethink --help'.\n"
    assert called(capsys, "--fast") == Ran(2, "", said)


def test_a_page_in_a_pipe_has_no_colours_even_if_they_are_wanted_elsewhere() -> None:
    assert "\x1b" not in started("learn", "--help", TERM="xterm-256color").out
