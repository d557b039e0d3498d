"""Streams that show what users write where the language lacks something. They are no worlds.

    seed -> [ stream ] -> (before, action, after), ...

Blocks: the objects of a state are blocks, literals such as on(3, 5) with a truth value, and the
arguments of the action; all of them point at blocks by number. The arguments are drawn anew for
each transition, so one state does not lead to the next.

Valves: a mode is one of several names and is told by its value. It changes for the valve in front
of the walker, if that is turned, and stays in all other valves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations

import numpy as np

from treethink.attributes import Attribute
from treethink.presets import Category, Flag, Position
from treethink.state import Object, Schema, State

#: A state, an action, and the state that follows.
Case = tuple[State, str, State]

EPISODE = 50

# ------------------------------------------------------------------------------- blocks

BLOCKS = Schema(
    classes={
        "block": ["number"],
        "on": ["top", "bottom", "holds"],
        "clear": ["block", "holds"],
        "arg": ["index", "block"],
    },
    attributes={
        "number": 1,
        "top": Attribute(1, like="number"),
        "bottom": Attribute(1, like="number"),
        "block": Attribute(1, like="number"),
        "holds": Flag(),
        "index": 1,
    },
    actions=["stack", "unstack"],
)
#: What each block stands on; None for the table.
Tower = dict[int, int | None]


def blocks(count: int, seed: int) -> Iterator[Case]:
    """Yield random actions among a number of blocks, half of which can be performed or fewer.

    Stack puts the first argument on the second, if nothing is on either and they differ. Unstack
    puts the first argument on the table, if nothing is on it; its second argument says nothing.
    """
    rng = np.random.default_rng(seed)
    while True:
        tower = _random_tower(count, rng)
        for _ in range(EPISODE):
            first, second = rng.integers(count, size=2).tolist()
            action = BLOCKS.actions[int(rng.integers(2))]
            after = _moved(tower, action, first, second)
            arguments = (first, second)
            yield _blocks_state(tower, arguments), action, _blocks_state(after, arguments)
            tower = after


def _random_tower(count: int, rng: np.random.Generator) -> Tower:
    tower: Tower = {}
    for block in rng.permutation(count).tolist():
        clear = [each for each in tower if _is_clear(tower, each)]
        chosen = int(rng.integers(len(clear) + 1))
        tower[block] = clear[chosen] if chosen < len(clear) else None
    return tower


def _is_clear(tower: Tower, block: int) -> bool:
    return block not in tower.values()


def _moved(tower: Tower, action: str, first: int, second: int) -> Tower:
    if not _is_clear(tower, first):
        return tower
    if action == "unstack":
        return {**tower, first: None}
    if first == second or not _is_clear(tower, second):
        return tower
    return {**tower, first: second}


def _blocks_state(tower: Tower, arguments: Sequence[int]) -> State:
    names = sorted(tower)
    things = [
        *(("block", {"number": each}) for each in names),
        *(
            ("on", {"top": top, "bottom": bottom, "holds": tower[top] == bottom})
            for top, bottom in permutations(names, 2)
        ),
        *(("clear", {"block": each, "holds": _is_clear(tower, each)}) for each in names),
        *(("arg", {"index": i, "block": each}) for i, each in enumerate(arguments, 1)),
    ]
    return State(BLOCKS, [Object(i, name, **values) for i, (name, values) in enumerate(things)])


# ------------------------------------------------------------------------------- valves

MODES = ("off", "low", "middle", "high", "most", "broken")
VALVES = Schema(
    classes={"walker": ["pos", "heading"], "valve": ["pos", "mode"]},
    attributes={"pos": Position(), "heading": Position(), "mode": Category(MODES)},
    actions=["turn", "wait"],
)
_HEADINGS = ((1, 0), (0, 1), (-1, 0), (0, -1))


def valves(size: int, count: int, seed: int) -> Iterator[Case]:
    """Yield random actions of a walker among valves in a square.

    Turn gives the valve in front of the walker the next mode, and the first after the last. The
    walker is somewhere else, with another heading, at every transition.
    """
    rng = np.random.default_rng(seed)
    while True:
        state = _valves_state(size, count, rng)
        for _ in range(EPISODE):
            x, y, turn, action = rng.integers([size, size, 4, 2]).tolist()
            before = state.replace(0, pos=(x, y), heading=_HEADINGS[turn])
            state = _turned(before) if action == 0 else before
            yield before, VALVES.actions[action], state


def _valves_state(size: int, count: int, rng: np.random.Generator) -> State:
    cells = rng.permutation(size * size)[:count].tolist()
    modes = rng.integers(len(MODES), size=count).tolist()
    valves = [
        Object(i, "valve", pos=divmod(cell, size), mode=mode)
        for i, (cell, mode) in enumerate(zip(cells, modes, strict=True), 1)
    ]
    return State(VALVES, [Object(0, "walker", pos=(0, 0), heading=(1, 0)), *valves])


def _turned(state: State) -> State:
    (x, y), (right, down) = state[0].pos, state[0].heading
    return state.replace_many(
        {
            valve.id: {"mode": MODES[(MODES.index(valve.mode) + 1) % len(MODES)]}
            for valve in state.find("valve", pos=(x + right, y + down))
        }
    )
