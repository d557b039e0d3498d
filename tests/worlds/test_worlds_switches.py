"""The world `switches`: what toggle flips, from where, and how levels pair things."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treethink.errors import SettingError
from treethink.state import Object, State
from treethink.worlds import make
from treethink.worlds.looks import look_of

WORLD = make("switches")
STEPS = {"stay": (0, 0), "left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}
seeds = st.integers(0, 10**6)
cells = st.tuples(st.integers(0, 2), st.integers(0, 2))
crowded = st.sampled_from([(1, 1), (1, 1), (2, 1)])
pairs = st.integers(0, 2)


def what_follows(state: State, action: str) -> State:
    """Slow and obvious: compare every light with every switch."""
    (player,) = state.of_class("player")
    if action == "toggle":
        for light in state.of_class("light"):
            if any(
                switch.pos == player.pos and switch.pair == light.pair
                for switch in state.of_class("switch")
            ):
                state = state.replace(light.id, on=0 if light.on else 1)
        return state
    dx, dy = STEPS[action]
    target = (player.pos[0] + dx, player.pos[1] + dy)
    if any(wall.pos == target for wall in state.of_class("wall")):
        return state
    return state.replace(player.id, pos=target)


@given(st.data(), st.sampled_from([*STEPS, "toggle", "toggle", "toggle"]))
def test_what_follows_is_what_every_switch_and_light_say(data: st.DataObject, action: str) -> None:
    """Also where no level leads to: switches on one cell, several of one pair, or none."""
    state = draw_state(data, cells, least=0)
    assert WORLD.distribution(state, action) == [(what_follows(state, action), 1.0)]


@given(st.data())
def test_every_switch_under_the_player_toggles_every_light_of_its_pair(data: st.DataObject) -> None:
    """Nearly everything is on one cell: several pairs, and several of one pair."""
    state = draw_state(data, crowded, least=2)
    assert WORLD.distribution(state, "toggle") == [(what_follows(state, "toggle"), 1.0)]


def draw_state(data: st.DataObject, where: st.SearchStrategy[tuple[int, int]], least: int) -> State:
    """Anything anywhere, with so many switches and lights or more."""
    objects = [Object(0, "player", pos=data.draw(where))]
    for pos in data.draw(st.lists(where, max_size=3)):
        objects.append(Object(len(objects), "wall", pos=pos))
    for pos in data.draw(st.lists(where, min_size=least, max_size=6)):
        objects.append(Object(len(objects), "switch", pos=pos, pair=data.draw(pairs)))
    for pos in data.draw(st.lists(where, min_size=least, max_size=6)):
        pair, on = data.draw(pairs), data.draw(st.integers(0, 1))
        objects.append(Object(len(objects), "light", pos=pos, pair=pair, on=on))
    return State(WORLD.schema, objects)


@given(st.integers(6, 9), st.integers(6, 9), st.integers(0, 5), seeds)
def test_a_level_has_one_switch_and_one_light_of_each_pair_on_cells_of_their_own(
    width: int, height: int, pairs: int, seed: int
) -> None:
    state = make("switches", width=width, height=height, pairs=pairs).reset(seed)
    everywhere = [each.pos for each in state]
    assert len(everywhere) == len(set(everywhere))
    for name in ("switch", "light"):
        assert sorted(each.pair for each in state.of_class(name)) == list(range(pairs))
    assert {light.on for light in state.of_class("light")} <= {0, 1}
    assert len(state.of_class("player")) == 1


def test_lights_start_on_or_off_each_by_itself() -> None:
    starts = [
        tuple(light.on for light in WORLD.reset(seed).of_class("light")) for seed in range(400)
    ]
    assert len(set(starts)) == 2**4
    for pair in range(4):
        assert 150 < sum(on[pair] for on in starts) < 250


# ----------------------------------------------------------------------- looks


@pytest.mark.parametrize("pairs", [0, 1, 4, 30])
def test_the_scenes_hold_for_any_number_of_pairs(pairs: int) -> None:
    world = make("switches", pairs=pairs, width=16, height=16)
    assert len(world.scenes()) == len(WORLD.scenes())
    for scene in world.scenes():
        assert world.distribution(scene.before, scene.action) == scene.truth, scene.says
        assert "?" not in {look_of(world.looks, each).sign for each in scene.before}


def test_pairs_are_told_apart_by_signs_as_long_as_there_are_some_and_always_by_colour() -> None:
    world = make("switches", pairs=40, width=16, height=16)

    def look(name: str, **values: int) -> Any:
        return look_of(world.looks, Object(0, name, pos=(1, 1), **values))

    assert [look("switch", pair=i).sign for i in range(4)] == list("abcd")
    assert [look("light", pair=i, on=0).sign for i in range(4)] == list("ABCD")
    assert [look("light", pair=i, on=1).sign for i in range(4)] == list("0123")
    signs = {look("switch", pair=i).sign for i in range(25)}
    signs |= {look("light", pair=i, on=0).sign for i in range(25)}
    assert len(signs) == 50 and not signs & set("P#.?")
    assert len({look("switch", pair=i).colour for i in range(40)}) == 40
    for i in range(40):
        on, off = look("light", pair=i, on=1), look("light", pair=i, on=0)
        assert on.colour == off.colour == look("switch", pair=i).colour
        assert on.shape != off.shape and on.sign != off.sign


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"pairs": 13}, "27 things need a free cell each, but 8 x 8 leaves only 26"),
        ({"pairs": 1, "width": 3, "height": 3}, "3 things need a free cell each"),
        ({"pairs": 4.0}, "pairs must be a whole number"),
    ],
)
def test_impossible_options_are_refused(options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(SettingError, match=f"world 'switches': {complaint}"):
        make("switches", **options)
