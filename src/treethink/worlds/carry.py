"""The world `carry`: turn, walk, pick up, drop and open doors, in the manner of MiniGrid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import ClassVar

import numpy as np

from treethink.errors import StateError
from treethink.state import Object, Schema, State
from treethink.worlds.base import Bounds, Cell, Changes
from treethink.worlds.draw import Window
from treethink.worlds.grid import GridWorld, at, moved
from treethink.worlds.looks import BLUE, CYAN, GREY, ORANGE, PURPLE, RED, YELLOW, Look
from treethink.worlds.scene import Distribution, Scene, read_scenes

#: The headings in the order of turns to the right, and their numbers as in MiniGrid.
HEADINGS: Sequence[Cell] = ((1, 0), (0, 1), (-1, 0), (0, -1))
TURNS: Mapping[str, int] = {"left": -1, "right": 1}
OPEN, CLOSED, LOCKED = 0, 1, 2
#: Where a carried thing is if it is hidden.
NOWHERE: Cell = (-1, -1)


class Carry(GridWorld):
    """An agent turns and walks, carries a thing, and opens doors, as in MiniGrid.

    Objects
        wall (pos); door (pos; state: 0 open, 1 closed, 2 locked); key (pos; carried: 0 or 1);
        ball (pos, carried); agent (pos; heading: (1, 0) to the right, (0, 1) down, (-1, 0) to
        the left, (0, -1) up), one of it.
    Actions
        left, right, forward, pickup, drop, toggle.
    Dynamics
        Left and right turn the agent by a quarter. The other actions are about the cell in
        front of it. Forward moves it there, unless a wall, a door that is not open, a key or a
        ball is there. Pickup takes the key or ball that is there, unless something is carried
        already. Drop puts down what is carried, if nothing is there, not even an open door.
        Toggle closes an open door and opens a closed one; it opens a locked one if a key is
        carried, which can be used again.
        What is carried is at (-1, -1), which is nowhere.
    Score
        None.
    Start
        Walls as in `walls`. The doors, the keys, the balls and the agent are on different free
        cells. The heading and the state of each door are random. Nothing is carried, or one of
        the keys and balls; all of these are equally likely.
    Options
        width, height: the size of the grid with its border, at least 3 (8 x 8).
        wall_percent: how much of the interior is walls (10).
        doors, keys, balls: how many there are (2, 1, 1).
        numbered: 1 for a heading that is a number from 0 to 3, in the order above; 0 for a
        vector (0).
        hidden: 1 for carried things that are nowhere, 0 for carried things that are where the
        agent is (1).
    Version
        1: the first.
    """

    name = "carry"
    defaults: ClassVar[Mapping[str, int]] = {
        **GridWorld.defaults,
        "wall_percent": 10,
        "doors": 2,
        "keys": 1,
        "balls": 1,
        "numbered": 0,
        "hidden": 1,
    }

    def __init__(self, **options: int):
        super().__init__(**options)
        self.need_free_cells(1 + sum(self.options[each] for each in ("doors", "keys", "balls")))
        self._numbered, self._hidden = self.within("numbered", 0, 1), self.within("hidden", 0, 1)
        self.schema = Schema(
            classes={
                "wall": ["pos"],
                "door": ["pos", "state"],
                "key": ["pos", "carried"],
                "ball": ["pos", "carried"],
                "agent": ["pos", "heading"],
            },
            attributes={"pos": 2, "state": 1, "carried": 1, "heading": 1 if self._numbered else 2},
            actions=[*TURNS, "forward", "pickup", "drop", "toggle"],
        )
        self.looks = (
            Look("#", "wall", "block", GREY),
            Look("d", "door", "frame", RED, {"state": OPEN}),
            Look("D", "door", "door", RED, {"state": CLOSED}),
            Look("L", "door", "door", PURPLE, {"state": LOCKED}),
            Look("K", "key", "key", YELLOW, {"carried": 0}),
            Look("k", "key", "key", BLUE, {"carried": 1}),
            Look("O", "ball", "disc", ORANGE, {"carried": 0}),
            Look("o", "ball", "disc", CYAN, {"carried": 1}),
            *(
                Look(sign, "agent", f"facing-{way}", BLUE, {"heading": self._heading(turn)})
                for turn, (sign, way) in enumerate(zip(">v<^", _WAYS, strict=True))
            ),
        )

    def reset(self, seed: int) -> State:
        level = self.level(seed)
        doors, keys, balls = (level.take(self.options[each]) for each in ("doors", "keys", "balls"))
        states = level.rng.integers(3, size=len(doors)).tolist()
        turn = int(level.rng.integers(4))
        state = self.populate(
            [
                *at("wall", level.walls),
                *(
                    ("door", {"pos": cell, "state": state})
                    for cell, state in zip(doors, states, strict=True)
                ),
                *at("key", keys, carried=0),
                *at("ball", balls, carried=0),
                *at("agent", level.take(1), heading=self._heading(turn)),
            ]
        )
        return state.replace_many(self._first_held(state, level.rng))

    def _first_held(self, state: State, rng: np.random.Generator) -> Changes:
        """Return the change by which one of the things is carried, or none of them."""
        things = _things(state)
        chosen = int(rng.integers(len(things) + 1))
        hand = self._hand(self.the(state, "agent").pos)
        return {each.id: {"carried": 1, "pos": hand} for each in things[chosen : chosen + 1]}

    def stress_state(self, rng: np.random.Generator) -> State:
        """Return a level with the agent and all things close together, doors in any state."""
        state = self.crowd(self.reset(int(rng.integers(2**63))), ["agent", "door", *_THINGS], rng)
        agent = self.the(state, "agent")
        changes = {each.id: {"state": int(rng.integers(3))} for each in state.of_class("door")}
        heading = self._heading(int(rng.integers(4)))
        held = {each.id: {"carried": 0} for each in _things(state)}
        state = state.replace_many({agent.id: {"heading": heading}, **changes, **held})
        return state.replace_many(self._first_held(state, rng))

    def dynamics(self, state: State, action: str) -> Distribution:
        agent = self.the(state, "agent")
        turn = self._turn(agent)
        if action in TURNS:
            heading = self._heading((turn + TURNS[action]) % 4)
            return self.surely(state, {agent.id: {"heading": heading}})
        change = {
            "forward": self._forward,
            "pickup": self._pickup,
            "drop": self._drop,
            "toggle": self._toggle,
        }[action]
        return self.surely(state, change(state, agent, moved(agent.pos, HEADINGS[turn])))

    def _forward(self, state: State, agent: Object, front: Cell) -> Changes:
        doors = state.find("door", pos=front)
        blocked = state.find("wall", pos=front) or any(each.state != OPEN for each in doors)
        if blocked or _things(state, carried=0, pos=front):
            return {}
        held = {each.id: {"pos": self._hand(front)} for each in _things(state, carried=1)}
        return {agent.id: {"pos": front}, **held}

    def _pickup(self, state: State, agent: Object, front: Cell) -> Changes:
        if _things(state, carried=1):
            return {}
        return {
            each.id: {"carried": 1, "pos": self._hand(agent.pos)}
            for each in _things(state, carried=0, pos=front)
        }

    def _drop(self, state: State, agent: Object, front: Cell) -> Changes:
        if any(state.find(name, pos=front) for name in ("wall", "door", *_THINGS)):
            return {}
        return {each.id: {"carried": 0, "pos": front} for each in _things(state, carried=1)}

    def _toggle(self, state: State, agent: Object, front: Cell) -> Changes:
        has_key = bool(state.find("key", carried=1))
        return {
            door.id: {"state": CLOSED if door.state == OPEN else OPEN}
            for door in state.find("door", pos=front)
            if door.state != LOCKED or has_key
        }

    def _heading(self, turn: int) -> int | Cell:
        """Return the value of the heading after a number of turns to the right."""
        return turn if self._numbered else HEADINGS[turn]

    def _turn(self, agent: Object) -> int:
        """Return the number of the heading; raise an error if it is none."""
        for turn in range(len(HEADINGS)):
            if agent.heading == self._heading(turn):
                return turn
        raise StateError(f"{self._where}: {agent!r} has none of the four headings")

    def _hand(self, cell: Cell) -> Cell:
        """Return the position of a carried thing if the agent is in that cell."""
        return NOWHERE if self._hidden else cell

    def bounds(self) -> Bounds:
        cells = super().bounds()["pos"]
        anywhere = (NOWHERE if self._hidden else cells[0], cells[1])
        headings = (0, 3) if self._numbered else ((-1, -1), (1, 1))
        return {
            "pos": cells,
            **{(name, "pos"): anywhere for name in _THINGS},
            "state": (OPEN, LOCKED),
            "carried": (0, 1),
            "heading": headings,
        }

    def scenes(self) -> Sequence[Scene]:
        scenes = read_scenes("carry", self.schema, self.looks)
        if self._hidden:
            return scenes
        return [
            Scene(each.says, _in_hand(each.before), each.action,
                  [(_in_hand(after), chance) for after, chance in each.truth])
            for each in scenes
        ]  # fmt: skip

    def place(self, each: Object) -> Cell | None:
        """Return its position; things that are nowhere are below the grid."""
        cell = super().place(each)
        return (0, self.options["height"]) if cell == NOWHERE else cell

    def frame(self) -> Window | None:
        """Return the grid and, if carried things are nowhere, a row below it for them."""
        return Window(0, 0, self.options["width"], self.options["height"] + self._hidden)


class CarryNumbered(Carry):
    """`carry` with a number for the heading."""

    name = "carry-numbered"
    defaults: ClassVar[Mapping[str, int]] = {**Carry.defaults, "numbered": 1}


_THINGS = ("key", "ball")
_WAYS = ("right", "down", "left", "up")


def _things(state: State, **values: int | Cell) -> list[Object]:
    """Return the keys and balls with these values."""
    return list(chain.from_iterable(state.find(name, **values) for name in _THINGS))


def _in_hand(state: State) -> State:
    """Return the state with carried things where the agent is."""
    (agent,) = state.of_class("agent")
    return state.replace_many({each.id: {"pos": agent.pos} for each in _things(state, carried=1)})
