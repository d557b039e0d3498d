"""The world `gates`: what blocks whom, what a jump needs, and which sizes fit."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treethink.errors import SettingError
from treethink.state import Object, State
from treethink.worlds import make
from treethink.worlds.base import Cell
from treethink.worlds.gates import Gates
from treethink.worlds.scene import Thing

WORLD = Gates()
STEPS = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}
seeds = st.integers(0, 10**6)
cells = st.tuples(st.integers(0, 3), st.integers(0, 3))


def what_follows(state: State, action: str) -> State:
    """Slow and obvious: draw the things on a map, then go by the sentences of the table."""
    things: dict[Cell, set[str]] = {}
    for each in state:
        things.setdefault(each.pos, set()).add(each.class_name)
    (player,), (guard,) = state.of_class("player"), state.of_class("guard")

    def has(cell: Cell, *names: str) -> bool:
        return any(name in things.get(cell, set()) for name in names)

    who, _, direction = action.rpartition("-")
    dx, dy = STEPS[direction]
    after = state
    for switch in state.of_class("switch"):
        if switch.pos == player.pos:
            after = after.replace(switch.id, on=0 if switch.on else 1)
    mover = guard if who == "guard" else player
    one = (mover.pos[0] + dx, mover.pos[1] + dy)
    two = (one[0] + dx, one[1] + dy)
    if who == "guard" and not has(one, "wall", "player"):
        after = after.replace(guard.id, pos=one)
    if who == "" and not has(one, "wall", "gate"):
        after = after.replace(player.id, pos=one)
    blocked = has(one, "wall") or has(two, "wall", "gate")
    if who == "jump" and has(one, "gate") and not blocked:
        after = after.replace(player.id, pos=two)
    return after


@given(st.data(), st.sampled_from(WORLD.actions))
def test_what_follows_is_what_the_map_says(data: st.DataObject, action: str) -> None:
    """Also where no level leads to: a gate in a wall, two switches on one cell."""
    objects = [
        Object(0, "player", pos=data.draw(cells)),
        Object(1, "guard", pos=data.draw(cells)),
    ]
    for name, most in (("wall", 5), ("gate", 8), ("switch", 8)):
        for pos in data.draw(st.lists(cells, max_size=most)):
            values = {"on": data.draw(st.integers(0, 1))} if name == "switch" else {}
            objects.append(Object(len(objects), name, pos=pos, **values))
    state = State(WORLD.schema, objects)
    assert WORLD.distribution(state, action) == [(what_follows(state, action), 1.0)]


@pytest.mark.parametrize("action", WORLD.actions)
def test_whatever_lies_ahead_the_map_is_right(action: str) -> None:
    """All that may be under the mover, one cell ahead and two, and where the other one is."""
    who, _, direction = action.rpartition("-")
    dx, dy = STEPS[direction]
    origin, one, two, far = ((dx * i, dy * i) for i in (0, 1, 2, 7))
    mover, other = ("guard", "player") if who == "guard" else ("player", "guard")
    switches = [("switch", {"on": 0}), ("switch", {"on": 1})]
    things = [("wall", {}), ("gate", {}), *switches]
    for under, ahead, behind, where in product(
        some_of(switches), some_of(things), some_of(things), (origin, one, two, far)
    ):
        placed: list[tuple[str, Cell, Any]] = [(mover, origin, {}), (other, where, {})]
        for cell, group in ((origin, under), (one, ahead), (two, behind)):
            placed += [(name, cell, values) for name, values in group]
        state = State(
            WORLD.schema,
            [Object(i, name, pos=pos, **values) for i, (name, pos, values) in enumerate(placed)],
        )
        assert WORLD.distribution(state, action) == [(what_follows(state, action), 1.0)]


def some_of(things: list[Thing]) -> list[tuple[Thing, ...]]:
    return [group for n in range(len(things) + 1) for group in combinations(things, n)]


def test_the_actions_of_the_player_come_first_then_the_guard_then_jumps() -> None:
    moves = ("left", "right", "up", "down")
    assert WORLD.actions == (
        *moves, *(f"guard-{each}" for each in moves), *(f"jump-{each}" for each in moves)
    )  # fmt: skip


# ---------------------------------------------------------------------- levels


@given(st.integers(4, 10), st.integers(4, 10), seeds)
def test_a_level_keeps_the_shares_that_are_promised(width: int, height: int, seed: int) -> None:
    world = make("gates", width=width, height=height)
    state = world.reset(seed)
    inside = (width - 2) * (height - 2)
    walls = len(state.of_class("wall")) - (width * height - inside)
    gates, switches = len(state.of_class("gate")), len(state.of_class("switch"))
    assert min(inside * 5, 40 * inside // 100 * 100) <= walls * 100 <= inside * 40
    assert gates >= 1 and (gates * 100 >= inside * 5 or walls + gates >= inside * 55 // 100)
    assert gates == 1 or walls + gates <= inside * 55 // 100
    assert switches <= inside * 20 // 100
    assert len(state.of_class("guard")) == len(state.of_class("player")) == 1
    everywhere = [each.pos for each in state]
    assert len(everywhere) == len(set(everywhere))
    for name, most in world.most_objects().items():
        assert len(state.of_class(name)) <= most


@given(st.integers(4, 10), st.integers(4, 10), seeds)
def test_the_player_starts_beside_a_gate(width: int, height: int, seed: int) -> None:
    state = make("gates", width=width, height=height).reset(seed)
    (player,) = state.of_class("player")
    x, y = player.pos
    assert any(state.find("gate", pos=(x + dx, y + dy)) for dx, dy in STEPS.values())


def test_shares_are_drawn_over_their_whole_range() -> None:
    """With a hundred cells inside, a share is a number of things."""
    world = make("gates", width=12, height=12)
    walls, gates, switches, on = set(), set(), set(), []
    for seed in range(2_000):
        state = world.reset(seed)
        walls.add(len(state.of_class("wall")) - 44)
        gates.add(len(state.of_class("gate")))
        switches.add(len(state.of_class("switch")))
        on += [each.on for each in state.of_class("switch")]
    assert walls == set(range(5, 41))
    assert min(gates) == 5 and max(gates) > 45
    assert switches == set(range(21))
    assert 0.45 < sum(on) / len(on) < 0.55


def test_a_level_takes_only_the_cells_that_are_given_and_free() -> None:
    level = WORLD.empty_level(0)
    cells = level.take(2, among={(1, 1), (2, 2), (0, 0), (99, 99)})
    assert set(cells) == {(1, 1), (2, 2)} and level.n_free == 34
    with pytest.raises(SettingError, match="cannot place 1 things on 0 free cells"):
        level.take(1, among=cells)


def always_fits(inside: int) -> bool:
    """Slow and obvious: try every number of things whose share is allowed."""
    numbers = range(inside + 1)
    return all(
        walls + gates + switches + 2 <= inside
        for walls in numbers
        if walls <= inside * 40 / 100
        for gates in numbers
        if gates == 1 or walls + gates <= inside * 55 / 100
        if gates >= 1
        for switches in numbers
        if switches <= inside * 20 / 100
    )


@pytest.mark.parametrize("inside", range(1, 13))
def test_sizes_are_refused_if_and_only_if_a_level_may_not_fit(inside: int) -> None:
    if always_fits(inside):
        world = make("gates", width=3, height=inside + 2)
        for seed in range(200):
            world.reset(seed)
    else:
        with pytest.raises(SettingError, match=f"'gates': a level may need .* has only {inside}"):
            make("gates", width=inside + 2, height=3)


def test_the_smallest_levels_are_as_its_sheet_says() -> None:
    assert [inside for inside in range(1, 40) if not always_fits(inside)] == [1, 2, 3, 5]


def test_shares_and_numbers_may_be_given() -> None:
    world = make("gates", wall_percent=25, gates=3, switches=2)
    for seed in range(50):
        state = world.reset(seed)
        counts = {name: len(state.of_class(name)) for name in world.schema.classes}
        assert counts == {"wall": 28 + 9, "gate": 3, "switch": 2, "guard": 1, "player": 1}
        assert counts == world.most_objects()


@pytest.mark.parametrize(
    "options", [{"gates": 40}, {"switches": 40}, {"wall_percent": 100}, {"gates": 10**5000}]
)
def test_numbers_that_do_not_fit_are_refused(options: dict[str, int]) -> None:
    with pytest.raises(SettingError, match=r"'gates': a level may need .* has only 36"):
        make("gates", **options)
