"""Situations put together at random, which random play seldom or never reaches.

    first state of a level -> [ shuffled ] -> doors in any state, an item in hand, things side by
    side

Everything has a place and a value that it can have before the episode ends: a door that was locked
may be locked, closed or open, and one that was not can never be locked. What happens next is the
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

#: What it is interesting to be beside, and to look at.
_THINGS = ("door", "item", "goal", "lava", "target")

Room = list[Cell]
Changes = dict[int, dict[str, Any]]


def shuffled(state: State, rng: np.random.Generator) -> State:
    """Return the level with its doors, its items and its agent elsewhere or otherwise."""
    changes: Changes = {each.id: _any_door(each, rng) for each in state.of_class("door")}
    after = state.replace_many(changes) if changes else state
    room = _room(state)
    return _with_agent(_with_items(after, room, rng), room, rng)


def _any_door(door: Object, rng: np.random.Generator) -> dict[str, Any]:
    """Return a state that the door may be in: open, closed, or locked if it was locked."""
    states = ["open", "closed"] + (["locked"] if door.state == "locked" else [])
    return {"state": states[rng.integers(len(states))]}


def _with_items(state: State, room: Room, rng: np.random.Generator) -> State:
    """Put items anywhere, often beside things; one may be in hand, boxes may have vanished."""
    items = state.of_class("item")
    loose = [each for each in items if not each.inside]
    boxes = {each.pos: each.id for each in loose}
    contents = {boxes[each.pos]: each for each in items if each.inside}
    takes = "pickup" in state.schema.actions  # where nothing can be taken, nothing vanishes either
    takes_one = bool(loose) and takes and rng.random() < _IN_HAND
    in_hand = loose[rng.integers(len(loose))].id if takes_one else None
    taken = _cells(state, (*FIXED, "door"))
    changes: Changes = {}
    for each in loose:
        content = contents.get(each.id)
        if each.id == in_hand:
            pos = HELD
        elif takes and each.kind == "box" and rng.random() < _VANISHED:
            pos = GONE
        else:
            pos = _free_cell(state, room, taken, rng)
        changes[each.id] = {"pos": pos, "held": each.id == in_hand}
        if content is not None and pos == GONE:
            pos = _free_cell(state, room, taken, rng)
            changes[content.id] = {"inside": False}
        if content is not None:
            changes.setdefault(content.id, {})["pos"] = pos
        taken.add(pos)
    return state.replace_many(changes) if changes else state


def _with_agent(state: State, room: Room, rng: np.random.Generator) -> State:
    """Put the agent where it can stand, often in front of something."""
    (agent,) = state.of_class("agent")
    taken = _cells(state, ("lava", "goal", "item"))
    taken |= {each.pos for each in state.of_class("door") if each.state != "open"}
    pos, heading = _free_cell(state, room, taken, rng), _HEADINGS[rng.integers(4)]
    if rng.random() < _FACING:
        spots = [
            ((x - dx, y - dy), (dx, dy))
            for x, y in sorted(_cells(state, _THINGS))
            for dx, dy in _HEADINGS
            if (x - dx, y - dy) in room and (x - dx, y - dy) not in taken
        ]
        if spots:
            pos, heading = spots[rng.integers(len(spots))]
    return state.replace(agent.id, pos=pos, heading=heading)


def _room(state: State) -> Room:
    """Return the cells that the agent could reach if all doors were open."""
    walls = _cells(state, ("wall",))
    edge = walls | _cells(state, ("door",))
    right, bottom = max(x for x, _ in edge), max(y for _, y in edge)
    (agent,) = state.of_class("agent")
    reached, frontier = {agent.pos}, [agent.pos]
    while frontier:
        x, y = frontier.pop()
        near = [(x + dx, y + dy) for dx, dy in _HEADINGS]
        new = [(x, y) for x, y in near if 0 < x < right and 0 < y < bottom]
        new = [each for each in new if each not in walls and each not in reached]
        reached.update(new)
        frontier += new
    return sorted(reached)


def _cells(state: State, classes: Iterable[str]) -> set[Cell]:
    return {each.pos for name in classes for each in state.of_class(name)}


def _free_cell(state: State, room: Room, taken: set[Cell], rng: np.random.Generator) -> Cell:
    """Return a cell with nothing on it, often beside something that is no wall."""
    free = [each for each in room if each not in taken]
    things = _cells(state, _THINGS)
    beside = [(x, y) for x, y in free if any((x + dx, y + dy) in things for dx, dy in _HEADINGS)]
    chosen = beside if beside and rng.random() < _BESIDE else free
    return chosen[rng.integers(len(chosen))]
