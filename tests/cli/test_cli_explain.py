"""`explain` of any state, and the spellings that all commands share."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from command_line import Ran, runner
from models import learned
from treethink import cli
from treethink.explain.rich_text import plain
from treethink.model import TreeThink
from treethink.worlds import make


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that runs a command line in a folder with a model."""
    monkeypatch.chdir(tmp_path)
    learned("maze", 1_500).save("maze.tt")
    return runner(capsys)


def object_of(result: Ran) -> Any:
    assert result.code == 0, result.err
    return json.loads(result.out)


# ------------------------------------------------------------------------- any state


def test_a_state_in_a_file_needs_no_world(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    state = make("maze").reset(5)
    Path("state.json").write_text(state.to_json(), encoding="utf-8")
    of_level = object_of(run("explain maze.tt maze --level 5 --action left --json"))
    of_file = object_of(run("explain maze.tt --state state.json --action left --json"))
    assert of_file["state"] == of_level["state"] == json.loads(state.to_json())
    assert of_file["reasons"] == of_level["reasons"]
    assert of_file["world"] is None and of_file["level"] is None and of_level["level"] == 5
    monkeypatch.setattr(sys, "stdin", io.StringIO(state.to_json()))
    assert object_of(run("explain maze.tt --state - --action left --json")) == of_file
    text = run("explain maze.tt --state state.json --action left").out
    assert text == plain(learned("maze", 1_500).explain(state, "left"), 10_000) + "\n"
    with_world = run("explain maze.tt maze --state state.json --action left").out
    assert with_world.endswith(text) and "#" in with_world


def test_the_state_after_actions_is_the_one_that_the_model_predicts(run: Any) -> None:
    model, state = TreeThink.load("maze.tt"), make("maze").reset(2)
    for action in ("up", "left", "up"):
        state = model.predict(state, action).mode()
    found = object_of(run("explain maze.tt maze --level 2 --after up,left,up --action down --json"))
    assert found["state"] == json.loads(state.to_json()) and found["after"] == ["up", "left", "up"]
    Path("state.json").write_text(make("maze").reset(2).to_json(), encoding="utf-8")
    of_file = object_of(
        run("explain maze.tt --state state.json --after 'up, left, up' --action down --json")
    )
    assert of_file["state"] == found["state"] and of_file["reasons"] == found["reasons"]


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        (
            "explain maze.tt --action up",
            2,
            "say which state to explain: that of a level of a WORLD",
        ),
        ("explain --action up", 2, "missing argument 'MODEL'. Try 'treethink explain --help'."),
        ("explain maze.tt --state no.json --action up", 1, "no.json: No such file or directory"),
        (
            "explain maze.tt --state bad.json --action up",
            1,
            "bad.json holds no state of this",
        ),
        ("explain maze.tt --state other.json --action up", 1, "holds no state of this model: "),
        ("explain maze.tt --state bytes.json --action up", 1, "bytes.json holds no state of this"),
        ("explain maze.tt maze --action up --after up,fly", 2, "unknown action 'fly'"),
        ("explain maze.tt --state ok.json --width 5 --action up", 2, "--width is an option of a"),
        ("explain maze.tt maze --model maze.tt --action up", 2, "the MODEL is given twice"),
        ("explain maze.tt maze --world maze --action up", 2, "the WORLD is given twice"),
        ("plan", 2, "name a WORLD, such as maze (treethink worlds lists them), or a log"),
        ("plan --model maze.tt", 2, "name a WORLD, such as maze"),
        ("play", 2, "missing argument 'WORLD'. Try 'treethink play --help'."),
        ("check maze.tt", 2, "name a WORLD, such as maze"),
    ],
)
def test_a_mistake_is_one_line(run: Any, line: str, code: int, message: str) -> None:
    Path("ok.json").write_text(make("maze").reset(0).to_json(), encoding="utf-8")
    Path("other.json").write_text(make("keys").reset(0).to_json(), encoding="utf-8")
    Path("bad.json").write_text("{", encoding="utf-8")
    Path("bytes.json").write_bytes(b"\xff\xfe")
    result = run(line)
    assert (result.code, result.out) == (code, "") and result.err.count("\n") == 1
    assert message in result.err


