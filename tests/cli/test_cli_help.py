"""`--help`: its pages have 80 columns, their examples work, and unknown names get suggestions.

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
import treethink as tt
from command_line import Ran, called, started
from log_files import copy_logs
from models import learned
from treethink import cli
from treethink.worlds import make

GOLDEN = Path(__file__).parents[1] / "golden"
NAMES = list(get_command(cli.app).commands)
#: Commands that cannot be run here, since they need a keyboard or minutes.
ONLY_PARSED = {"play", "run", "reproduce", "report", "bench"}


@pytest.fixture
def help_page(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that returns the help of a command, or of the program."""
    monkeypatch.setenv("COLUMNS", "80")

    def help_of(*name: str) -> str:
        result = called(capsys, *name, "--help")
        assert result.code == 0 and result.err == ""
        return result.out

    return help_of


@pytest.mark.parametrize("name", ["", *NAMES])
def test_a_page_matches_the_golden_file(help_page: Any, name: str) -> None:
    text = help_page(*filter(None, [name]))
    file = GOLDEN / f"help{name and '_'}{name}.txt"
    if os.environ.get("REWRITE_GOLDEN"):
        file.write_text(text, encoding="utf-8", newline="\n")
    assert text == file.read_text(encoding="utf-8")
    assert all(len(line) <= 80 for line in text.splitlines()) and text.isascii()


@pytest.mark.parametrize("columns", ["40", "200"])
def test_a_page_fits_terminals_of_other_widths(
    help_page: Any, columns: str, monkeypatch: Any
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    about, _, _ = help_page("learn").partition("\nExamples\n")
    assert all(len(line) <= min(int(columns), 100) for line in about.splitlines())


@pytest.mark.parametrize("name", NAMES)
def test_every_option_has_help_and_a_metavar(name: str) -> None:
    for each in get_command(cli.app).commands[name].params:
        assert each.help, each.name  # type: ignore[attr-defined]
        flag = getattr(each, "is_flag", False)
        assert flag or each.metavar, each.name


# ----------------------------------------------------------------------- examples


def examples(text: str) -> list[str]:
    """Return the example commands of a page, without comments, pipes and redirections."""
    _, _, lines = text.partition("\nExamples\n")
    return [re.split(r"\s(?:#|\||>)", line.strip())[0].strip() for line in lines.splitlines()]


@pytest.mark.parametrize("name", NAMES)
def test_every_command_has_examples_that_parse(help_page: Any, name: str) -> None:
    commands = examples(help_page(name))
    assert commands and all(each.startswith(f"treethink {name}") for each in commands)
    for each in commands:
        # Only parse, without running.
        get_command(cli.app).commands[name].make_context(name, shlex.split(each)[2:])


@pytest.mark.parametrize("name", [each for each in NAMES if each not in ONLY_PARSED])
def test_the_examples_run(
    help_page: Any, name: str, tmp_path: Path, monkeypatch: Any, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    learned("maze", 1_500).save("maze.tt")
    learned("maze", 1_600).save("large.tt")  # with the same rules
    Path("state.json").write_text(make("maze").reset(0).to_json(), encoding="utf-8")
    copy_logs(tmp_path)
    lines = Path("elevator.csv").read_text(encoding="utf-8").replace("action", "button", 1)
    Path("washing.csv").write_text(lines, encoding="utf-8")
    if name in ("check", "doubts", "explain"):
        log = tt.read_jsonl("vending.jsonl")
        model = tt.TreeThink(log.schema)
        model.observe_many(log)
        model.save("vending.tt")
    if name == "plan":
        log = tt.read_csv("elevator.csv")
        model = tt.TreeThink(log.schema)
        model.observe_many(log)
        model.save("elevator.tt")
    if name == "learn":
        tt.write_schema(tt.guess_schema("elevator.csv"), "schema.toml")
    monkeypatch.setenv("VISUAL", "true")  # an editor that changes nothing
    for each in examples(help_page(name)):
        command = shlex.split(each)[1:]
        if name == "learn":
            command += ["--steps", "2000", "--force"]
        if name == "plan":
            command += ["--steps", "2"]
        result = called(capsys, *command)
        assert result.code == 0 and result.out, each


def test_the_examples_of_the_first_page_use_existing_commands(help_page: Any) -> None:
    commands = [shlex.split(each)[1] for each in examples(help_page())]
    assert len(commands) >= 5 and {*commands} <= {*NAMES}


# ------------------------------------------------------------ usage errors


def test_without_a_command_the_help_is_printed(help_page: Any, capsys: Any) -> None:
    assert called(capsys) == Ran(0, help_page(), "")


def test_h_is_short_for_help(help_page: Any, capsys: Any) -> None:
    assert called(capsys, "learn", "-h").out == help_page("learn")


def test_the_version(capsys: Any) -> None:
    assert called(capsys, "--version").out == f"treethink {treethink.__version__}\n"


@pytest.mark.parametrize(("typed", "nearest"), [("lern", "learn"), ("explian", "explain")])
def test_an_unknown_command_suggests_the_nearest(capsys: Any, typed: str, nearest: str) -> None:
    result = called(capsys, typed, "maze")
    assert (result.code, result.out) == (2, "") and len(result.err.splitlines()) == 1
    assert result.err.startswith(f"treethink: unknown command {typed!r} ")
    assert f"Did you mean {nearest!r}?" in result.err and "'worlds'" in result.err


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("play", "missing argument 'WORLD'"),
        ("learn maze --stepps 3", "no such option: --stepps"),
        ("learn maze --steps many", "--steps"),
        ("explain maze.tt --world maze", "--action"),
        ("learn maze walls", "walls"),
    ],
)
def test_a_usage_error_says_how_to_get_help(capsys: Any, command: str, message: str) -> None:
    name = command.split()[0]
    result = called(capsys, *command.split())
    assert (result.code, result.out) == (2, "")
    assert re.fullmatch(
        rf"treethink: .*{message}.*\. Try 'treethink {name} --help'\.\n", result.err
    )


def test_a_usage_error_without_a_command_says_how_to_get_help(capsys: Any) -> None:
    message = "treethink: no such option: --fast. Try 'treethink --help'.\n"
    assert called(capsys, "--fast") == Ran(2, "", message)


def test_a_page_in_a_pipe_has_no_colours() -> None:
    assert "\x1b" not in started("learn", "--help", TERM="xterm-256color").out
