"""`treethink schema` and `--log`: from a log to rules without code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import treethink as tt
from command_line import called
from log_files import copy_logs


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy_logs(tmp_path)
    monkeypatch.chdir(tmp_path)


def test_from_a_log_to_rules(capsys: Any) -> None:
    guessed = called(capsys, "schema", "vending.jsonl")
    assert guessed.code == 0 and "credit: a number, from 0 to 1.5" in guessed.out
    assert "written to schema.toml" in guessed.out
    assert "treethink learn --log vending.jsonl --schema schema.toml" in guessed.out
    learned = called(capsys, "learn", "--log", "vending.jsonl", "--schema", "schema.toml")
    assert learned.code == 0
    assert "96 of 96 held-out transitions predicted exactly" in learned.out
    assert "the machine's `credit` rises by 5, unless its `credit` is 15" in learned.out
    assert "saved to vending.tt" in learned.out
    log = tt.read_jsonl("vending.jsonl")
    model = tt.TreeThink.load("vending.tt")
    expected = tt.TreeThink(log.schema)
    expected.observe_many(log)
    assert [str(each) for each in model.rules.values()] == [
        str(each) for each in expected.rules.values()
    ]
    assert model.observations == len(log)


def test_a_guess_is_printed_while_learning(capsys: Any) -> None:
    result = called(capsys, "learn", "--log", "elevator.csv")
    assert result.code == 0 and "learning elevator.csv: 2,100 transitions" in result.err
    assert 'write like = "floor" for dest' in " ".join(result.err.split())
    quiet = called(capsys, "learn", "--log", "elevator.csv", "--quiet")
    assert quiet.err == "" and "elevator.csv: observed 2,100 transitions" in quiet.out


def test_json(capsys: Any) -> None:
    result = called(capsys, "schema", "elevator.csv", "--json", "--quiet")
    data = json.loads(result.out)
    assert data["schema"] == tt.guess_schema("elevator.csv").schema.to_dict()
    assert data["saved"] == "schema.toml" and data["problems"] == [] and data["notes"]
    result = called(capsys, "learn", "--log", "vending.jsonl", "--json", "--quiet")
    data = json.loads(result.out)
    assert data["command"] == "learn" and data["log"] == "vending.jsonl"
    assert data["learned"] is True and data["transitions"] == data["observations"] == 960
    assert data["saved"] == "vending.tt" and result.err == ""


def test_explain_the_last_state_of_a_log(capsys: Any) -> None:
    called(capsys, "learn", "--log", "vending.jsonl", "--quiet")
    command = ("explain", "vending.tt", "--log", "vending.jsonl", "--action", "take", "--json")
    data = json.loads(called(capsys, *command).out)
    assert data["state"] == tt.read_jsonl("vending.jsonl").last_state.to_dict()
    assert data["world"] is None and data["level"] is None
    other = called(capsys, "explain", "vending.tt", "--log", "elevator.csv", "--action", "up")
    assert other.code == 2 and "vending.tt was learned with another schema" in other.err
    both = called(capsys, *command, "--state", "state.json")
    assert both.code == 2 and "--state=state.json has no meaning with a log" in both.err


def test_part_of_a_log_and_then_another(capsys: Any) -> None:
    called(capsys, "schema", "elevator.csv", "--quiet")
    first = ("learn", "--log", "elevator.csv", "--schema", "schema.toml")
    assert called(capsys, *first, "--steps", "500", "--out", "part.tt").code == 0
    assert tt.TreeThink.load("part.tt").observations == 500
    more = called(capsys, *first, "--from", "part.tt", "--quiet")
    assert "the model has 2,600 observations in total" in more.out
    other = called(capsys, "learn", "--log", "vending.jsonl", "--from", "part.tt")
    assert other.code == 2 and "part.tt was learned with another schema" in other.err
    assert tt.TreeThink.load("part.tt").observations == 2_600


def test_a_column_with_a_problem_is_ignored_in_the_file(capsys: Any) -> None:
    Path("log.csv").write_text("action,a.b,a.c\nup,0.123456,1\n,0.2,2\n")
    failed = called(capsys, "learn", "--log", "log.csv")
    assert failed.code == 1 and not Path("log.tt").exists()
    assert "log.csv:2, column 'a.b': rules need exact numbers" in failed.err
    result = called(capsys, "schema", "log.csv")
    assert result.code == 0 and "ignored: log.csv:2, column 'a.b'" in result.out
    assert called(capsys, "learn", "--log", "log.csv", "--schema", "schema.toml").code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["learn"], 2, "name a WORLD, such as maze"),
        (["learn", "maze", "--log", "elevator.csv"], 2, "maze has no meaning with a log"),
        (["learn", "--log", "elevator.csv", "--seed", "3"], 2, "--seed=3 has no meaning"),
        (["learn", "--log", "elevator.csv", "--set", "a=1"], 2, "--set=a=1 has no meaning"),
        (["learn", "maze", "--schema", "schema.toml"], 2, "give the --log, too"),
        (["learn", "--log", "none.csv"], 1, "none.csv: No such file or directory"),
        (["learn", "--log", "elevator.csv", "--schema", "none.toml"], 1, "none.toml"),
        (["learn", "--log", "."], 1, "Is a directory"),
        (["schema", "none.csv"], 1, "none.csv: No such file or directory"),
        (["schema", "elevator.csv", "--out", "taken.toml"], 2, "taken.toml exists"),
        (["schema", "elevator.csv", "--out", "no/schema.toml"], 2, "there is no folder no"),
    ],
)
def test_errors(capsys: Any, arguments: list[str], code: int, says: str) -> None:
    Path("taken.toml").write_text("mine")
    result = called(capsys, *arguments)
    assert (result.code, result.out) == (code, "")
    assert says in result.err and len(result.err.splitlines()) == 1
    assert Path("taken.toml").read_text() == "mine"
    assert not list(Path().glob("*.tt"))
