"""Seeded streams as adapters of other simulators make them: each state is built anew.

    room      12 classes and 40 objects, most of which never move: a grid of the MiniGrid kind
    screen    3 objects with positions and velocities on a screen: many values, few objects
    crowd     1,500 objects of one class, and one that walks among them

No state shares anything with the one before, as those of our own worlds do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from treethink.repro.bench.workloads import EPISODE, Stream, Workload
from treethink.state import Object, Schema, State

#: An object that changes: its class and its values.
Thing = tuple[str, dict[str, Any]]
#: What is in a state, in the order of ids.
Things = list[Thing]
Point = tuple[int, int]


@dataclass(frozen=True)
class Adapter:
    """A simulator with states of its own, of which it tells what is there after every step."""

    schema: Schema
    start: Callable[[np.random.Generator], Things]
    step: Callable[[Things, str], None]
    episode: int = EPISODE

    def play(self, steps: int, seed: int = 0) -> Workload:
        """Return random play; the state after a step is the one before the next."""

        def make() -> Stream:
            stream = Stream(self._transitions(steps, np.random.default_rng(seed)))
            stream.starts = range(0, steps, self.episode)
            return stream

        return make

    def _transitions(
        self, steps: int, rng: np.random.Generator
    ) -> Iterator[tuple[State, str, State]]:
        things: Things = []
        for step in range(steps):
            if step % self.episode == 0:
                things = self.start(rng)
                after = self._state(things)
            before = after
            action = self.schema.actions[rng.integers(len(self.schema.actions))]
            self.step(things, action)
            after = self._state(things)
            yield before, action, after

    def _state(self, things: Things) -> State:
        return State(
            self.schema, [Object(i, name, **values) for i, (name, values) in enumerate(things)]
        )


def _moved(pos: Point, by: Point) -> Point:
    return pos[0] + by[0], pos[1] + by[1]


# ----------------------------------------------------------------------------- many classes

_AHEAD = ((1, 0), (0, 1), (-1, 0), (0, -1))
_CARRIED = ("key", "ball", "box")
_FREE = ("floor", "goal", "lava")
_NOWHERE = (-1, -1)
_FIXED = ("floor", "goal", "lava", "sign")
_SIZE = 8


def room() -> Adapter:
    """Return a room of 8 x 8 cells: turn, go forward, pick up, drop and toggle."""
    coloured = dict.fromkeys(("wall", *_FIXED, *_CARRIED), ("pos", "color"))
    schema = Schema(
        classes={
            **coloured,
            "door": ["pos", "color", "state"],
            "lamp": ["pos", "color", "state"],
            "agent": ["pos", "heading", "carrying"],
            "game": ["score"],
        },
        attributes={"pos": 2, "color": 1, "state": 1, "heading": 1, "carrying": 1, "score": 1},
        actions=["left", "right", "forward", "pickup", "drop", "toggle"],
    )
    return Adapter(schema, _new_room, _step_in_room)


def _new_room(rng: np.random.Generator) -> Things:
    cells = [(x, y) for x in range(_SIZE) for y in range(_SIZE)]
    border = [cell for cell in cells if {0, _SIZE - 1} & set(cell)]
    inside = [cell for cell in cells if cell not in border]
    free = [inside[i] for i in rng.permutation(len(inside))]
    things: Things = [("wall", {"pos": pos, "color": 5}) for pos in border]
    for name in (*_FIXED, *_CARRIED):
        things.append((name, {"pos": free.pop(), "color": int(rng.integers(6))}))
    for name, states in (("door", 3), ("lamp", 2)):
        values = {"pos": free.pop(), "color": int(rng.integers(6))}
        things.append((name, {**values, "state": int(rng.integers(states))}))
    agent = {"pos": free.pop(), "heading": int(rng.integers(4)), "carrying": 0}
    return [*things, ("agent", agent), ("game", {"score": 0})]


def _step_in_room(things: Things, action: str) -> None:
    (_, agent), (_, game) = things[-2:]
    ahead = _moved(agent["pos"], _AHEAD[agent["heading"]])
    there = [thing for thing in things[:-2] if thing[1]["pos"] == ahead]
    if action in ("left", "right"):
        agent["heading"] = (agent["heading"] + (1 if action == "right" else -1)) % 4
    elif action == "forward" and all(map(_lets_pass, there)):
        agent["pos"] = ahead
        game["score"] += any(name == "goal" for name, _ in there)
    elif action == "pickup" and not agent["carrying"]:
        for name, values in there:
            if name in _CARRIED:
                values["pos"], agent["carrying"] = _NOWHERE, 1 + _CARRIED.index(name)
    elif action == "drop" and agent["carrying"] and not there:
        carried = next(each for name, each in things if name == _CARRIED[agent["carrying"] - 1])
        carried["pos"], agent["carrying"] = ahead, 0
    elif action == "toggle":
        for _, values in there:
            if "state" in values:
                values["state"] = 0 if values["state"] else 1


def _lets_pass(thing: Thing) -> bool:
    name, values = thing
    return name in _FREE or (name == "door" and values["state"] == 0)


# ------------------------------------------------------------------------------ many values


def screen(width: int = 160, height: int = 210) -> Adapter:
    """Return a screen on which three balls move by their velocities, and bounce at its edges."""
    schema = Schema(
        classes={"ball": ["pos", "velocity"]},
        attributes={"pos": 2, "velocity": 2},
        actions=["wait"],
    )

    def start(rng: np.random.Generator) -> Things:
        return [
            (
                "ball",
                {
                    "pos": (int(rng.integers(width)), int(rng.integers(height))),
                    "velocity": (int(rng.integers(-4, 5)), int(rng.integers(-4, 5))),
                },
            )
            for _ in range(3)
        ]

    def step(things: Things, action: str) -> None:
        for _, ball in things:
            x, y = _moved(ball["pos"], ball["velocity"])
            dx, dy = ball["velocity"]
            ball["velocity"] = (dx if 0 <= x < width else -dx, dy if 0 <= y < height else -dy)
            ball["pos"] = _moved(ball["pos"], ball["velocity"])

    return Adapter(schema, start, step, episode=10**9)


# ----------------------------------------------------------------------------- many objects

_DIRECTIONS = {"left": (-1, 0), "right": (1, 0), "up": (0, 1), "down": (0, -1)}


@dataclass
class _Crowd:
    """Things by their place, so that a step does not look at all of them."""

    side: int = 50
    count: int = 1_500
    by_place: dict[Point, Thing] = field(default_factory=dict)

    def start(self, rng: np.random.Generator) -> Things:
        places = rng.permutation(self.side**2)[: self.count + 1].tolist()
        names = ["thing"] * self.count + ["agent"]
        things: Things = [
            (name, {"pos": divmod(place, self.side), "color": int(rng.integers(6))})
            for name, place in zip(names, places, strict=True)
        ]
        self.by_place = {each[1]["pos"]: each for each in things[:-1]}
        return things

    def step(self, things: Things, action: str) -> None:
        agent, by = things[-1][1], _DIRECTIONS[action]
        place = _moved(agent["pos"], by)
        if thing := self.by_place.get(place):
            thing[1]["color"] = (thing[1]["color"] + 1) % 6
            beyond = _moved(place, by)
            if beyond in self.by_place or not self._inside(beyond):
                return
            self.by_place[beyond] = self.by_place.pop(place)
            thing[1]["pos"] = beyond
        if self._inside(place):
            agent["pos"] = place

    def _inside(self, place: Point) -> bool:
        return all(0 <= each < self.side for each in place)


def crowd() -> Adapter:
    """Return 1,500 things, and an agent that pushes and recolours those in its way."""
    schema = Schema(
        classes={"thing": ["pos", "color"], "agent": ["pos", "color"]},
        attributes={"pos": 2, "color": 1},
        actions=list(_DIRECTIONS),
    )
    world = _Crowd()
    return Adapter(schema, world.start, world.step)
