"""The world `paths`: in any number of dimensions, a player walks only on paths."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treethink.errors import SettingError
from treethink.state import Object, State
from treethink.stream.random_play import transitions
from treethink.worlds import World, make

Point = tuple[int, ...]
every_dimension = pytest.mark.parametrize("dimensions", range(1, 9))


def point(each: Object) -> Point:
    return each.pos if isinstance(each.pos, tuple) else (each.pos,)


def path(state: State) -> set[Point]:
    return {point(each) for each in state if each.class_name == "path"}


def near(cell: Point, world: World) -> dict[str, Point]:
    """The cell beside `cell` for every action, by what the actions' names say."""
    named = {"left": (0, -1), "right": (0, 1), "up": (1, -1), "down": (1, 1)}
    cells = {}
    for action in world.actions:
        sign, _, axis = action.partition("-")
        along, by = named.get(action) or (int(axis), {"plus": 1, "minus": -1}[sign])
        beside = list(cell)
        beside[along] += by
        cells[action] = tuple(beside)
    return cells


@given(st.integers(1, 4), st.data())
def test_the_player_moves_if_and_only_if_there_is_a_path(
    dimensions: int, data: st.DataObject
) -> None:
    world = make("paths", dimensions=dimensions, size=3)
    points = st.tuples(*[st.integers(-1, 1)] * dimensions)
    blocks, start = data.draw(st.lists(points, max_size=40)), data.draw(points)
    objects = [Object(90 - i, "path", pos=each) for i, each in enumerate(blocks)]
    before = State(world.schema, [*objects, Object(100, "player", pos=start)])
    for action, target in near(start, world).items():
        after = before.replace(100, pos=target) if target in blocks else before
        assert world.distribution(before, action) == [(after, 1.0)]


@every_dimension
def test_there_are_two_actions_along_each_axis(dimensions: int) -> None:
    actions = make("paths", dimensions=dimensions, size=2).actions
    named = ("left", "right", "up", "down", "minus-2", "plus-2", "minus-3", "plus-3")
    assert actions[:8] == named[: 2 * dimensions] and len(set(actions)) == 2 * dimensions


@given(st.integers(1, 4), st.integers(1, 5), st.integers(0, 100), st.integers(0, 10**6))
def test_a_level_has_a_connected_path_of_the_size_asked_for_and_the_player_on_it(
    dimensions: int, size: int, percent: int, seed: int
) -> None:
    world = make("paths", dimensions=dimensions, size=size, path_percent=percent)
    state = world.reset(seed)
    cells = path(state)
    assert len(cells) == len(state.of_class("path")) == max(1, size**dimensions * percent // 100)
    assert all(0 <= number < size for cell in cells for number in cell)
    (player,) = state.of_class("player")
    reached, edge = set[Point](), {point(player)}
    assert edge <= cells
    while edge:
        reached |= edge
        edge = {beside for cell in edge for beside in near(cell, world).values()} & cells - reached
    assert reached == cells


def test_paths_and_players_start_everywhere() -> None:
    world = make("paths", size=3, path_percent=34)
    states = [world.reset(seed) for seed in range(300)]
    everywhere = set(product(range(3), repeat=2))
    assert {state.of_class("player")[0].pos for state in states} == everywhere
    assert len({frozenset(path(state)) for state in states}) > 15  # of 22 connected threes


@every_dimension
def test_players_never_leave_the_path(dimensions: int) -> None:
    world = make("paths", dimensions=dimensions, size=9 if dimensions < 4 else 2)
    moves = 0
    for before, _, after in transitions(world, steps=300, seed=0):
        assert path(after) == path(before)
        assert point(after.of_class("player")[0]) in path(after)
        moves += before != after
    assert moves > 30


@every_dimension
def test_scenes_ask_every_action_and_come_true(dimensions: int) -> None:
    world = make("paths", dimensions=dimensions, size=2)
    scenes = world.scenes()
    assert {scene.action for scene in scenes} == set(world.actions)
    assert len({scene.says for scene in scenes}) == len(scenes)
    for scene in scenes:
        assert world.distribution(scene.before, scene.action) == scene.truth, scene.says
    for action in world.actions:
        moves = [each.truth[0][0] != each.before for each in scenes if each.action == action]
        assert sum(moves) >= 2 and len(moves) - sum(moves) >= 2


@pytest.mark.parametrize(("dimensions", "size"), [(1, 9), (2, 5), (3, 3), (4, 3), (5, 3), (8, 2)])
def test_no_two_cells_are_drawn_in_one_place_and_slices_have_a_gap(
    dimensions: int, size: int
) -> None:
    world = make("paths", dimensions=dimensions, size=size)
    places = {
        cell: world.place(Object(0, "path", pos=cell))
        for cell in product(range(size), repeat=dimensions)
    }
    assert len(set(places.values())) == size**dimensions
    columns = {place[0] for place in places.values() if place is not None}
    slices = size ** (dimensions // 2 - 1) if dimensions > 1 else 1
    if dimensions > 2 and dimensions % 2:  # the last axis, of 3, takes two lines: 2 and 1
        slices *= 2
    assert len(columns) == slices * size
    assert max(columns) == slices * size + slices - 2 and min(columns) == 0


def test_the_first_axes_are_columns_and_rows_and_the_next_lies_beside() -> None:
    flat, deep = make("paths"), make("paths", dimensions=4)
    assert flat.place(Object(0, "player", pos=(3, 5))) == (3, 5)
    assert deep.place(Object(0, "player", pos=(3, 5, 1, 0))) == (3 + 9, 5)
    assert deep.place(Object(0, "player", pos=(3, 5, 0, 2))) == (3, 5 + 18)
    assert make("paths", dimensions=1).place(Object(0, "player", pos=6)) == (6, 0)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"dimensions": 0}, "world 'paths': dimensions must be from 1 to 8, got 0"),
        ({"dimensions": 9}, "dimensions must be from 1 to 8, got 9"),
        ({"size": 0}, "size must be from 1 to 1,000, got 0"),
        ({"size": 1_001}, "size must be from 1 to 1,000, got 1001"),
        ({"path_percent": 101}, "path_percent must be from 0 to 100, got 101"),
        ({"dimensions": 8}, "8 to the power of 8 cells is 6,710,886 blocks, more than 100,000"),
    ],
)
def test_impossible_options_are_refused(options: dict[str, int], complaint: str) -> None:
    with pytest.raises(SettingError, match=complaint):
        make("paths", **options)
