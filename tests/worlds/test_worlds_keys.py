"""The world `keys`: one key is held at a time, and each key opens one door."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treethink.errors import SettingError
from treethink.state import Object, State
from treethink.stream.random_play import transitions
from treethink.worlds import make

STEPS = {"stay": (0, 0), "left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}
Things = list[tuple[str, dict[str, Any]]]
cells = st.tuples(st.integers(0, 2), st.integers(0, 2))


def state_of(things: Things) -> State:
    objects = [Object(90 - i, name, **values) for i, (name, values) in enumerate(things)]
    return State(make("keys").schema, objects)


@st.composite
def states(draw: st.DrawFn) -> State:
    """Anything anywhere, also where no level would have it."""
    doors = draw(st.lists(st.tuples(cells, st.integers(0, 1)), max_size=4))
    keys = draw(st.lists(st.tuples(cells, st.sampled_from([0, 0, 1, 2, 2])), max_size=4))
    things: Things = [
        *(("wall", {"pos": cell}) for cell in draw(st.sets(cells, max_size=2))),
        *(("door", {"pos": cell, "open": is_open}) for cell, is_open in doors),
        *(("key", {"pos": cell, "status": status}) for cell, status in keys),
        *(("goal", {"pos": cell}) for cell in draw(st.sets(cells, max_size=2))),
        ("player", {"pos": draw(cells)}),
        ("game", {"score": draw(st.integers(-9, 9))}),
    ]
    return state_of(things)


def slowly(state: State, action: str) -> State:
    """What follows, by going through all objects and writing every case out."""
    objects = list(state)
    (player,) = [each for each in objects if each.class_name == "player"]
    (game,) = [each for each in objects if each.class_name == "game"]
    target = (player.pos[0] + STEPS[action][0], player.pos[1] + STEPS[action][1])
    on_target = [each for each in objects if "pos" in each.values and each.pos == target]
    holds_one = any(each.class_name == "key" and each.status == 1 for each in objects)
    illegal = any(each.class_name == "wall" for each in on_target)
    for each in on_target:
        if each.class_name == "key" and each.status == 0 and action != "stay":
            illegal = illegal or holds_one
        if each.class_name == "door" and each.open == 0 and action != "stay":
            illegal = illegal or not holds_one
    if illegal:
        return state.replace(game.id, score=game.score - 2)
    after, points = state.replace(player.id, pos=target), -1
    for each in on_target:
        if each.class_name == "goal":
            points = 1
        elif each.class_name == "key" and each.status == 0 and action != "stay":
            after = after.replace(each.id, status=1)
        elif each.class_name == "door" and each.open == 0 and action != "stay":
            after = after.replace(each.id, open=1)
            for key in objects:
                if key.class_name == "key" and key.status == 1:
                    after = after.replace(key.id, status=2)
    return after.replace(game.id, score=game.score + points)


@given(states(), st.sampled_from(list(STEPS)))
def test_what_follows_is_what_going_through_all_objects_finds(state: State, action: str) -> None:
    assert make("keys").distribution(state, action) == [(slowly(state, action), 1.0)]


@pytest.mark.parametrize("action", ["right", "stay"])
def test_whatever_lies_on_one_cell_is_opened_taken_and_used_together(action: str) -> None:
    """Up to two doors and two keys on the cell ahead, and up to two keys held."""
    cell = (0, 0) if action == "stay" else (1, 0)
    doors, keys = [(), (0,), (1,), (0, 0), (0, 1)], [(), (0,), (1,), (2,), (0, 0), (0, 2)]
    for open_, lying, held, goals in product(doors, keys, range(3), range(2)):
        things: Things = [
            *(("door", {"pos": cell, "open": each}) for each in open_),
            *(("key", {"pos": cell, "status": each}) for each in lying),
            *[("key", {"pos": (5, 5), "status": 1})] * held,
            *[("goal", {"pos": cell})] * goals,
            ("player", {"pos": (0, 0)}),
            ("game", {"score": 0}),
        ]
        before = state_of(things)
        assert make("keys").distribution(before, action) == [(slowly(before, action), 1.0)]


@pytest.mark.parametrize("status", [0, 1, 2])
def test_a_cell_with_a_closed_door_and_a_free_key_is_closed_to_everybody(status: int) -> None:
    things: Things = [
        ("door", {"pos": (1, 0), "open": 0}),
        ("key", {"pos": (1, 0), "status": 0}),
        ("key", {"pos": (5, 5), "status": status}),
        ("player", {"pos": (0, 0)}),
        ("game", {"score": 0}),
    ]
    before = state_of(things)
    assert make("keys").distribution(before, "right") == [(before.replace(86, score=-2), 1.0)]


def test_two_free_keys_on_one_cell_are_taken_and_used_together() -> None:
    world = make("keys-scoreless")
    objects = [
        Object(0, "key", pos=(1, 0), status=0),
        Object(1, "key", pos=(1, 0), status=0),
        Object(2, "door", pos=(2, 0), open=0),
        Object(3, "player", pos=(0, 0)),
    ]
    before = State(world.schema, objects)
    ((taken, _),) = world.distribution(before, "right")
    assert [key.status for key in taken.of_class("key")] == [1, 1]
    ((opened, _),) = world.distribution(taken, "right")
    assert [key.status for key in opened.of_class("key")] == [2, 2] and opened[2].open == 1


def test_in_play_keys_stay_in_place_and_go_from_free_to_held_to_used_one_at_a_time() -> None:
    counts: Counter[str] = Counter()
    for before, action, after in transitions(make("keys"), steps=10_000, seed=1):
        assert len(after.find("key", status=1)) <= 1
        assert len(after.find("door", open=1)) == len(after.find("key", status=2))
        for key in before.of_class("key"):
            assert after[key.id].pos == key.pos
            change = after[key.id].status - key.status
            assert change in (0, 1)
            counts[f"{key.status} to {key.status + 1}"] += change
            assert not change or action != "stay"
        for door in before.of_class("door"):
            assert after[door.id].open >= door.open
        stands_on = after.find("door", pos=after.of_class("player")[0].pos)
        assert all(door.open for door in stands_on)
    assert counts["0 to 1"] > counts["1 to 2"] > 20


@given(
    st.integers(5, 9),
    st.integers(5, 9),
    st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 2)),
    st.integers(0, 10**6),
)
def test_a_level_has_everything_on_different_free_cells(
    width: int, height: int, counts: tuple[int, int, int], seed: int
) -> None:
    options = dict(zip(("doors", "keys", "goals"), counts, strict=True))
    state = make("keys", width=width, height=height, **options).reset(seed)
    positions = [each.pos for each in state if each.class_name != "game"]
    assert len(positions) == len(set(positions))
    assert [door.open for door in state.of_class("door")] == [0] * options["doors"]
    assert [key.status for key in state.of_class("key")] == [0] * options["keys"]
    assert len(state.of_class("goal")) == options["goals"]
    assert len(state.of_class("player")) == 1
    assert [game.score for game in state.of_class("game")] == [0]


def test_without_its_score_it_is_the_same_world() -> None:
    bare = transitions(make("keys-scoreless"), steps=200, seed=4)
    for one, other in zip(transitions(make("keys"), steps=200, seed=4), bare, strict=True):
        assert one[1] == other[1]
        assert [each for each in one[2] if each.class_name != "game"] == list(other[2])


def test_the_large_level_has_things_in_proportion_to_its_interior() -> None:
    small, large = make("keys").options, make("keys-t").options
    times = (large["width"] - 2) * (large["height"] - 2) / (small["width"] - 2) ** 2
    for each in ("doors", "keys", "goals"):
        assert large[each] == small[each] * times == small[each] * 25


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"doors": 22}, "27 things need a free cell each, but 8 x 8 leaves only 26"),
        ({"keys": 23}, "27 things need a free cell each, but 8 x 8 leaves only 26"),
        ({"goals": 10**9}, "1000000006 things need a free cell each"),
        ({"doors": -1}, "doors must be at least 0"),
        ({"scored": 5}, "world 'keys': scored must be from 0 to 1, got 5"),
    ],
)
def test_impossible_options_are_refused(options: dict[str, int], complaint: str) -> None:
    with pytest.raises(SettingError, match=complaint):
        make("keys", **options)
