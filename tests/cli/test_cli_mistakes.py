"""Mistakes of the user end where the user made them: one clear error, with what to do."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from command_line import check_refused, runner
from models import learned

LIFT = '''
import treethink as tt


class Lift(tt.worlds.World):
    """A lift goes up, and breaks at the top."""

    name = "lift"
    schema = tt.Schema({"lift": ["floor"]}, {"floor": 1}, ["up"])

    def reset(self, seed):
        return tt.State(self.schema, [tt.Object(0, "lift", floor=seed % 3)])

    def dynamics(self, state, action):
        return self.moved(state)

    def moved(self, state):
        if state[0].floor > 5:
            BREAK
        return [(state.replace(0, floor=state[0].floor + 1), 1.0)]


class NoSchema(Lift):
    name = "no-schema"
    schema = None


class NoName(Lift):
    name = None


class NoMethods(tt.worlds.World):
    name = "no-methods"
    schema = Lift.schema


class NoReset(NoMethods):
    def dynamics(self, state, action):
        return [(state, 1.0)]


class Picky(Lift):
    def __init__(self, **options):
        super().__init__(**options)
'''


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that runs a command line in a folder with worlds of one's own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    for module in ("lift", "broken", "halved"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    Path("lift.py").write_text(LIFT.replace("BREAK", "1 / 0"), encoding="utf-8")
    learned("maze", 300).save("maze.tt")
    Path("log.csv").write_text("step,floor\n0,1\n")
    Path("folder").mkdir()
    return runner(capsys)


# ------------------------------------------------------------------ errors in own code


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("1 / 0", "ZeroDivisionError in your own code: division by zero"),
        ("{}['top']", "KeyError in your own code: there is no key 'top'"),
        ("state.replace(0, flor=1)", "UnknownNameError in your own code: unknown attribute 'flor'"),
        ("open('missing.txt')", "FileNotFoundError in your own code: "),
        ("raise ValueError", "ValueError in your own code: no message"),
        ("raise tt.SettingError('a bad floor')", "SettingError in your own code: a bad floor"),
        ("__import__('json').loads('{')", "JSONDecodeError in your own code: "),
        (r"raise ValueError('\x1b[31m')", r"ValueError in your own code: \x1b[31m"),
    ],
)
def test_an_error_in_dynamics_shows_its_file_and_line(
    run: Any, statement: str, message: str
) -> None:
    Path("lift.py").write_text(LIFT.replace("BREAK", statement), encoding="utf-8")
    result = run("learn lift:Lift --quiet")
    assert result.code == 1 and result.out == ""
    lines = result.err.splitlines()
    assert lines[0].startswith(f"treethink: {message}")
    number = 1 + [*map(str.strip, Path("lift.py").read_text().splitlines())].index(statement)
    assert lines[-2:] == [f'  File "lift.py", line {number}, in moved', f"    {statement}"]
    assert f'  File "lift.py", line {number - 4}, in dynamics' in lines
    assert len(lines) == 5 and not Path("Lift.tt").exists()


def test_an_error_in_a_module_is_that_of_its_line(run: Any) -> None:
    schema = "tt.Schema({'a': ['b', 'b']}, {'b': 1}, [])"
    Path("broken.py").write_text(f"import treethink as tt\n\n{schema}\n")
    result = run("worlds broken:World")
    assert result.code == 1
    assert result.err.startswith("treethink: SchemaError in your own code: ")
    assert '  File "broken.py", line 3, in <module>\n' in result.err
    Path("halved.py").write_text("import treethink\n\ndef half(:\n    pass\n")
    result = run("worlds halved:World")
    assert result.code == 1 and result.err.startswith("treethink: SyntaxError in your own code: ")
    assert result.err.endswith('  File "halved.py", line 3\n    def half(:\n')


def test_an_invalid_option_of_an_own_world_is_a_usage_error(run: Any) -> None:
    result = run("learn lift:Picky --set speed=3")
    assert result.code == 2 and result.err.count("\n") == 1
    assert "speed" in result.err


# ------------------------------------------------------------------- one clear error


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("learn lift:Lfit", "no 'Lfit' in lift. Did you mean 'Lift'?"),
        ("learn lfit:Lift", "No module named 'lfit'. Did you mean 'lift'?"),
        ("learn lift.py:Lift", "is given as module:name, here lift:Lift, got 'lift.py:Lift'"),
        ("learn sub/lift.py:Lift", "here lift:Lift in the folder sub, got 'sub/lift.py:Lift'"),
        ("learn lift.py", "'lift.py' is a path. A world of your own is given as module:name"),
        ("learn lift:NoSchema", "the world 'lift:NoSchema' needs a schema: state it in its class"),
        ("learn lift:NoName", "the world 'lift:NoName' needs a name: state it in its class"),
        ("learn lift:NoMethods", "needs the method dynamics(self, state, action) and reset(self, "),
        ("learn lift:NoReset", "the world 'lift:NoReset' needs the method reset(self, seed)"),
        ("learn log.csv", "'log.csv' is no world: it is a log: treethink learn --log log.csv"),
        (
            "learn maze.tt",
            "'maze.tt' is no world: it is a saved model; continue it with: ",
        ),
        (
            "play folder",
            "'folder' is no world: it is a folder; `treethink worlds` lists",
        ),
        ("plan exp.toml", "'exp.toml' is no world: it is a config"),
        ("learn .", "'.' is no world: it is a folder"),
    ],
)
def test_what_is_no_world_is_one_line_that_says_what_to_do(
    run: Any, line: str, message: str
) -> None:
    check_refused(run, line, message)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "rules mase.tt",
            "cannot read 'mase.tt': No such file or directory. Did you mean 'maze.tt'",
        ),
        ("rules maze", "maze is a world, which this command learns: treethink learn maze"),
        ("summary nothing", "cannot read 'nothing': No such file or directory\n"),
        ("rules folder", "cannot read 'folder': Is a directory"),
        ("rules log.csv", "'log.csv' is not a TreeThink model file"),
        ("check log.csv maze", "'log.csv' is not a TreeThink model file"),
    ],
)
def test_what_is_no_model_is_one_line_that_says_what_to_do(
    run: Any, line: str, message: str
) -> None:
    check_refused(run, line, message, code=1)


@pytest.mark.skipif(os.name != "posix" or os.getuid() == 0, reason="may read everything")
def test_an_unreadable_model_is_one_line(run: Any) -> None:
    Path("maze.tt").chmod(0)
    result = run("rules maze.tt")
    assert result.code == 1 and result.err.endswith("cannot read 'maze.tt': Permission denied\n")
