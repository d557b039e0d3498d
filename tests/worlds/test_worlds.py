"""Worlds by name, and their levels. What every world promises is checked in `test_checks.py`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treethink.errors import SettingError, UnknownNameError, WrongTypeError
from treethink.state import Attribute, Object, Schema, State
from treethink.stream.random_play import transitions
from treethink.worlds import WORLDS, World, make
from treethink.worlds.base import Cell
from treethink.worlds.grid import Level
from treethink.worlds.scene import Distribution

# ------------------------------------------------------------------------- by name


def test_variants_are_other_defaults_of_a_world() -> None:
    assert make("maze-t").options == make("maze", width=32, height=32, goals=50).options
    assert make("maze-t", goals=3).options["goals"] == 3
    assert "game" not in make("maze-scoreless").schema.classes
    assert make("maze-scoreless").schema.actions == make("maze").schema.actions


def test_a_scoreless_world_is_the_world_without_its_game() -> None:
    scored, scoreless = make("maze"), make("maze-scoreless")
    for one, other in zip(
        transitions(scored, 200, seed=7), transitions(scoreless, 200, seed=7), strict=True
    ):
        for state, bare in ((one[0], other[0]), (one[2], other[2])):
            assert [each for each in state if each.class_name != "game"] == list(bare)


def test_a_variant_has_its_own_line_and_the_sheet_of_its_world() -> None:
    variant, world = WORLDS["maze-t"], WORLDS["maze"]
    assert variant.summary().startswith("`maze` at 32 x 32")
    assert variant.sheet() == f"{variant.summary()}\n\n{world.sheet()}"


@pytest.mark.parametrize("name", WORLDS)
def test_the_sheet_has_all_headings_in_order(name: str) -> None:
    headings = ["Objects", "Actions", "Dynamics", "Score", "Start", "Options", "Version"]
    lines = [line.strip() for line in WORLDS[name].sheet().splitlines()]
    assert [line for line in lines if line in headings] == headings


def test_numbers_in_brackets_are_options() -> None:
    assert make("scale(3,2)").options == make("scale", players=3, copies=2).options
    assert make("scale( 3 )").options == make("scale", players=3).options
    assert make("walls()").options == make("walls").options
    with pytest.raises(SettingError, match=r"takes players, copies in brackets, got 'scale\(1,2,3"):
        make("scale(1,2,3)")
    with pytest.raises(SettingError, match="world 'maze' takes nothing in brackets"):
        make("maze(3)")
    for wrong in ("scale(3,2", "scale(1 2)", "scale(3,,2)", "scale(-1)", "scale(a)"):
        with pytest.raises(UnknownNameError, match="unknown world 'scale"):
            make(wrong)
    with pytest.raises(SettingError, match="in brackets, got"):
        make("scale(" + "9" * 5000 + ")")
    with pytest.raises(SettingError, match="'players' is given twice"):
        make("scale(3,2)", players=4)
    with pytest.raises(UnknownNameError, match="unknown option 'name' in world 'maze'"):
        make("maze", name=3)
    with pytest.raises(SettingError, match="width"):
        make("maze", width=10**5000)


def a_world(heads: int = 30) -> World:
    """What `make` is pointed at below."""
    return Coin(heads=heads)


def not_a_world() -> int:
    return 3


def test_a_custom_world_is_created_from_its_module_and_name() -> None:
    module = __name__
    assert make(f"{module}:Coin").options == {"heads": 30}
    assert make(f"{module}:Coin", heads=5).options == {"heads": 5}
    assert make(f"{module}:a_world", heads=5).options == {"heads": 5}
    assert make(f"{module}:READY") is READY
    for wrong, complaint in (
        (f"{module}:nobody", "there is no world at"),
        ("no.such.module:world", "there is no world at"),
        (":world", "is given as module:name"),
        ("./lamps.py:world", "is given as module:name"),
        (".lamps:world", "is given as module:name"),
        ("json:dumps", "cannot be called with"),
        (f"{module}:a_world.nobody", "there is no world at"),
        (f"{module}:", "there is no world at"),
    ):
        with pytest.raises(SettingError, match=complaint):
            make(wrong)
    with pytest.raises(SettingError, match="is made already and takes no options"):
        make(f"{module}:READY", heads=3)
    for wrong in ("not_a_world", "np"):
        with pytest.raises(WrongTypeError, match="must be a World or make one"):
            make(f"{module}:{wrong}")


def test_an_unknown_world_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UnknownNameError, match=r"'mase'.*mean 'maze'.*Known: 'maze', .* more"):
        make("mase")
    with pytest.raises(WrongTypeError, match="made by its name, got 3"):
        make(3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"width": 2}, "width must be at least 3"),
        ({"height": 0}, "height must be at least 3"),
        ({"width": -8}, "width must be at least 0, got -8"),
        ({"width": 8.0}, "whole number"),
        ({"width": "8"}, "whole number"),
        ({"goals": True}, "whole number"),
        ({"width": 10**6, "height": 10**6}, "more than 1,000,000 cells"),
        ({"wall_percent": 101}, "wall_percent must be from 0 to 100, got 101"),
        ({"wall_percent": 100}, "3 things need a free cell each, but 8 x 8 leaves only 0"),
        ({"scored": 2}, "scored must be from 0 to 1, got 2"),
        ({"goals": 26}, "27 things need a free cell each, but 8 x 8 leaves only 26"),
        ({"width": 3, "height": 3, "goals": 1}, "leaves only 1"),
    ],
)
def test_impossible_options_are_refused(options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(SettingError, match=complaint):
        make("maze", **options)


class Coin(World):
    """Only what a world must have: shows that chance needs nothing more."""

    name = "coin"
    defaults = {"heads": 30}
    schema = Schema(classes={"coin": ["up"]}, attributes={"up": Attribute(1)}, actions=["toss"])

    def reset(self, seed: int) -> State:
        return State(self.schema, [Object(0, "coin", up=0)])

    def dynamics(self, state: State, action: str) -> Distribution:
        heads = self.options["heads"] / 100
        return [(state.replace(0, up=1), heads), (state.replace(0, up=0), 1 - heads)]


READY = Coin()


def test_a_step_is_drawn_from_the_distribution() -> None:
    ups = [after.value(0, "up") for _, _, after in transitions(Coin(), steps=2_000, seed=0)]
    assert 0.25 < np.mean(ups) < 0.35
    assert Coin(heads=100).step(Coin().reset(0), "toss", np.random.default_rng(0))[0].up == 1


# ---------------------------------------------------------------------- levels


def connected(cells: set[Cell]) -> bool:
    """Slow and obvious: walk from one cell and see whether all are reached."""
    reached: set[Cell] = set()
    edge = set(list(cells)[:1])
    while edge:
        reached |= edge
        around = {
            (x + dx, y + dy) for x, y in edge for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1))
        }
        edge = (around & cells) - reached
    return reached == cells


sides = st.integers(3, 9)


@given(sides, sides, st.integers(0, 10**6))
def test_a_wall_cuts_if_and_only_if_free_cells_lose_their_connection(
    width: int, height: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    level = Level(width, height, rng)
    level.add_walls(int(rng.integers(level.n_free)))
    free = set(level._free)
    assert connected(free)
    for cell in free:
        assert level._disconnects(cell) == (not connected(free - {cell}))


@given(sides, sides, st.integers(0, 10**6))
def test_as_many_walls_as_asked_for_always_fit(width: int, height: int, seed: int) -> None:
    level = Level(width, height, np.random.default_rng(seed))
    level.add_walls(level.n_free - 1)
    assert level.n_free == 1
    assert len(level.walls) == width * height - 1


@given(sides, sides, st.integers(0, 10**6))
def test_a_level_of_walls_is_as_specified(width: int, height: int, seed: int) -> None:
    state = make("walls", width=width, height=height).reset(seed)
    walls = [wall.pos for wall in state.of_class("wall")]
    border = {(x, y) for x in range(width) for y in range(height)} - {
        (x, y) for x in range(1, width - 1) for y in range(1, height - 1)
    }
    assert border <= set(walls)
    assert len(walls) == len(set(walls)) == len(border) + (width - 2) * (height - 2) * 3 // 10
    assert len(state.of_class("player")) == 1
    assert state.of_class("player")[0].pos not in walls


@given(st.integers(5, 9), st.integers(5, 9), st.integers(0, 6), st.integers(0, 10**6))
def test_a_level_of_maze_puts_things_on_different_free_cells(
    width: int, height: int, goals: int, seed: int
) -> None:
    state = make("maze", width=width, height=height, goals=goals).reset(seed)
    cells = [each.pos for each in state if each.class_name != "game"]
    assert len(cells) == len(set(cells))
    assert len(state.of_class("goal")) == goals
    assert [game.score for game in state.of_class("game")] == [0]


def test_the_smallest_level_holds_one_player_and_nothing_moves() -> None:
    world = make("walls", width=3, height=3)
    state = world.reset(0)
    assert state.of_class("player")[0].pos == (1, 1)
    for action in world.actions:
        assert world.distribution(state, action) == [(state, 1.0)]


def test_players_start_everywhere() -> None:
    world = make("walls")
    starts = {world.reset(seed).of_class("player")[0].pos for seed in range(1_000)}
    assert starts == {(x, y) for x in range(1, 7) for y in range(1, 7)}


def test_a_level_refuses_what_does_not_fit() -> None:
    level = Level(4, 4, np.random.default_rng(0))
    with pytest.raises(SettingError, match="cannot place 4 walls on 4 cells"):
        level.add_walls(4)
    with pytest.raises(SettingError, match="cannot place 5 things on 4 free cells"):
        level.take(5)


# ------------------------------------------------------------- what they hold


def test_the_score_of_maze_takes_part_in_no_facts() -> None:
    assert make("maze").schema.attributes["score"] == Attribute(1, facts=())


def test_scores_add_up_over_an_episode() -> None:
    world = make("maze", goals=3)
    for before, action, after in transitions(world, steps=500, seed=2):
        (player,), (old,), (new,) = (
            after.of_class("player"), before.of_class("game"), after.of_class("game")
        )  # fmt: skip
        points = new.score - old.score
        stood_still = player == before.of_class("player")[0]
        on_goal = player.pos in {goal.pos for goal in after.of_class("goal")}
        if points == -2:
            assert stood_still and action != "stay"
        else:
            assert points == (1 if on_goal else -1)
            assert stood_still == (action == "stay")