# ------------------------------------------------------------------------- spellings


@pytest.mark.parametrize(
    "lines",
    [
        ["explain maze.tt maze --action up --level 3", "explain maze maze.tt --action up --level 3",
         "explain maze.tt --world maze --action up --seed 3",
         "explain maze --model maze.tt --action up --level 3",
         "explain --model maze.tt --world maze --action up --seed 3"],
        ["plan maze maze.tt --steps 2 --quiet", "plan maze --model maze.tt --steps 2 --quiet",
         "plan maze.tt maze --steps 2 --quiet", "plan maze.tt --world maze --steps 2 --quiet"],
        ["check maze.tt maze", "check maze maze.tt", "check maze.tt --world maze",
         "check maze --model maze.tt"],
        ["rules maze.tt --style formula --rule player", "rules maze.tt --style text --rule player"],
        ["export maze.tt --to formula", "export maze.tt --to text"],
    ],
)  # fmt: skip
def test_every_spelling_means_the_same(run: Any, lines: list[str]) -> None:
    results = [run(line) for line in lines]
    texts = [result.out.partition("planning took")[0] for result in results]
    assert {result.code for result in results} == {0}
    assert texts == [texts[0]] * len(lines) and texts[0]


def test_play_takes_the_model_in_each_spelling(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    games: list[tuple[str, int, bool]] = []

    class Quit:
        def summary(self) -> str:
            return "left"

    def play(world: Any, level: int, model: Any) -> Quit:
        games.append((world.name, level, model is not None))
        return Quit()

    monkeypatch.setattr(cli.play, "play_in_terminal", play)
    for line in ("play maze maze.tt --level 3", "play maze --model maze.tt --seed 3"):
        assert run(line).code == 0
    assert games == [("maze", 3, True)] * 2


def test_older_spellings_are_not_in_the_help(run: Any) -> None:
    for command, hidden in (
        ("explain", ["--seed", "--world ", "--model "]),
        ("play", ["--seed", "--model "]),
        ("check", ["--world ", "--model "]),
    ):
        text = run(f"{command} --help").out
        assert not [each for each in hidden if each in text]
    assert "--level" in run("explain --help").out


# ----------------------------------------------------------------------------- quiet


@pytest.mark.parametrize(
    ("line", "lines"),
    [
        ("plan maze maze.tt --steps 3", 3),
        ("plan maze --steps 3", 3),  # learns without a word
        ("check maze.tt maze --steps 50", 1),
        ("diff maze.tt maze.tt --steps 50", 1),
        ("export maze.tt --out it.pl --force", 0),
        ("doctor", 1),
        ("learn maze --steps 300 --out new.tt", 5),
        ("learn walls --steps 2000", 3),
    ],
)
def test_quiet_prints_only_the_result(run: Any, line: str, lines: int) -> None:
    loud, quiet = run(line), run(f"{line} --quiet")
    assert quiet.code == loud.code == 0 and quiet.err == ""
    assert len(quiet.out.splitlines()) <= lines
    assert len(quiet.out + quiet.err) < len(loud.out + loud.err) or lines == 1


def test_a_quiet_run_shows_its_table_alone(run: Any) -> None:
    config = 'steps = 60\nseeds = 1\nworlds = ["walls"]\nlearners = ["treethink"]\n'
    Path("small.toml").write_text(config, encoding="utf-8")
    result = run("run small.toml --processes 1 --quiet")
    assert result.code == 0 and result.err == "" and "walls" in result.out
    assert max(map(len, result.out.splitlines())) <= 80


@pytest.mark.parametrize("line", ["worlds", "summary maze.tt"])
def test_lists_and_tables_fit_80_columns_in_a_pipe(run: Any, line: str) -> None:
    assert max(map(len, run(line).out.splitlines())) <= 80
