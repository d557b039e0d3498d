"""`treethink edit`: from the command line, and in an editor."""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from command_line import in_terminal, readable, runner
from models import learned
from treethink.cli import edit
from treethink.model import TreeThink

UP = ("player", "pos", "up")


@pytest.fixture
def run(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Any:
    """Return a function that runs a command in a folder with a model of the maze."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EDITOR", "false")
    monkeypatch.delenv("VISUAL", raising=False)
    learned("maze", 1_500).save("maze.tt")
    return runner(capsys)


def set_editor(monkeypatch: pytest.MonkeyPatch, *programs: str) -> None:
    """Set an editor that runs the next Python program on the text `t` each time it is opened."""
    for number, program in enumerate(programs):
        Path(f"program{number}.py").write_text(program)
    Path("editor.py").write_text(
        "import pathlib, sys\n"
        "n = len(list(pathlib.Path('.').glob('opened*')))\n"
        "pathlib.Path(f'opened{n}').touch()\n"
        "file = pathlib.Path(sys.argv[1])\n"
        "space = {'t': file.read_text(encoding='utf-8')}\n"
        "exec(pathlib.Path(f'program{n}.py').read_text(), space)\n"
        "file.write_text(space['t'], encoding='utf-8')\n"
    )
    monkeypatch.setenv("EDITOR", f"{shlex.quote(sys.executable)} editor.py")


def test_a_leaf_is_replaced_and_saved(run: Any) -> None:
    result = run("edit maze.tt player.pos.up --path Y --by '(7, 7)'")
    assert (
        result.code == 0
        and "(7, 7) × 1  [pinned]" in result.out
        and "saved to maze.tt" in result.out
    )
    assert dict(TreeThink.load("maze.tt").rules[UP].root.left.counts) == {(7, 7): 1}


def test_a_replaced_rule_can_keep_learning(run: Any) -> None:
    assert run("edit maze.tt player.pos.up --by '(7, 7)' --learn").code == 0
    rule = TreeThink.load("maze.tt").rules[UP]
    assert not rule.pinned and set(rule.root.counts) == {(0, 0), (0, -1)}


def test_a_rule_is_pinned_then_unpinned(run: Any) -> None:
    assert run("edit maze.tt player.pos.up --pin --out pinned.tt").code == 0
    assert not TreeThink.load("maze.tt").rules[UP].pinned
    before = str(TreeThink.load("pinned.tt").rules[UP])
    result = run("learn maze --from pinned.tt --out pinned.tt --steps 3000 --seed 0 --quiet")
    assert result.code == 0
    model = TreeThink.load("pinned.tt")
    assert model.observations > 1_500 and str(model.rules[UP]) == before
    assert run("edit pinned.tt player.pos.up --unpin").code == 0
    assert not TreeThink.load("pinned.tt").rules[UP].pinned


def test_an_editor_shows_the_rule_and_its_text_is_saved(run: Any, monkeypatch: Any) -> None:
    set_editor(monkeypatch, "open('shown', 'w').write(t); t = t.replace('stays', '+(5, 5)')")
    result = run("edit maze.tt player.pos.up")
    assert result.code == 0 and "(5, 5)" in result.out
    shown = Path("shown").read_text()
    assert shown.startswith("∃ X1: wall.")
    assert "# player.pos when up; variables: X0: player" in shown
    root = TreeThink.load("maze.tt").rules[UP].root
    assert list(root.left.counts) == [(5, 5)] and root.pinned


def test_closing_the_editor_without_changes_changes_nothing(run: Any, monkeypatch: Any) -> None:
    content = Path("maze.tt").read_bytes()
    monkeypatch.setenv("EDITOR", "true")
    assert run("edit maze.tt player.pos.up").out == "nothing was changed\n"
    assert Path("maze.tt").read_bytes() == content


def test_json_says_that_nothing_was_changed(run: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("EDITOR", "true")
    data = json.loads(run("edit maze.tt player.pos.up --json").out)
    assert (data["model"], data["saved"], data["rules"]) == ("maze.tt", None, [])


def test_a_mistake_can_be_corrected_in_the_editor(run: Any, monkeypatch: Any) -> None:
    set_editor(monkeypatch, "t = 'what?'", "assert t == 'what?'; t = '(1, 1)'")
    errors = []
    monkeypatch.setattr(edit, "_confirm_retry", lambda error: errors.append(str(error)) or True)
    result = run("edit maze.tt player.pos.up")
    assert result.code == 0 and dict(TreeThink.load("maze.tt").rules[UP].root.counts) == {(1, 1): 1}
    assert len(errors) == 1 and "line 1 of the rule" in errors[0]


def test_a_mistake_that_is_not_corrected_is_refused(run: Any, monkeypatch: Any) -> None:
    content = Path("maze.tt").read_bytes()
    set_editor(monkeypatch, "t = 'what'")
    result = run("edit maze.tt player.pos.up")
    assert result.code == 2 and result.err.startswith("treethink: line 1 of the rule")
    assert Path("maze.tt").read_bytes() == content


@pytest.mark.skipif(os.name != "posix", reason="uses a POSIX terminal")
@pytest.mark.parametrize(
    ("typed", "code", "ends"),
    [("n\n", 2, "[Y/n]: n\n"), ("\x04", 2, "[Y/n]: \n"), ("\x03", 130, "interrupted\n")],
)
def test_declining_to_edit_again_prints_nothing_more(
    run: Any, monkeypatch: Any, typed: str, code: int, ends: str
) -> None:
    content = Path("maze.tt").read_bytes()
    set_editor(monkeypatch, "t = 'what'")
    result = in_terminal(["edit", "maze.tt", "player.pos.up"], type_at=("[Y/n]", typed))
    out = readable(result.out).replace("^C", "").replace("^D\b\b", "")
    assert result.code == code and out.endswith(ends)
    assert out.count("line 1 of the rule") == 1 and out.startswith("treethink: line 1")
    assert "Aborted" not in out and Path("maze.tt").read_bytes() == content


@pytest.mark.skipif(os.name != "posix", reason="uses a POSIX terminal")
@pytest.mark.parametrize("typed", ["\n", "y\n"])
def test_agreeing_to_edit_again_opens_the_editor(run: Any, monkeypatch: Any, typed: str) -> None:
    set_editor(monkeypatch, "t = 'what'", "t = '(1, 1)'")
    result = in_terminal(["edit", "maze.tt", "player.pos.up"], type_at=("[Y/n]", typed))
    assert result.code == 0 and "(1, 1)" in result.out
    assert dict(TreeThink.load("maze.tt").rules[UP].root.counts) == {(1, 1): 1}


def test_rules_are_simplified(run: Any) -> None:
    assert run("edit maze.tt player.pos.up --by 'X0[pos] = (1, 1)?\n (0, 0)\n (0, 0)'").code == 0
    result = run("edit maze.tt --simplify --out small.tt")
    assert (
        result.code == 0 and " leaves before, " in result.out and "saved to small.tt" in result.out
    )
    assert TreeThink.load("small.tt").rules[UP].n_leaves == 1
    assert TreeThink.load("maze.tt").rules[UP].n_leaves == 2


def test_json_lists_the_edited_rule(run: Any) -> None:
    data = json.loads(run("edit maze.tt player.pos.up --pin --json").out)
    assert data["command"] == "edit" and data["saved"] == "maze.tt"
    (rule,) = data["rules"]
    assert rule["rule"] == "player.pos.up" and all(leaf["pinned"] for leaf in rule["leaves"])


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("edit maze.tt", "give a RULE such as player.pos.up"),
        ("edit maze.tt player.pos.up --simplify", "give a RULE such as"),
        ("edit maze.tt player.pos.up --pin --unpin", "use only one of --by, --pin"),
        ("edit maze.tt player.pos.up --pin --learn", "--learn applies to new text only"),
        ("edit maze.tt --simplify --path L", "leave out --path"),
        ("edit maze.tt player.pos.upp --pin", "Did you mean 'player.pos.up'"),
        ("edit maze.tt player.pos.up --pin --path X", "Y (yes) and N (no)"),
        ("edit maze.tt player.pos.up --by 3", "length 2"),
        ("edit maze.tt player.pos.up --pin --out nowhere/maze.tt", "no folder nowhere"),
    ],
)
def test_invalid_commands_change_nothing(run: Any, command: str, message: str) -> None:
    content = Path("maze.tt").read_bytes()
    result = run(command)
    assert (result.code, result.out) == (2, "") and message in result.err
    assert len(result.err.splitlines()) == 1
    assert Path("maze.tt").read_bytes() == content


def test_a_misspelled_name_can_be_corrected_too(run: Any, monkeypatch: Any) -> None:
    set_editor(
        monkeypatch, "t = 'X7[pos] = (1, 1)?\\n(0, 0)\\n(1, 1)'", "t = t.replace('X7', 'X0')"
    )
    errors = []
    monkeypatch.setattr(edit, "_confirm_retry", lambda error: errors.append(str(error)) or True)
    assert run("edit maze.tt player.pos.up").code == 0
    assert len(errors) == 1 and "unknown variable 'X7'" in errors[0]


def test_without_a_terminal_an_editor_must_be_set(run: Any, monkeypatch: Any) -> None:
    monkeypatch.delenv("EDITOR")
    result = run("edit maze.tt player.pos.up")
    assert result.code == 2 and "there is no terminal to edit in" in result.err


def test_learn_does_not_overwrite_hand_written_rules(run: Any) -> None:
    assert run("learn maze --steps 300 --quiet --force").code == 0
    assert run("edit maze.tt player.pos.up --pin").code == 0
    content = Path("maze.tt").read_bytes()
    result = run("learn maze --steps 300 --quiet")
    assert result.code == 2 and "such as player.pos.up: continue with --from maze.tt" in result.err
    assert Path("maze.tt").read_bytes() == content
    assert run("learn maze --steps 300 --quiet --out other.tt").code == 0
    assert run("learn maze --steps 400 --quiet --from maze.tt").code == 0


def test_learn_reports_pinned_rules_that_observations_contradict(run: Any) -> None:
    assert run("edit maze.tt player.pos.up --path Y --by '(0, -1)'").code == 0
    result = run("learn maze --from maze.tt --steps 3000 --quiet")
    assert "player.pos when up is pinned, but " in result.out
    assert (
        " observations contradict it; unpin it with: treethink edit maze.tt player.pos.up --unpin"
        in result.out
    )


def test_an_editor_that_fails_or_is_missing(run: Any, monkeypatch: Any) -> None:
    result = run("edit maze.tt player.pos.up")
    assert result.code == 1 and "the editor 'false' ended with 1" in result.err
    monkeypatch.setenv("EDITOR", "no-such-editor -x")
    result = run("edit maze.tt player.pos.up")
    assert result.code == 2 and "no editor 'no-such-editor -x': set EDITOR" in result.err
    monkeypatch.setenv("EDITOR", "'vi")
    result = run("edit maze.tt player.pos.up")
    assert result.code == 2 and "cannot be parsed: No closing quotation" in result.err


def test_a_missing_model_is_a_failure(run: Any) -> None:
    assert run("edit nothing.tt player.pos.up --pin").code == 1
