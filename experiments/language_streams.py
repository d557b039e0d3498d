"""Streams that show what users write where the language lacks something. They are no worlds.

    seed -> [ stream ] -> (before, action, after), ...

Blocks: the objects of a state are blocks, literals such as on(3, 5) with a truth value, and the
arguments of the action; all of them point at blocks by number. The arguments are drawn anew for
each transition, so one state does not lead to the next.

Valves: a mode is one of several names and is told by its value. It changes for the valve in front
of the walker, if that is turned, and stays in all other valves.

Vending: a slot sells its drink if the credit is enough, and prices vary. Cards: the higher rank
gets a point.

Obstacles: a player moves in a level with six classes of obstacle, unless one is in the way. Boxes
may be no obstacle.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations

import numpy as np

from treethink.attributes import Attribute
from treethink.presets import Category, Flag, Number, Position, Score
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


# ------------------------------------------------------------------- vending and cards

DRINKS = ("cola", "water", "juice")
VENDING = Schema(
    classes={"machine": ["credit"], "slot": ["drink", "price", "sold"]},
    attributes={
        "credit": Number(),
        "drink": Category(DRINKS),
        "price": Number(like="credit"),
        "sold": Flag(),
    },
    actions=["coin", *DRINKS],
)
_HIGHEST_PRICE = 30


def vending(seed: int) -> Iterator[Case]:
    """Yield random actions at machines whose slots have random prices and are not sold out.

    Coin adds 1 to the credit. The name of a drink sells it if the credit is at least its price; the
    credit stays, since only what is sold matters here.
    """
    rng = np.random.default_rng(seed)
    while True:
        credit, *prices = rng.integers(_HIGHEST_PRICE + 1, size=1 + len(DRINKS)).tolist()
        slots = [
            Object(i, "slot", drink=drink, price=price, sold=False)
            for i, (drink, price) in enumerate(zip(DRINKS, prices, strict=True), 1)
        ]
        before = State(VENDING, [Object(0, "machine", credit=credit), *slots])
        action = VENDING.actions[int(rng.integers(len(VENDING.actions)))]
        yield before, action, _vended(before, action)


def _vended(state: State, action: str) -> State:
    (machine,) = state.of_class("machine")
    if action == "coin":
        return state.replace(machine.id, credit=machine.credit + 1)
    (slot,) = state.find("slot", drink=action)
    return state.replace(slot.id, sold=True) if slot.price <= machine.credit else state


CARDS = Schema(
    classes={"player": ["rank", "points"]},
    attributes={"rank": Number(), "points": Score()},
    actions=["show"],
)


def cards(ranks: int, seed: int) -> Iterator[Case]:
    """Yield rounds of two players with random cards; equal ranks get no point."""
    rng = np.random.default_rng(seed)
    while True:
        hands = rng.integers(ranks, size=2).tolist()
        before = State(
            CARDS, [Object(i, "player", rank=rank, points=0) for i, rank in enumerate(hands)]
        )
        higher = [each for each in before if each.rank == max(hands)]
        after = before.replace(higher[0].id, points=1) if len(higher) == 1 else before
        yield before, "show", after


# ---------------------------------------------------------------------------- obstacles

OBSTACLES = ("wall", "rock", "tree", "door", "ball", "box")
MOVES = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}
_PLAYER = 0


def obstacles_schema(*kinds: str) -> Schema:
    """Return the schema, in which positions take part in these kinds of fact, or the defaults."""
    classes = {name: ["pos"] for name in (*OBSTACLES, "player")}
    return Schema(classes, {"pos": Position(facts=kinds or None)}, list(MOVES))


def obstacles(schema: Schema, size: int, passable: bool, seed: int) -> Iterator[Case]:
    """Yield random moves in levels with walls around them, in which 30% of the cells are taken."""
    rng = np.random.default_rng(seed)
    while True:
        state, blocked = _obstacles_level(schema, size, passable, rng)
        for _ in range(EPISODE):
            action = schema.actions[int(rng.integers(len(MOVES)))]
            (x, y), (dx, dy) = state.value(_PLAYER, "pos"), MOVES[action]
            free = (x + dx, y + dy) not in blocked
            after = state.replace(_PLAYER, pos=(x + dx, y + dy)) if free else state
            yield state, action, after
            state = after


def _obstacles_level(
    schema: Schema, size: int, passable: bool, rng: np.random.Generator
) -> tuple[State, set[tuple[int, int]]]:
    """Return a level, and the cells that nothing can enter."""
    cells = [(x, y) for x in range(size) for y in range(size)]
    inner = [cell for cell in cells if min(cell) > 0 and max(cell) < size - 1]
    order = [inner[i] for i in rng.permutation(len(inner)).tolist()]
    taken = int(0.3 * len(inner))
    placed = [(cell, "wall") for cell in cells if cell not in inner]
    placed += [(cell, OBSTACLES[int(rng.integers(6))]) for cell in order[:taken]]
    things = [Object(i, name, pos=cell) for i, (cell, name) in enumerate(placed, 1)]
    state = State(schema, [Object(_PLAYER, "player", pos=order[taken]), *things])
    return state, {cell for cell, name in placed if not (passable and name == "box")}
