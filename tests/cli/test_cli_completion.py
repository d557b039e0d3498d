"""Shell completion: what Tab offers, in the protocols of bash, zsh and fish."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from command_line import program, started
from models import learned
from treethink.repro.figures import FIGURES
from treethink.worlds import WORLDS, make


def completion(environment: dict[str, str], folder: Path) -> str:
    """Return what is printed for a shell that requests completion."""
    with contextlib.chdir(folder):
        result = started(**environment)
    assert result.code == 0 and result.err == "", result.err
    return result.out


def bash_suggestions(typed: str, folder: Path) -> list[str]:
    """Return the suggestions for bash; Tab was pressed in the last word."""
    environment = {
        "_TREETHINK_COMPLETE": "complete_bash",
        "COMP_WORDS": f"treethink {typed}",
        "COMP_CWORD": str(len(typed.split(" "))),
    }
    return completion(environment, folder).split()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a model and a custom world."""
    path = tmp_path_factory.mktemp("completion")
    learned("maze", 300).save(path / "maze.tt")
    (path / "broken.tt").write_text("no model at all")
    (path / "mine.py").write_text(
        "from treethink.worlds.maze import Maze\n"
        "class Mine(Maze):\n"
        "    name, defaults = 'mine', {**Maze.defaults, 'depth': 3}\n"
    )
    return path


@pytest.mark.parametrize(
    ("typed", "names"),
    [
        ("le", {"learn"}),
        ("re", {"report", "reproduce"}),
        ("learn ", {*WORLDS}),
        ("learn key", {each for each in WORLDS if each.startswith("key")}),
        ("worlds wa", {"walls"}),
        ("play fi", {"fish"}),
        ("plan coi", {"coins", "coins-scoreless", "coins-t", "coins-things"}),
        ("explain maze.tt --world maz", {"maze", "maze-scoreless", "maze-t"}),
        ("explain maze.tt --world maze --action ", {"stay", "left", "right", "up", "down"}),
        ("explain maze.tt --action r", {"right"}),
        ("explain maze.tt maz", {"maze", "maze-scoreless", "maze-t"}),
        ("explain maze.tt maze --le", {"--level"}),
        ("export maze.tt --to p", {"python", "prolog", "png", "pdf"}),
        ("check maze.tt wal", {"walls"}),
        ("rules maze.tt --rule game.", {f"game.score.{each}" for each in make("maze").actions}),
        ("rules maze.tt --style ", {"formula", "english", "code", "dot", "mermaid"}),
        ("learn maze --set ", {f"{each}=" for each in make("maze").options}),
        ("learn maze --width 9 --set go", {"goals="}),
        ("learn mine:Mine --set de", {"depth="}),
        ("learn maze --criterion ", {"evidence", "proven", "wilson"}),
        ("learn maze --pat", {"--patience"}),
        ("plan maze --choose v", {"visits", "value"}),
        ("reproduce ", {"all", *FIGURES}),
    ],
)  # fmt: skip
def test_bash_gets_the_names_that_match(folder: Path, typed: str, names: set[str]) -> None:
    assert {*bash_suggestions(typed, folder)} == names


@pytest.mark.parametrize(
    "typed",
    [
        "learn nothing-like-it",
        "learn --set ",
        "learn mase --set ",
        "learn nowhere:World --set ",
        "rules missing.tt --rule ",
        "rules broken.tt --rule ",
        "rules --rule ",
        "explain broken.tt --action ",
    ],
)
def test_without_matches_there_are_no_suggestions_and_no_messages(folder: Path, typed: str) -> None:
    assert bash_suggestions(typed, folder) == []


def test_zsh_and_fish_get_the_summaries_of_worlds(folder: Path) -> None:
    summary = WORLDS["walls"].summary()
    zsh = {"_TREETHINK_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": "treethink learn wal"}
    assert f'"walls":"{summary}"' in completion(zsh, folder)
    fish = {
        "_TREETHINK_COMPLETE": "complete_fish",
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        "_TYPER_COMPLETE_ARGS": "treethink learn wal",
    }
    assert completion(fish, folder).split("\t") == ["walls", f"{summary}\n"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_there_is_a_script_for_each_shell(folder: Path, shell: str) -> None:
    script = completion({"_TREETHINK_COMPLETE": f"source_{shell}"}, folder)
    assert "_TREETHINK_COMPLETE=complete_" in script and shell in script


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_completion_works_in_bash_itself(folder: Path, tmp_path: Path) -> None:
    command = tmp_path / "treethink"
    quoted = " ".join(f"'{each}'" for each in program())
    command.write_text(f'#!/bin/sh\nexec {quoted} "$@"\n')
    command.chmod(0o755)
    script = (
        'eval "$(_TREETHINK_COMPLETE=source_bash treethink)"; '
        "COMP_WORDS=(treethink learn wal); COMP_CWORD=2; "
        '_treethink_completion treethink; echo "${COMPREPLY[@]}"; complete -p treethink'
    )
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    result = subprocess.run(
        ["bash", "--norc", "-c", script], cwd=folder, env={**os.environ, "PATH": path},
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert result.stdout.splitlines()[0] == "walls"
    assert "_treethink_completion treethink" in result.stdout


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_completion_is_shown_and_installed_for_the_current_shell(tmp_path: Path) -> None:
    quoted = " ".join(f"'{each}'" for each in program())
    for option in ("--show-completion", "--install-completion"):
        result = subprocess.run(
            ["bash", "--norc", "-c", f"{quoted} {option}; exit $?"],
            env={**os.environ, "HOME": str(tmp_path)}, capture_output=True, text=True,
            timeout=60, check=False,
        )  # fmt: skip
        assert result.returncode == 0, result.stderr
        if option == "--show-completion":
            assert "complete -o default -F _treethink_completion treethink" in result.stdout
    assert (tmp_path / ".bash_completions" / "treethink.sh").is_file()
    assert "treethink.sh" in (tmp_path / ".bashrc").read_text()
