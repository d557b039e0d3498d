"""The world `doors`: which doors block whom, changes of color, and colors of levels."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treethink.errors import SettingError
from treethink.state import Object, State
from treethink.stream.random_play import transitions
from treethink.worlds import make
from treethink.worlds.looks import look_of

STEPS = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}
seeds = st.integers(0, 10**6)
cells = st.tuples(st.integers(0, 3), st.integers(0, 3))


def what_follows(state: State, action: str, n_colors: int) -> State:
    """Slow and obvious: ask every object."""
    (player,) = (each for each in state if each.class_name == "player")
    doors = [each for each in state if each.class_name == "door"]
    if action == "change-color":
        on_a_door = any(door.pos == player.pos for door in doors)
        last = player.color == n_colors - 1
        color = player.color if on_a_door else 0 if last else player.color + 1
        return state.replace(player.id, color=color)
    dx, dy = STEPS[action]
    target = (player.pos[0] + dx, player.pos[1] + dy)
    for each in state:
        if each.class_name == "wall" and each.pos == target:
            return state
    for door in doors:
        if door.pos == target and door.color != player.color:
            return state
    return state.replace(player.id, pos=target)


@given(st.data(), st.integers(2, 4), st.sampled_from([*STEPS, "change-color"]))
def test_what_follows_is_what_every_object_allows(
    data: st.DataObject, n_colors: int, action: str
) -> None:
    """Also where no level leads to: things on one cell, a player on a door of another color."""
    world, colors = make("doors", colors=n_colors), st.integers(0, n_colors - 1)
    objects = [Object(0, "player", pos=data.draw(cells), color=data.draw(colors))]
    for pos in data.draw(st.lists(cells, max_size=8)):
        objects.append(Object(len(objects), "door", pos=pos, color=data.draw(colors)))
    for pos in data.draw(st.lists(cells, max_size=5)):
        objects.append(Object(len(objects), "wall", pos=pos))
    state = State(world.schema, objects)
    assert world.distribution(state, action) == [(what_follows(state, action, n_colors), 1.0)]


@given(st.integers(5, 9), st.integers(5, 9), st.integers(0, 6), st.integers(2, 5), seeds)
def test_things_start_on_different_cells_and_touching_doors_have_one_color(
    width: int, height: int, doors: int, colors: int, seed: int
) -> None:
    state = make("doors", width=width, height=height, doors=doors, colors=colors).reset(seed)
    everywhere = [each.pos for each in state]
    assert len(everywhere) == len(set(everywhere))
    color_at = {door.pos: door.color for door in state.of_class("door")}
    assert len(color_at) == doors
    for (x, y), color in color_at.items():
        assert 0 <= color < colors
        for dx, dy in STEPS.values():
            assert color_at.get((x + dx, y + dy), color) == color
    (player,) = state.of_class("player")
    assert 0 <= player.color < colors


def test_a_level_full_of_doors_has_one_color() -> None:
    world = make("doors", wall_percent=0, doors=35)
    for seed in range(20):  # every cell but the player's, so all of them touch
        color_of = [door.color for door in world.reset(seed).of_class("door")]
        assert len(color_of) == 35 and len(set(color_of)) == 1


def test_colors_are_drawn_for_the_player_and_for_each_group_of_doors() -> None:
    world = make("doors", doors=3, wall_percent=0, width=30, height=30, colors=3)
    levels = [world.reset(seed) for seed in range(600)]
    colors_by_level = [
        tuple(each.color for each in level if each.class_name in ("door", "player"))
        for level in levels
    ]
    for place in range(4):
        for color in range(3):
            assert 150 < sum(colors[place] == color for colors in colors_by_level) < 250
    assert len(set(colors_by_level)) == 3**4


def test_whoever_stands_on_a_door_has_its_color() -> None:
    on_doors = 0
    for _, _, state in transitions(make("doors", doors=8, colors=3), 3_000, seed=0):
        (player,) = state.of_class("player")
        for door in state.find("door", pos=player.pos):
            assert door.color == player.color
            on_doors += 1
    assert on_doors > 100


@pytest.mark.parametrize("colors", [2, 3, 26])
def test_the_scenes_hold_for_any_number_of_colors(colors: int) -> None:
    world = make("doors", colors=colors)
    for scene in world.scenes():
        assert world.distribution(scene.before, scene.action) == scene.truth, scene.says


def test_every_color_has_its_own_signs() -> None:
    world = make("doors", colors=26)
    signs = {
        look_of(world.looks, Object(0, class_name, pos=(1, 1), color=color)).sign
        for class_name in ("door", "player")
        for color in range(26)
    }
    assert len(signs) == 52 and "?" not in signs


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"colors": 1}, "colors must be from 2 to 26, got 1"),
        ({"colors": 27}, "colors must be from 2 to 26, got 27"),
        ({"doors": 26}, "27 things need a free cell each, but 8 x 8 leaves only 26"),
        ({"doors": -1}, "doors must be at least 0"),
    ],
)
def test_impossible_options_are_refused(options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(SettingError, match=f"world 'doors': {complaint}"):
        make("doors", **options)
