"""The world `fish`: all possible moves are equally likely, independently for each fish."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treethink.errors import SettingError, StateError
from treethink.model import TreeThink
from treethink.state import Object, State
from treethink.stream.random_play import transitions
from treethink.stream.trial import trial
from treethink.worlds import make
from treethink.worlds.base import Cell

WORLD = make("fish")
cells = st.tuples(st.integers(0, 4), st.integers(0, 4))


def a_state(walls: list[Cell], fish: list[Cell]) -> State:
    where = [("wall", cell) for cell in walls] + [("fish", cell) for cell in fish]
    return State(WORLD.schema, [Object(i, name, pos=cell) for i, (name, cell) in enumerate(where)])


def where_to(walls: list[Cell], fish: Cell) -> dict[Cell, float]:
    """Slow and obvious: try the four ways, and remember whether one was closed."""
    x, y = fish
    ways = [(x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)]
    possible = {way for way in ways if way not in walls}
    if any(way in walls for way in ways):
        possible.add(fish)
    return dict.fromkeys(possible, 1 / len(possible))


@given(st.lists(cells, max_size=16), st.lists(cells, max_size=3))
def test_every_combination_is_listed_once_with_the_product_of_its_chances(
    walls: list[Cell], fish: list[Cell]
) -> None:
    state = a_state(walls, fish)
    combinations = [
        (tuple(each.pos for each in after.of_class("fish")), probability)
        for after, probability in WORLD.distribution(state, "step")
    ]
    expected = {
        tuple(cell for cell, _ in choice): np.prod([chance for _, chance in choice])
        for choice in product(*(where_to(walls, each).items() for each in fish))
    }
    assert len(combinations) == len(expected)
    assert dict(combinations) == pytest.approx(expected)
    assert sum(probability for _, probability in combinations) == pytest.approx(1.0)


def test_steps_of_several_fish_follow_the_distribution() -> None:
    """One that is not alone, one in a dead end, one in the open: 3 x 2 x 4 next states."""
    state = a_state(walls=[(0, 1), (1, 0), (4, 0), (3, 1), (5, 1)], fish=[(1, 1), (4, 1), (20, 20)])
    truth, rng, samples = dict(WORLD.distribution(state, "step")), np.random.default_rng(0), 24_000
    counts = Counter(WORLD.step(state, "step", rng) for _ in range(samples))
    assert len(truth) == 24 and counts.keys() == truth.keys()
    chi_square = sum(
        (counts[after] - samples * chance) ** 2 / (samples * chance)
        for after, chance in truth.items()
    )
    assert chi_square < 49.7  # 23 degrees of freedom: one in a thousand is above it


def test_a_fish_between_four_walls_stays() -> None:
    world = make("fish", width=3, height=3)
    state = world.reset(0)
    assert world.distribution(state, "step") == [(state, 1.0)]
    assert world.step(state, "step", np.random.default_rng(0)) == state


def test_without_fish_nothing_happens() -> None:
    world = make("fish", fish=0)
    state = world.reset(0)
    assert world.distribution(state, "step") == [(state, 1.0)]
    assert world.step(state, "step", np.random.default_rng(0)) == state


@given(st.integers(4, 9), st.integers(4, 9), st.integers(0, 3), st.integers(0, 10**6))
def test_fish_start_on_different_free_cells(width: int, height: int, fish: int, seed: int) -> None:
    state = make("fish", width=width, height=height, fish=fish).reset(seed)
    everywhere = [each.pos for each in state]
    assert len(everywhere) == len(set(everywhere))
    assert len(state.of_class("fish")) == fish


def test_more_states_than_can_be_listed_are_refused_and_still_drawn_from() -> None:
    world = make("fish", fish=60, wall_percent=0, width=20, height=20)
    few = a_state([], [(10 * i, 0) for i in range(8)])
    many = a_state([], [(10 * i, 0) for i in range(9)])
    assert len(world.distribution(few, "step")) == 4**8
    with pytest.raises(StateError, match=r"'fish': 262,144 states .* 100,000 are listed"):
        world.distribution(many, "step")
    state = world.reset(0)
    after = world.step(state, "step", np.random.default_rng(0))
    far = [
        abs(new.pos[0] - old.pos[0]) + abs(new.pos[1] - old.pos[1])
        for old, new in zip(state.of_class("fish"), after.of_class("fish"), strict=True)
    ]
    assert set(far) <= {0, 1} and far.count(1) > 40


def test_more_fish_than_free_cells_are_refused() -> None:
    assert len(make("fish", fish=26).reset(0).of_class("fish")) == 26
    with pytest.raises(SettingError, match="'fish': 27 things need a free cell each"):
        make("fish", fish=27)


def test_many_fish_are_scored_against_what_followed() -> None:
    world = make("fish", width=12, height=12, fish=20)
    before, action, after = next(transitions(world, 1, seed=0))
    assert world.truth(before, action, after) == after
    assert list(trial(TreeThink(world.schema), world, 5, seed=0))
