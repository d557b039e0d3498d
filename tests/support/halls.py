"""A hall without walls: whether a robot moves depends on components of where it would be."""

from __future__ import annotations

import random
from collections.abc import Iterator

import treethink as tt

Transition = tuple[tt.State, str, tt.State]


def hall(seed: int, width: int = 30, height: int = 20) -> Iterator[Transition]:
    """A robot goes ahead by its speed, but not beyond the edges of a hall without walls."""
    rng = random.Random(seed)
    schema = tt.Schema({"robot": ["pos", "speed"]}, {"pos": 2, "speed": 2}, ["go"])
    while True:
        pos = (rng.randrange(width), rng.randrange(height))
        speed = rng.choice([(1, 0), (-1, 0), (0, 1), (0, -1)])
        state = tt.State(schema, [tt.Object(1, "robot", pos=pos, speed=speed)])
        there = (pos[0] + speed[0], pos[1] + speed[1])
        inside = 0 <= there[0] < width and 0 <= there[1] < height
        yield state, "go", state.replace(1, pos=there) if inside else state
