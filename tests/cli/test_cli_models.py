"""`check`, `summary`, `diff` and `export`: what a saved model says, and whether it is right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from command_line import Ran, check_refused, runner, started
from models import learned
from treethink.cli.export import FORMS
from treethink.cli.rules import STYLES
from treethink.model import TreeThink
from treethink.worlds import make


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that runs a command line in a folder with a good and a bad model."""
    monkeypatch.chdir(tmp_path)
    learned("maze", 1_500).save("maze.tt")
    learned("maze", 300).save("young.tt")
    learned("walls", 300).save("walls.tt")
    return runner(capsys)


def object_of(result: Ran) -> Any:
    assert result.out.count("\n") == 1
    return json.loads(result.out)


# ------------------------------------------------------------------------- check


def test_check_finds_nothing_wrong_with_a_good_model(run: Any) -> None:
    result = run("check maze.tt maze --steps 200")
    assert result == Ran(0, "nothing wrong in 200 transitions of maze\n", "")
    assert run("check maze.tt maze --steps 200 --quiet").out == (
        "none of 200 transitions predicted wrongly\n"
    )


def test_check_shows_the_smallest_state_where_a_model_is_wrong(run: Any) -> None:
    result = run("check young.tt maze")
    expected = TreeThink.load("young.tt").check(make("maze"))
    assert expected and expected.example is not None
    assert result.code == 1 and result.err == ""
    assert result.out.startswith(f"wrong in {expected.wrong} of 1,000 transitions of maze;")
    assert expected.example.action in result.out and "P" in result.out
    found = object_of(run("check young.tt maze --json"))
    assert found["right"] is False and found["wrong"] == expected.wrong
    assert found["example"] == json.loads(json.dumps(expected.example.to_dict()))
    assert found["options"]["width"] == 8


def test_check_takes_the_options_of_the_world_and_a_seed(run: Any) -> None:
    found = object_of(run("check young.tt maze --width 5 --set goals=1 --seed 3 --json"))
    assert found["options"]["width"] == 5 and found["options"]["goals"] == 1
    expected = TreeThink.load("young.tt").check(make("maze", width=5, goals=1), seed=3)
    assert found["wrong"] == expected.wrong


# ------------------------------------------------------------------------ doubts


def test_doubts_are_those_of_the_kept_transitions(run: Any) -> None:
    doubts = TreeThink.load("young.tt").doubts()
    assert doubts
    assert run("doubts young.tt") == Ran(0, f"{doubts}\n", "")
    found = object_of(run("doubts young.tt --json"))
    assert found["doubts"] == json.loads(json.dumps([each.to_dict() for each in doubts]))


def test_doubts_of_a_world_are_searched_in_random_play(run: Any) -> None:
    world = make("maze", width=6)
    doubts = TreeThink.load("young.tt").doubts(world)
    assert run("doubts young.tt maze --width 6") == Ran(0, f"{doubts}\n", "")


def test_a_learned_model_has_no_doubts(run: Any) -> None:
    assert run("doubts maze.tt").out == "no doubts: every rule is sure of what it has seen\n"


def test_doubts_refuse_what_does_not_fit(run: Any) -> None:
    refused = run("doubts walls.tt maze")
    assert refused.code == 2 and "walls.tt" in refused.err
    assert "--log" in run("doubts maze.tt --schema schema.toml").err


# ----------------------------------------------------------------------- summary


def test_summary_is_that_of_the_model(run: Any) -> None:
    result = run("summary maze.tt")
    summary = TreeThink.load("maze.tt").summary()
    assert result == Ran(0, f"{summary}\n", "")
    found = object_of(run("summary maze.tt --json"))
    assert found["command"] == "summary"
    assert found["rules"] == json.loads(json.dumps(summary.to_dict()))["rules"]


def test_summary_of_rules_lists_their_leaves(run: Any) -> None:
    result = run("summary maze.tt --rule player.pos.up")
    rule = TreeThink.load("maze.tt").summary().rules["player", "pos", "up"]
    assert result.out == f"{rule}\n"
    several = run("summary maze.tt --rule player").out
    assert several.count("observations\n") == 5 and f"\n\n{rule}\n" in several
    names = [
        each["action"] for each in object_of(run("summary maze.tt --rule player --json"))["rules"]
    ]
    assert names == [*make("maze").actions]


def test_summary_takes_a_level_of_confidence(run: Any) -> None:
    assert run("summary maze.tt --confidence 0.5").out != run("summary maze.tt").out
    assert run("summary maze.tt --confidence 2").code == 2


@pytest.mark.parametrize("command", ["summary maze.tt", "summary maze.tt --rule game.score"])
def test_tables_fit_80_columns_in_a_pipe(run: Any, command: str) -> None:
    assert max(map(len, run(command).out.splitlines())) <= 80


# -------------------------------------------------------------------------- diff


