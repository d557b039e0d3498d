"""Situations put together at random, which random play seldom or never reaches.

    first state of a level -> [ shuffled ] -> doors in any state, an item in hand, things side by side

Everything has a place and a value that it can have before the episode ends: a door that was locked may be
locked, closed or open, and one that was not can never be locked. What happens next is the
environment's own answer, as for any other state.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from treethink.state import Object, State
from treethink.worlds.draw.layout import Cell
from treethink.worlds.gym.minigrid.encoding import FIXED, GONE, HELD

_HEADINGS: tuple[Cell, ...] = ((1, 0), (0, 1), (-1, 0), (0, -1))
#: How often an item is in hand, a box has vanished, a thing is beside another, the agent faces one.
_IN_HAND, _VANISHED, _BESIDE, _FACING = 0.5, 0.1, 0.5, 0.75

Changes = dict[int, dict[str, Any]]


def shuffled(state: State, rng: np.random.Generator) -> State:
    """Return the level with its doors, its items and its agent elsewhere or otherwise."""
    changes: Changes = {each.id: _any_door(each, rng) for each in state.of_class("door")}
    after = state.replace_many(changes) if changes else state
    after = _with_items(after, rng)
    return _with_agent(after, rng)


def _any_door(door: Object, rng: np.random.Generator) -> dict[str, Any]:
    """Return a state that the door may be in: open, closed, or locked if it was locked."""
    kinds = [(True, False), (False, False)] + ([(False, True)] if door.locked else [])
    is_open, is_locked = kinds[rng.integers(len(kinds))]
    return {"open": is_open, "locked": is_locked}


def _with_items(state: State, rng: np.random.Generator) -> State:
    """Put items anywhere, often beside other things; one may be in hand, boxes may have vanished."""
    boxes = {each.pos: each for each in state.of_class("item") if not each.inside}
    inside = {
        boxes[each.pos].id: each for each in state.of_class("item") if each.inside
    }  # by the box that it is in
    loose = [each for each in state.of_class("item") if not each.inside]
    if not loose:
        return state
    in_hand = loose[rng.integers(len(loose))].id if rng.random() < _IN_HAND else None
    taken = _cells(state, (*FIXED, "door"))
    places: dict[int, Cell] = {}
    changes: Changes = {}
    for each in loose:
        content = inside.get(each.id)
        if each.id == in_hand:
            places[each.id] = HELD
        elif each.kind == "box" and rng.random() < _VANISHED:
            places[each.id] = GONE
        else:
            places[each.id] = _free_cell(state, taken, rng)
            taken.add(places[each.id])
        if content is not None and places[each.id] == GONE:
            places[content.id] = _free_cell(state, taken, rng)
            taken.add(places[content.id])
            changes[content.id] = {"inside": False}
        elif content is not None:
            places[content.id] = places[each.id]
    for number, pos in places.items():
        changes.setdefault(number, {})["pos"] = pos
    return state.replace_many(changes)


def _with_agent(state: State, rng: np.random.Generator) -> State:
    """Put the agent where it can stand, often in front of something."""
    (agent,) = state.of_class("agent")
    taken = _cells(state, ("wall", "lava", "goal", "item"))
    taken |= {each.pos for each in state.of_class("door") if not each.open}
    heading = _HEADINGS[rng.integers(4)]
    pos = _free_cell(state, taken, rng)
    if rng.random() < _FACING:
        ahead = [*state.of_class("door"), *state.of_class("item"), *state.of_class("goal")]
        ahead += state.of_class("lava")
        spots = [
            (each.pos[0] - dx, each.pos[1] - dy, (dx, dy))
            for each in ahead
            if each.pos not in (HELD, GONE)
            for dx, dy in _HEADINGS
        ]
        free = [each for each in spots if each[:2] not in taken and _is_within(state, each[:2])]
        if free:
            x, y, heading = free[rng.integers(len(free))]
            pos = x, y
    return state.replace(agent.id, pos=pos, heading=heading)


def _cells(state: State, classes: Iterable[str]) -> set[Cell]:
    return {each.pos for name in classes for each in state.of_class(name)}


def _size(state: State) -> Cell:
    """Return the largest column and row of a level, which are those of walls or doors."""
    cells = _cells(state, ("wall", "door"))
    return max(x for x, _ in cells), max(y for _, y in cells)


def _is_within(state: State, cell: Cell) -> bool:
    right, bottom = _size(state)
    return 0 <= cell[0] <= right and 0 <= cell[1] <= bottom


def _free_cell(state: State, taken: set[Cell], rng: np.random.Generator) -> Cell:
    """Return a cell with nothing on it, often beside something that is no wall."""
    right, bottom = _size(state)
    free = [
        (x, y) for x in range(1, right) for y in range(1, bottom) if (x, y) not in taken
    ]
    things = _cells(state, ("door", "item", "goal", "lava", "agent"))
    beside = [
        (x, y) for x, y in free if any((x + dx, y + dy) in things for dx, dy in _HEADINGS)
    ]
    chosen = beside if beside and rng.random() < _BESIDE else free
    return chosen[rng.integers(len(chosen))]
