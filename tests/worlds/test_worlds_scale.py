"""The world `scale`: any number of players and copies, and every action moves one player."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treethink.errors import SettingError
from treethink.state import Object, State
from treethink.worlds import make

STEPS = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}
cells = st.tuples(st.integers(0, 3), st.integers(0, 3))
sizes = st.tuples(st.integers(1, 4), st.integers(1, 3))


@given(sizes, st.sets(cells, max_size=6), st.data())
def test_what_follows_is_what_the_name_of_the_action_says(
    size: tuple[int, int], walls: set[tuple[int, int]], data: st.DataObject
) -> None:
    world = make("scale", players=size[0], copies=size[1])
    positions = [data.draw(cells) for _ in range(size[0])]
    objects = [Object(90 - i, "wall", pos=cell) for i, cell in enumerate(walls)]
    objects += [Object(i, f"player{i}", pos=cell) for i, cell in enumerate(positions)]
    before = State(world.schema, objects)
    action = data.draw(st.sampled_from(world.actions))
    player, direction, _ = action.split("-")
    (x, y), (dx, dy) = before[int(player[1:])].pos, STEPS[direction]
    stopped = (x + dx, y + dy) in walls
    after = before if stopped else before.replace(int(player[1:]), pos=(x + dx, y + dy))
    assert world.distribution(before, action) == [(after, 1.0)]


def test_actions_are_named_after_player_direction_and_copy() -> None:
    world = make("scale(2,2)")
    assert world.actions[:5] == ("p0-left-0", "p0-right-0", "p0-up-0", "p0-down-0", "p0-left-1")
    assert len(set(world.actions)) == 4 * 2 * 2
    assert list(world.schema.classes) == ["wall", "player0", "player1"]


@given(sizes)
def test_there_are_four_actions_for_each_player_and_copy(size: tuple[int, int]) -> None:
    world = make(f"scale({size[0]},{size[1]})")
    assert len(world.actions) == 4 * size[0] * size[1]
    assert len(world.schema.classes) == 1 + size[0]
    assert len({look.sign for look in world.looks}) == 1 + size[0]
    assert len({look.colour for look in world.looks}) == 1 + size[0]


@given(sizes, st.integers(0, 10**6))
def test_players_start_on_different_free_cells(size: tuple[int, int], seed: int) -> None:
    state = make("scale", players=size[0], copies=size[1], width=5, height=5).reset(seed)
    positions = [each.pos for each in state]
    assert len(positions) == len(set(positions))
    for i in range(size[0]):
        assert len(state.of_class(f"player{i}")) == 1


@pytest.mark.parametrize("name", ["scale(1,1)", "scale(1,3)", "scale(3,1)", "scale(4,4)"])
def test_scenes_ask_every_action_and_come_true(name: str) -> None:
    world = make(name)
    assert {scene.action for scene in world.scenes()} == set(world.actions)
    for scene in world.scenes():
        assert world.distribution(scene.before, scene.action) == scene.truth, scene.says


def test_scenes_with_another_player_are_left_out_where_there_is_none() -> None:
    alone, two = make("scale(1,1)").scenes(), make("scale(2,1)").scenes()
    assert 0 < len(alone) < len(two) / 2
    assert any(len(scene.before.of_class("player1")) == 1 for scene in two)


def test_if_there_are_many_copies_scenes_ask_the_others_in_brief_whether_they_move_or_stop() -> (
    None
):
    world = make("scale(3,7)")
    scenes = world.scenes()
    in_full = len(make("scale(2,1)").scenes()) // 2
    shown = Counter((scene.action, scene.before == scene.truth[0][0]) for scene in scenes)
    assert set(shown) == {(action, stops) for action in world.actions for stops in (False, True)}
    assert len(scenes) == 3 * in_full + 3 * 6 * 8
    for scene in scenes:
        assert world.distribution(scene.before, scene.action) == scene.truth, scene.says


def test_the_largest_scale_world_can_be_created() -> None:
    world = make("scale(16,64)")
    assert len(world.actions) == 4_096
    assert make("scale(62,1)", width=12, height=12).looks[-1].sign == "Z"


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"players": 0}, "world 'scale': players must be from 1 to 62, got 0"),
        ({"players": 63}, "players must be from 1 to 62, got 63"),
        ({"copies": 0}, "copies must be from 1 to 64, got 0"),
        ({"copies": 65}, "copies must be from 1 to 64, got 65"),
        ({"players": 17, "copies": 64}, "players x copies must be at most 1,024, got 17 x 64"),
        ({"players": 27}, "27 things need a free cell each, but 8 x 8 leaves only 26"),
    ],
)
def test_impossible_options_are_refused(options: dict[str, int], complaint: str) -> None:
    with pytest.raises(SettingError, match=complaint):
        make("scale", **options)