def test_equal_models_do_not_differ(run: Any) -> None:
    result = run("diff maze.tt maze.tt --steps 50")
    assert result == Ran(0, "no rule differs, nor any answer in 50 situations\n", "")
    assert run("diff maze.tt maze.tt --steps 50 --quiet").out == "no difference found\n"


def test_diff_is_that_of_the_models(run: Any) -> None:
    first, second = TreeThink.load("young.tt"), TreeThink.load("maze.tt")
    for options, world in (("", None), (" --world maze", make("maze"))):
        result = run(f"diff young.tt maze.tt --steps 200 --seed 2{options}")
        expected = first.diff(second, world, 200, 2)
        assert (result.code, result.err) == (1, "")
        assert result.out.splitlines()[0] == str(expected).splitlines()[0]
    found = object_of(run("diff young.tt maze.tt --json"))
    assert found["equal"] is False and found["models"] == ["young.tt", "maze.tt"]
    assert len(found["rules"]) == len(first.diff(second).rules)


# ------------------------------------------------------------------------ export


@pytest.mark.parametrize("form", STYLES)
def test_each_text_form_is_that_of_the_rules(run: Any, form: str) -> None:
    model = TreeThink.load("maze.tt")
    result = run(f"export maze.tt --to {form}")
    texts = [STYLES[form](each).rstrip() for each in model.rules.varying().values()]
    assert result == Ran(0, "\n\n".join(texts) + "\n", "")
    run(f"export maze.tt --to {form} --out rules.any")
    assert Path("rules.any").read_text(encoding="utf-8") == result.out


def test_an_exported_program_is_the_whole_model(run: Any) -> None:
    model = TreeThink.load("maze.tt")
    for form, ending, write in (
        ("python", "py", model.to_python),
        ("prolog", "pl", model.to_prolog),
    ):
        assert run(f"export maze.tt --out it.{ending}").out == f"exported to it.{ending}\n"
        write("expected")
        assert Path(f"it.{ending}").read_bytes() == Path("expected").read_bytes()
        assert run(f"export maze.tt --to {form}").out == Path("expected").read_text("utf-8")


def test_pictures_go_to_a_file_or_a_folder(run: Any) -> None:
    assert run("export maze.tt --rule player.pos.up --out up.svg").code == 0
    rule = TreeThink.load("maze.tt").rules["player", "pos", "up"]
    assert Path("up.svg").read_text(encoding="utf-8") == f"{rule.to_svg()}\n"
    found = object_of(run("export maze.tt --to svg --out pictures --json"))
    assert len(found["files"]) == 9 and all(Path(each).exists() for each in found["files"])
    assert run("export maze.tt --to png --rule player.pos.up --out pictures").out == (
        f"exported to {Path('pictures/player.pos.up.png')}\n"
    )


def test_quiet_prints_nothing_but_the_export(run: Any) -> None:
    assert run("export maze.tt --out maze.pl --quiet") == Ran(0, "", "")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("export maze.tt", "say in which form with --to: python, prolog, formula, "),
        ("export maze.tt --out maze.xyz", "or name a file in --out that ends in .py, .pl"),
        ("export maze.tt --to pyton", "unknown form 'pyton' in --to. Did you mean 'python'?"),
        ("export maze.tt --to python --rule player", "python is a program of the whole model"),
        ("export maze.tt --to svg", "a picture needs a file or a folder: --out rules.svg"),
        ("export maze.tt --to svg --out up.png", "--to svg does not fit the file up.png"),
        ("export maze.tt --to svg --out rules.svg", "cannot draw 9 rules to the file rules.svg"),
        ("export maze.tt --to dot --json", "--json reports which files were written"),
        ("export maze.tt --to dot --rule player.size", "unknown rule 'player.size' in maze.tt"),
        ("export maze.tt --to dot --out no/rules.dot", "there is no folder no"),
        ("summary maze.tt --rule player.size", "unknown rule 'player.size' in maze.tt"),
        ("check walls.tt maze", "walls.tt does not fit world 'maze'"),
        ("check maze.tt mase", "unknown world 'mase'"),
        ("diff walls.tt maze.tt", "the models are of different worlds"),
        ("diff maze.tt maze.tt --width 5", "--width is an option of a world, and no world is"),
        ("diff maze.tt maze.tt --world walls", "maze.tt does not fit world 'walls'"),
    ],
)
def test_an_invalid_command_is_one_line_and_writes_nothing(
    run: Any, line: str, message: str
) -> None:
    check_refused(run, line, message)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_in_the_help(run: Any, form: str) -> None:
    assert form in run("export --help").out


def test_pages_can_be_printed_in_ascii(run: Any) -> None:
    for line in ("check young.tt maze", "diff young.tt maze.tt", "export maze.tt --to text"):
        result = started(*line.split(), PYTHONIOENCODING="ascii", LC_ALL="C", PYTHONUTF8="0")
        assert result.out.isascii() and result.err == ""
