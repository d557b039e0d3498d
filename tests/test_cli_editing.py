"""`treethink edit`: from the command line, and in an editor."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from command_line import called
from treethink.cli import editing
from treethink.learner import TreeThink
from treethink.stream import transitions
from treethink.worlds import make

UP = ("player", "pos", "up")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs a command where maze.tt has learned the maze."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EDITOR", "false")
    monkeypatch.delenv("VISUAL", raising=False)
    model = TreeThink(make("maze").schema)
    model.observe_many(transitions(make("maze"), 1_500, seed=0))
    model.save("maze.tt")
    return lambda command: called(capsys, *shlex.split(command))


def editor(monkeypatch: pytest.MonkeyPatch, *programs: str) -> None:
    """One that runs a Python program with the text `t` each time it is opened."""
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


def test_a_part_is_written_and_saved(run: Any) -> None:
    ran = run("edit maze.tt player.pos.up --path L --by '(7, 7)'")
    assert ran.code == 0 and "(7, 7) × 1  [pinned]" in ran.out and "saved to maze.tt" in ran.out
    assert dict(TreeThink.load("maze.tt").rules[UP].root.left.counts) == {(7, 7): 1}


def test_what_is_written_may_learn_on(run: Any) -> None:
    assert run("edit maze.tt player.pos.up --by '(7, 7)' --learn").code == 0
    rule = TreeThink.load("maze.tt").rules[UP]
    assert not rule.pinned and set(rule.root.counts) == {(0, 0), (0, -1)}


def test_a_rule_is_pinned_learned_around_and_let_go(run: Any) -> None:
    assert run("edit maze.tt player.pos.up --pin --out pinned.tt").code == 0
    assert not TreeThink.load("maze.tt").rules[UP].pinned
    before = str(TreeThink.load("pinned.tt").rules[UP])
    ran = run("learn maze --from pinned.tt --out pinned.tt --steps 3000 --seed 0 --quiet")
    assert ran.code == 0
    model = TreeThink.load("pinned.tt")
    assert model.observations > 1_500 and str(model.rules[UP]) == before
    assert run("edit pinned.tt player.pos.up --unpin").code == 0
    assert not TreeThink.load("pinned.tt").rules[UP].pinned


def test_an_editor_shows_the_rule_and_what_is_written_counts(run: Any, monkeypatch: Any) -> None:
    editor(monkeypatch, "open('shown', 'w').write(t); t = t.replace('(0, 0)', '(5, 5)')")
    ran = run("edit maze.tt player.pos.up")
    assert ran.code == 0 and "(5, 5)" in ran.out
    shown = Path("shown").read_text()
    assert shown.startswith("∃ X1: wall.")
    assert "# player.pos when up, where there are X0: player" in shown
    root = TreeThink.load("maze.tt").rules[UP].root
    assert list(root.left.counts) == [(5, 5)] and root.pinned


def test_an_editor_in_which_nothing_is_done_changes_nothing(run: Any, monkeypatch: Any) -> None:
    content = Path("maze.tt").read_bytes()
    monkeypatch.setenv("EDITOR", "true")
    assert run("edit maze.tt player.pos.up").out == "nothing was changed\n"
    assert Path("maze.tt").read_bytes() == content


def test_a_mistake_can_be_mended_in_the_editor(run: Any, monkeypatch: Any) -> None:
    editor(monkeypatch, "t = 'what?'", "assert t == 'what?'; t = '(1, 1)'")
    asked = []
    monkeypatch.setattr(editing, "_once_more", lambda error: asked.append(str(error)) or True)
    ran = run("edit maze.tt player.pos.up")
    assert ran.code == 0 and dict(TreeThink.load("maze.tt").rules[UP].root.counts) == {(1, 1): 1}
    assert len(asked) == 1 and "line 1 of the rule" in asked[0]


def test_a_mistake_that_nobody_mends_is_refused(run: Any, monkeypatch: Any) -> None:
    content = Path("maze.tt").read_bytes()
    editor(monkeypatch, "t = 'what'")
    ran = run("edit maze.tt player.pos.up")
    assert ran.code == 2 and ran.err.startswith("treethink: line 1 of the rule")
    assert Path("maze.tt").read_bytes() == content


def test_rules_are_made_smaller(run: Any) -> None:
    assert run("edit maze.tt player.pos.up --by 'X0[pos] = (1, 1)?\n (0, 0)\n (0, 0)'").code == 0
    ran = run("edit maze.tt --simplify --out small.tt")
    assert ran.code == 0 and " leaves before, " in ran.out and "saved to small.tt" in ran.out
    assert TreeThink.load("small.tt").rules[UP].n_leaves == 1
    assert TreeThink.load("maze.tt").rules[UP].n_leaves == 2


def test_json(run: Any) -> None:
    told = json.loads(run("edit maze.tt player.pos.up --pin --json").out)
    assert told["command"] == "edit" and told["saved"] == "maze.tt"
    (rule,) = told["rules"]
    assert rule["rule"] == "player.pos.up" and all(leaf["pinned"] for leaf in rule["leaves"])


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("edit maze.tt", "name a RULE such as player.pos.up"),
        ("edit maze.tt player.pos.up --simplify", "name a RULE such as"),
        ("edit maze.tt player.pos.up --pin --unpin", "only one of them at a time"),
        ("edit maze.tt player.pos.up --pin --learn", "--learn is for what is written"),
        ("edit maze.tt player.pos.upp --pin", "Did you mean 'player.pos.up'"),
        ("edit maze.tt player.pos.up --pin --path X", "L (yes) and R (no)"),
        ("edit maze.tt player.pos.up --by 3", "length 2"),
        ("edit maze.tt player.pos.up --pin --out nowhere/maze.tt", "no folder nowhere"),
    ],
)
def test_what_is_refused_changes_nothing(run: Any, command: str, says: str) -> None:
    content = Path("maze.tt").read_bytes()
    ran = run(command)
    assert (ran.code, ran.out) == (2, "") and says in ran.err
    assert len(ran.err.splitlines()) == 1
    assert Path("maze.tt").read_bytes() == content


def test_an_editor_that_fails_or_is_not_there(run: Any, monkeypatch: Any) -> None:
    ran = run("edit maze.tt player.pos.up")
    assert ran.code == 1 and "the editor 'false' ended with 1" in ran.err
    monkeypatch.setenv("EDITOR", "no-such-editor -x")
    ran = run("edit maze.tt player.pos.up")
    assert ran.code == 2 and "no editor 'no-such-editor -x': set EDITOR to one" in ran.err


def test_a_missing_model_is_a_failure(run: Any) -> None:
    assert run("edit nothing.tt player.pos.up --pin").code == 1
