"""Worlds of one's own: docs/own-world.md in a terminal, and errors of wrong worlds."""

from __future__ import annotations

import copy
import pickle
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from treethink import cli
from treethink.checks import check_world
from treethink.errors import SettingError, StateError, UnknownNameError, WrongTypeError
from treethink.model import TreeThink
from treethink.planning import Agent
from treethink.play.game import Game
from treethink.state import Object, Schema, State
from treethink.stream.parallel import parallel_transitions
from treethink.stream.random_play import transitions
from treethink.worlds import World, make

PAGE = Path(__file__).parents[2] / "docs" / "own-world.md"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the file that the page says to write, and the class that it adds to it."""
    page = PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (code,) = (each for each in blocks if "class Hall(World)" in each)
    (more,) = (each for each in blocks if "class LongHall(Hall)" in each)
    added = more.partition("\n\n\n")[0]
    (tmp_path / "hall.py").write_text(f"{code}\n\n{added}\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "hall", raising=False)
    return tmp_path


def run(arguments: list[str]) -> object:
    """The exit code of a command."""
    try:
        cli.main(arguments)
    except SystemExit as ended:
        return ended.code or 0
    return 0


def test_the_commands_of_the_page_work_in_its_order(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = PAGE.read_text(encoding="utf-8")
    commands = re.findall(r"`treethink ((?:learn|plan) hall:[^`]+)`", text)
    assert [each.split()[0] for each in commands] == ["learn", "plan", "learn"]
    for each in commands:
        assert run(shlex.split(each)) == 0
    assert (folder / "Hall.tt").exists() and (folder / "LongHall-length30.tt").exists()
    assert "score" in capsys.readouterr().out


# ------------------------------------------------------------------ with an __init__ of its own


class Belts(World):
    """A parcel goes round on a belt. Nobody calls `World.__init__`."""

    name = "belts"
    schema = Schema({"parcel": ["at"]}, {"at": 1}, ["go"])

    def __init__(self, size: int = 6):
        self.size = size

    def reset(self, seed: int) -> State:
        return State(self.schema, [Object(0, "parcel", at=self.generator(seed).integers(3))])

    def dynamics(self, state: State, action: str) -> list[tuple[State, float]]:
        return [(state.replace(0, at=(state[0].at + 1) % self.size), 1.0)]


class Quiet(Belts):
    """A parcel on a belt that calls `World.__init__`, and tells it nothing."""

    def __init__(self, size: int = 6):
        World.__init__(self)
        self.size = size


@pytest.mark.parametrize("kind", [Belts, Quiet])
def test_a_world_may_define_its_own_init(kind: type[Belts]) -> None:
    world = kind(size=4)
    model = TreeThink(world.schema)
    model.observe_many(transitions(world, 200, seed=0))
    assert not model.check(world, 100)
    assert repr(world) == f"{kind.__name__}(size=4)" and repr(kind(4)) == f"{kind.__name__}(4)"
    assert world.options == {} and kind().options is not world.options
    check_world(world)


@pytest.mark.parametrize("kind", [Belts, Quiet])
def test_such_a_world_is_the_same_in_another_process(kind: type[Belts]) -> None:
    for world in (kind(3), kind(size=3)):
        assert pickle.loads(pickle.dumps(world)).size == copy.deepcopy(world).size == 3
    stream = parallel_transitions([kind(3)], 60, [0], processes=1)
    assert [each for _, each in stream] == list(transitions(kind(3), 60, 0))


def test_undeclared_options_are_refused_with_advice() -> None:
    class Unstated(Belts):
        def __init__(self, size: int = 6):
            World.__init__(self, size=size)

    message = r"unknown option 'size' in world 'belts'.*defaults = {\"size\": 6}"
    with pytest.raises(UnknownNameError, match=message) as raised:
        Unstated()
    assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)
    with pytest.raises(UnknownNameError, match="unknown option 'size'") as raised:
        make("maze", size=6)
    assert "defaults" not in str(raised.value)


# -------------------------------------------------------------------- with mistakes in it


class Lamp(World):
    """A lamp whose dynamics, or first state, are whatever a test says."""

    name = "lamp"
    schema = Schema({"lamp": ["on"], "game": ["score"]}, {"on": 1, "score": 1}, ["press"])
    first = State(schema, [Object(0, "lamp", on=0), Object(1, "game", score=0)])

    def __init__(self, follows: Any = None, first: Any = None):
        self.follows, self.starts = follows, self.first if first is None else first

    def reset(self, seed: int) -> Any:
        return self.starts

    def dynamics(self, state: State, action: str) -> Any:
        return self.follows


LIT = Lamp.first.replace(0, on=1)
WRONG: list[Any] = [
    None,
    LIT,
    (LIT, 1.0),
    [LIT],
    [(LIT,)],
    [(1.0, LIT)],
    [(LIT, "1")],
    [(LIT.to_dict(), 1.0)],
    {LIT: 1.0},
]


@pytest.mark.parametrize("follows", WRONG, ids=range(len(WRONG)))
def test_dynamics_that_return_no_distribution_are_refused(follows: Any) -> None:
    world = Lamp(follows)
    message = (
        r"world 'lamp': dynamics must return \[\(state, probability\), \.\.\.\], got .* 'press'"
    )
    with pytest.raises(WrongTypeError, match=message):
        world.distribution(world.first, "press")
    with pytest.raises(WrongTypeError, match=message):
        TreeThink(world.schema).observe_many(transitions(world, 10, 0))


@pytest.mark.parametrize(
    ("shares", "sum_text"),
    [
        ([0.5], "0.5"),
        ([0.25, 0.25], "0.25, 0.25"),
        ([1.5, -0.5], "1.5, -0.5"),
        ([float("nan")], "nan"),
        ([], "none"),
        ([0.2] * 9, r"(0\.2, ){8}\.\.\."),
    ],
)
def test_probabilities_must_sum_to_one(shares: list[float], sum_text: str) -> None:
    world = Lamp([(LIT.replace(0, on=i), share) for i, share in enumerate(shares)])
    message = f"what follows 'press' must sum to 1, got {sum_text}$"
    with pytest.raises(StateError, match=message):
        world.distribution(world.first, "press")
    with pytest.raises(StateError, match=message):
        TreeThink(world.schema).observe_many(transitions(world, 10, 0))


def test_probabilities_may_be_numbers_of_any_kind() -> None:
    for one in (1, 1.0, np.float32(1), np.int64(1)):
        assert Lamp([(LIT, one)]).step(Lamp.first, "press", np.random.default_rng(0)) == LIT
    thirds = [(LIT.replace(0, on=i), 1 / 3) for i in range(3)]
    assert Lamp(thirds).distribution(Lamp.first, "press") == thirds


def test_a_reset_that_returns_no_state_is_refused() -> None:
    world = Lamp([(LIT, 1.0)], first=list(Lamp.first))
    message = r"world 'lamp': reset must return a State\(schema, objects\), got \[Object\(0, 'lamp'"
    with pytest.raises(WrongTypeError, match=message):
        next(transitions(world, 10, 0))
    with pytest.raises(WrongTypeError, match=message):
        Game(world)
    with pytest.raises(WrongTypeError, match=message):
        Agent(TreeThink(world.schema)).play(world, steps=3)


# -------------------------------------------------------------------- with a wrong name


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("bad", r"unknown world 'bad' .* is given as module:name, such as mygame\.worlds:Lamp\.$"),
        ("../own/belts.py", r"is a path\. .* module:name.*in the folder \.\./own: belts:name"),
        ("belts.py", r"is a path\. .* module:name.*in this folder: belts:name"),
        ("own\\belts", r"is a path\. .*in the folder own: belts:name"),
    ],
)
def test_the_error_explains_how_to_name_a_custom_world(name: str, message: str) -> None:
    with pytest.raises((UnknownNameError, SettingError), match=message):
        make(name)


def test_a_mistyped_name_of_a_world_gets_only_a_suggestion() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'maze'") as raised:
        make("mase")
    assert "module:name" not in str(raised.value)
