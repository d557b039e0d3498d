"""The levels of the planning experiments: the paper's walls and goals, worth playing."""

from __future__ import annotations

from typing import Any

import pytest

from treethink.errors import ResourceError, SettingError, UnknownNameError, WrongTypeError
from treethink.planning.paper_levels import SETTINGS, Setting, levels, settings
from treethink.planning.scores import score_bounds
from treethink.worlds import make

WORLDS = {"maze": "goal", "coins": "coin", "keys": "goal"}


def test_the_settings_are_those_of_the_paper() -> None:
    assert [(s.width, s.height, s.walls, s.goals, s.steps) for s in SETTINGS] == [
        (8, 8, 10, 2, 10),
        (10, 10, 20, 5, 20),
        (12, 12, 50, 10, 30),
        (14, 14, 80, 15, 40),
        (16, 16, 160, 20, 50),
    ]
    assert [s.label for s in SETTINGS] == ["8x8", "10x10", "12x12", "14x14", "16x16"]


@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.label)
def test_every_level_has_just_the_walls_and_goals_of_its_setting(
    name: str, setting: Setting
) -> None:
    world = make(name, **setting.options(name))
    border = 2 * (setting.width + setting.height) - 4
    for seed in range(100):
        state = world.reset(seed)
        assert len(state.of_class("wall")) == border + setting.walls
        assert len(state.of_class(WORLDS[name])) == setting.goals
    assert name != "keys" or (len(state.of_class("door")), len(state.of_class("key"))) == (2, 3)


def test_walls_that_no_percentage_makes_are_refused() -> None:
    with pytest.raises(SettingError, match=r"no whole wall_percent of 900 cells makes 10 walls"):
        Setting(32, 32, walls=10, goals=1, steps=5).options("maze")


def test_other_worlds_have_no_settings() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'maze'"):
        settings("mase")


@pytest.mark.parametrize("name", WORLDS)
def test_levels_are_worth_playing_and_know_their_scores(name: str) -> None:
    setting, options = settings(name)[0]
    world = make(name, **options)
    result = list(levels(world, setting.steps, 100, 40))
    assert len(result) == 40
    for i, level in enumerate(result):
        assert level.seed == 100 + i + level.redrawn * 1_000_000_000
        assert level.state == world.reset(level.seed)
        assert level.bounds == score_bounds(world, level.state, setting.steps)
        assert level.bounds.worth_playing
        for k in range(level.redrawn):
            dull = world.reset(100 + i + k * 1_000_000_000)
            assert not score_bounds(world, dull, setting.steps).worth_playing


def test_a_level_depends_on_no_other() -> None:
    world = make("maze")
    result = list(levels(world, 4, 0, 30))
    assert any(level.redrawn for level in result)
    for i, level in enumerate(result):
        assert list(levels(world, 4, i, 1)) == [level]


def test_where_nothing_is_worth_playing_it_ends() -> None:
    with pytest.raises(ResourceError, match="of 1,000 levels, from seed 7 on, none is worth"):
        list(levels(make("maze", width=4, height=4, wall_percent=0, goals=0), 3, 7, 1))


def test_levels_refuses_invalid_arguments_at_once() -> None:
    maze: Any = make("maze")
    for wrong in [(maze, 0, 0, 1), (maze, True, 0, 1), (maze, 5, -1, 1), (maze, 5, 0, 1.5)]:
        with pytest.raises(SettingError, match="must be"):
            levels(*wrong)
    with pytest.raises(SettingError, match="keeps no score"):
        levels(make("walls"), 5, 0, 1)
    with pytest.raises(WrongTypeError, match="levels needs a World"):
        levels("maze", 5, 0, 1)  # type: ignore[arg-type]
