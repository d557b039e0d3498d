"""The world `coins`: every coin pays once, to a player that enters its cell."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treethink.errors import SettingError
from treethink.state import Object, State
from treethink.stream.random_play import transitions
from treethink.worlds import make

STEPS = {"stay": (0, 0), "left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}
cells = st.tuples(st.integers(0, 2), st.integers(0, 2))


Cells = st.SearchStrategy[tuple[int, int]]


@st.composite
def states(draw: st.DrawFn, coins: Cells = cells) -> State:
    """Anything anywhere, also where no level would have it."""
    things: list[tuple[str, dict[str, Any]]] = [
        *(("wall", {"pos": cell}) for cell in draw(st.sets(cells, max_size=3))),
        *(
            ("coin", {"pos": cell, "used": used})
            for cell, used in draw(st.lists(st.tuples(coins, st.integers(0, 1)), max_size=6))
        ),
        ("player", {"pos": draw(coins)}),
        ("game", {"score": draw(st.integers(-9, 9))}),
    ]
    objects = [Object(90 - i, name, **values) for i, (name, values) in enumerate(things)]
    return State(make("coins").schema, objects)


def slowly(state: State, action: str) -> State:
    """What follows, by going through all objects."""
    (player,) = [each for each in state if each.class_name == "player"]
    target = (player.pos[0] + STEPS[action][0], player.pos[1] + STEPS[action][1])
    into_a_wall = any(each.class_name == "wall" and each.pos == target for each in state)
    points, changed = -2 if into_a_wall else -1, []
    for each in state:
        values: dict[str, Any] = dict(each.values)
        if each.class_name == "player" and not into_a_wall:
            values["pos"] = target
        if each.class_name == "coin" and each.pos == target and each.used == 0:
            values["used"] = 0 if into_a_wall or action == "stay" else 1
            points = 1 if values["used"] else points
        changed.append(Object(each.id, each.class_name, **values))
    (game,) = [each for each in changed if each.class_name == "game"]
    return State(state.schema, changed).replace(game.id, score=game.score + points)


@given(states(), st.sampled_from(list(STEPS)))
def test_what_follows_is_what_going_through_all_objects_finds(state: State, action: str) -> None:
    assert make("coins").distribution(state, action) == [(slowly(state, action), 1.0)]


two_cells = st.sampled_from([(0, 1), (1, 1)])


@given(states(coins=two_cells), st.sampled_from(["left", "right"]))
def test_coins_on_one_cell_are_picked_up_together_and_pay_as_one(state: State, move: str) -> None:
    """Half of the moves are from the one cell to the other, where half of the coins are."""
    assert make("coins").distribution(state, move) == [(slowly(state, move), 1.0)]


def test_a_coin_pays_once_however_often_it_is_walked_over() -> None:
    world = make("coins", wall_percent=0)
    objects = [
        Object(0, "coin", pos=(1, 0), used=0),
        Object(1, "player", pos=(0, 0)),
        Object(2, "game", score=0),
    ]
    state, scores = State(world.schema, objects), []
    for action in ("right", "stay", "left", "right"):
        state = world.step(state, action, np.random.default_rng(0))
        scores.append(state[2].score)
    assert scores == [1, 0, -1, -2]
    assert state[0].used == 1 and state[0].pos == (1, 0)


def test_in_play_a_coin_is_used_exactly_when_a_step_pays() -> None:
    total = 0
    for before, _, after in transitions(make("coins"), steps=3_000, seed=1):
        (old,), (new,) = before.of_class("game"), after.of_class("game")
        picked_up = len(after.find("coin", used=1)) - len(before.find("coin", used=1))
        assert picked_up == (new.score - old.score == 1)
        assert not picked_up or after.find("coin", pos=after.of_class("player")[0].pos, used=1)
        total += picked_up
    assert total > 50


@given(st.integers(4, 9), st.integers(4, 9), st.integers(0, 2), st.integers(0, 10**6))
def test_a_level_has_its_coins_and_the_player_on_different_free_cells(
    width: int, height: int, coins: int, seed: int
) -> None:
    state = make("coins", width=width, height=height, coins=coins).reset(seed)
    positions = [each.pos for each in state if each.class_name != "game"]
    assert len(positions) == len(set(positions))
    assert [coin.used for coin in state.of_class("coin")] == [0] * coins
    assert [game.score for game in state.of_class("game")] == [0]


def test_without_its_score_it_is_the_same_world() -> None:
    bare = transitions(make("coins-scoreless"), steps=200, seed=4)
    for one, other in zip(transitions(make("coins"), steps=200, seed=4), bare, strict=True):
        assert one[1] == other[1]
        assert [each for each in one[2] if each.class_name != "game"] == list(other[2])


def test_the_large_level_has_coins_in_proportion_to_its_interior() -> None:
    small, large = make("coins").options, make("coins-t").options
    times = (large["width"] - 2) * (large["height"] - 2) / (small["width"] - 2) ** 2
    assert large["coins"] == small["coins"] * times == 125


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"coins": 26}, "27 things need a free cell each, but 8 x 8 leaves only 26"),
        ({"coins": -1}, "coins must be at least 0"),
        ({"scored": 2}, "world 'coins': scored must be from 0 to 1, got 2"),
        ({"wall_percent": 100, "coins": 0}, "1 things need a free cell each"),
    ],
)
def test_impossible_options_are_refused(options: dict[str, int], complaint: str) -> None:
    with pytest.raises(SettingError, match=complaint):
        make("coins", **options)
