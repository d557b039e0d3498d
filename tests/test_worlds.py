"""Worlds: they repeat themselves, keep their hands off given states, and do what they say."""

from __future__ import annotations

import copy
import pickle
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treethink.errors import SettingError, StateError, UnknownNameError
from treethink.state import Attribute, Object, Schema, State
from treethink.stream import transitions
from treethink.worlds import WORLDS, Scene, World, make
from treethink.worlds.base import Distribution
from treethink.worlds.grid import Cell, Level

every_world = pytest.mark.parametrize("name", WORLDS)


# ---------------------------------------------------- contracts of every world


@every_world
def test_two_instances_with_one_seed_give_equal_rollouts(name: str) -> None:
    one = list(transitions(make(name), steps=120, seed=3))
    other = list(transitions(make(name), steps=120, seed=3))
    assert one == other
    assert one != list(transitions(make(name), steps=120, seed=4))


@every_world
def test_a_step_leaves_the_old_state_alone(name: str) -> None:
    for before, action, _ in transitions(make(name), steps=100, seed=0):
        as_it_was = copy.deepcopy(before.to_dict())
        make(name).step(before, action, np.random.default_rng(0))
        make(name).distribution(before, action)
        assert before.to_dict() == as_it_was


@every_world
def test_every_state_obeys_the_schema_and_keeps_its_objects(name: str) -> None:
    world = make(name)
    for before, _, after in transitions(world, steps=100, seed=0):
        assert before.schema == world.schema
        assert after.ids == before.ids
        assert State.from_dict(world.schema, after.to_dict()) == after


@every_world
def test_sampled_states_match_the_stated_distribution(name: str) -> None:
    world, rng, samples = make(name), np.random.default_rng(0), 300
    for before, action, _ in transitions(world, steps=20, seed=5):
        truth = dict(world.distribution(before, action))
        assert sum(truth.values()) == pytest.approx(1.0)
        seen = Counter(world.step(before, action, rng) for _ in range(samples))
        assert seen.keys() <= truth.keys()
        for state, probability in truth.items():
            spread = (samples * probability * (1 - probability)) ** 0.5
            assert abs(seen[state] - samples * probability) <= 5 * spread


@every_world
def test_scenes_written_by_hand_come_true(name: str) -> None:
    world = make(name)
    scenes = world.scenes()
    assert {scene.action for scene in scenes} == set(world.actions)
    for scene in scenes:
        assert world.distribution(scene.before, scene.action) == [(scene.after, 1.0)], scene.says


@every_world
def test_a_world_is_its_options(name: str) -> None:
    world = make(name, width=6)
    again: World = pickle.loads(pickle.dumps(world))
    assert again.options == world.options and repr(again) == repr(world)
    assert again.reset(1) == world.reset(1)


@every_world
def test_the_specification_has_all_headings(name: str) -> None:
    sheet = WORLDS[name].__doc__ or ""
    headings = ["Objects", "Actions", "Dynamics", "Score", "Start", "Options", "Version"]
    assert [line.strip() for line in sheet.splitlines() if line.strip() in headings] == headings
    for option in WORLDS[name].defaults:
        assert option in sheet


@every_world
def test_what_is_wrong_is_refused(name: str) -> None:
    world = make(name)
    state = world.reset(0)
    rng = np.random.default_rng(0)
    with pytest.raises(UnknownNameError, match=f"'lefft' in world '{name}'.*mean 'left'"):
        world.step(state, "lefft", rng)
    with pytest.raises(UnknownNameError, match="unknown action"):
        world.distribution(state, 3)  # type: ignore[arg-type]
    other = Schema(classes={"thing": ["pos"]}, attributes={"pos": 2}, actions=world.actions)
    with pytest.raises(StateError, match="another schema"):
        world.step(State(other, [Object(0, "thing", pos=(0, 0))]), "left", rng)
    with pytest.raises(StateError, match="exactly one player, the state has 0"):
        world.step(State(world.schema, []), "left", rng)
    with pytest.raises(UnknownNameError, match=r"option 'widht'.*mean 'width'"):
        make(name, widht=8)
    for seed in (-1, 0.5, None, True):
        with pytest.raises(SettingError, match="seed must be a whole number"):
            world.reset(seed)  # type: ignore[arg-type]


def test_an_unknown_world_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UnknownNameError, match=r"'mase'.*mean 'maze'.*Known: 'maze', 'walls'"):
        make("mase")


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"width": 2}, "width must be at least 3"),
        ({"height": 0}, "height must be at least 3"),
        ({"width": -8}, "width must be a whole number, 0 or more, got -8"),
        ({"width": 8.0}, "whole number"),
        ({"width": "8"}, "whole number"),
        ({"goals": True}, "whole number"),
        ({"width": 10**6, "height": 10**6}, "more than 1,000,000 cells"),
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
        assert level._cuts(cell) == (not connected(free - {cell}))


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


def test_a_state_that_was_never_reached_by_steps_is_understood() -> None:
    """What a world remembers of the states it met must not leak into others."""
    world = make("maze")
    scene = next(each for each in world.scenes() if "right costs two" in each.says)
    for _ in transitions(world, steps=100, seed=0):
        pass
    (wall,) = scene.before.of_class("wall")
    without = scene.before.replace(wall.id, pos=(9, 9))
    after = world.step(without, scene.action, np.random.default_rng(0))
    assert after.of_class("player")[0].pos == (2, 0)
    assert isinstance(scene, Scene)


# ---------------------------------------------------------------------- streams


def test_a_stream_starts_a_new_level_every_episode() -> None:
    stream = list(transitions(make("walls"), steps=25, seed=0, episode=10))
    starts = [i for i in range(1, 25) if stream[i][0] != stream[i - 1][2]]
    assert len(stream) == 25 and starts == [10, 20]


def test_a_stream_plays_every_action_about_equally_often() -> None:
    actions = Counter(action for _, action, _ in transitions(make("maze"), 5_000, seed=0))
    assert all(900 < count < 1_100 for count in actions.values()) and len(actions) == 5


@pytest.mark.parametrize("wrong", [{"steps": -1}, {"episode": 0}, {"seed": -1}])
def test_a_stream_refuses_what_makes_no_sense(wrong: dict[str, int]) -> None:
    with pytest.raises(SettingError, match=f"{next(iter(wrong))} must be at least"):
        transitions(make("walls"), **{"steps": 10, "seed": 0, **wrong})
