"""The world `fuel`: a car that moves as long as it has enough fuel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from treethink.state import Schema, State
from treethink.worlds.base import Bounds
from treethink.worlds.grid import MOVES, GridWorld, at, moved
from treethink.worlds.looks import BLUE, GREY, Look
from treethink.worlds.scene import Distribution, Scene, read_scenes

#: The least fuel for a move: up is uphill, where less of it reaches the engine.
NEEDS: Mapping[str, int] = {"left": 20, "right": 20, "up": 30, "down": 15}
#: What `refuel` adds.
CAN = 10
#: What a move burns.
BURNED = 4


class Fuel(GridWorld):
    """A car moves if it has enough fuel for the move.

    Objects
        wall (pos); car (pos, fuel), one of it.
    Actions
        left, right, up, down, refuel.
    Dynamics
        A move to the left or to the right needs at least 20 units of fuel, a move up 30, and a
        move down 15. With that much the car moves one cell and burns 4 units, unless a wall is
        there; otherwise nothing changes. Refuel adds 10 units, unless there is no room for all
        of them in the tank.
    Score
        None.
    Start
        Walls as in `walls`. The car is on a free cell. Its fuel is any number from 0 to a full
        tank, at random.
    Options
        width, height: the size of the grid with its border, at least 3 (8 x 8).
        wall_percent: how much of the interior is walls (20).
        tank: the most fuel that a car can have (60).
    Version
        1: the first.
    """

    name = "fuel"
    defaults: ClassVar[Mapping[str, int]] = {
        **GridWorld.defaults,
        "wall_percent": 20,
        "tank": 60,
    }
    schema = Schema(
        classes={"wall": ["pos"], "car": ["pos", "fuel"]},
        attributes={"pos": 2, "fuel": 1},
        actions=[*MOVES, "refuel"],
    )
    looks = (Look("#", "wall", "block", GREY), Look("C", "car", "car", BLUE))

    def __init__(self, **options: int):
        super().__init__(**options)
        self.need_free_cells(1)

    def reset(self, seed: int) -> State:
        level = self.level(seed)
        fuel = int(level.rng.integers(self.options["tank"] + 1))
        return self.populate([*at("wall", level.walls), *at("car", level.take(1), fuel=fuel)])

    def dynamics(self, state: State, action: str) -> Distribution:
        car = self.the(state, "car")
        if action == "refuel":
            fits = car.fuel + CAN <= self.options["tank"]
            return self.surely(state, {car.id: {"fuel": car.fuel + CAN}} if fits else {})
        target = moved(car.pos, MOVES[action])
        if car.fuel < NEEDS[action] or state.find("wall", pos=target):
            return self.surely(state)
        return self.surely(state, {car.id: {"pos": target, "fuel": car.fuel - BURNED}})

    def bounds(self) -> Bounds:
        return {**super().bounds(), "fuel": (0, self.options["tank"])}

    def scenes(self) -> Sequence[Scene]:
        return read_scenes("fuel", self.schema, self.looks)
