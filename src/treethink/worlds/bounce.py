"""The world `bounce`: balls that move by their velocities in a room without walls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from treethink.errors import SettingError
from treethink.state import Object, Schema, State
from treethink.worlds.base import Bounds, World
from treethink.worlds.draw import Window
from treethink.worlds.looks import RED, Look
from treethink.worlds.scene import Distribution, Scene, read_scenes


class Bounce(World):
    """Balls move by their velocities, and bounce at the edges of the room. There are no walls.

    Objects
        ball (pos, velocity).
    Actions
        wait.
    Dynamics
        Each ball moves by its velocity. Where that would take it beyond an edge, that component of
        its velocity is reversed first. Balls ignore each other.
    Score
        None.
    Start
        Each ball is on any cell, and moves at most `speed` cells along each axis, at random, but
        does not rest.
    Options
        width, height: the size of the room, at least one more than the speed (8 x 6).
        balls: how many (2).
        speed: the most cells that a ball moves along an axis, at least 1 (1).
    Version
        1: the first.
    """

    name = "bounce"
    defaults: ClassVar[Mapping[str, int]] = {"width": 8, "height": 6, "balls": 2, "speed": 1}
    schema = Schema(
        classes={"ball": ["pos", "velocity"]},
        attributes={"pos": 2, "velocity": 2},
        actions=["wait"],
    )
    looks = (Look("o", "ball", "disc", RED),)

    def __init__(self, **options: int):
        super().__init__(**options)
        speed = self.options["speed"]
        if speed < 1:
            raise SettingError(f"world 'bounce' needs a speed of at least 1, got {speed}")
        for side in ("width", "height"):
            if self.options[side] <= speed:
                raise SettingError(
                    f"world 'bounce' with speed {speed} needs a {side} of at least {speed + 1}, "
                    f"got {self.options[side]}"
                )

    def reset(self, seed: int) -> State:
        rng = self.generator(seed)
        width, height, balls, speed = (self.options[each] for each in self.defaults)
        velocities = [
            (x, y)
            for x in range(-speed, speed + 1)
            for y in range(-speed, speed + 1)
            if (x, y) != (0, 0)
        ]
        return State(
            self.schema,
            [
                Object(
                    ball,
                    "ball",
                    pos=(int(rng.integers(width)), int(rng.integers(height))),
                    velocity=velocities[int(rng.integers(len(velocities)))],
                )
                for ball in range(balls)
            ],
        )

    def dynamics(self, state: State, action: str) -> Distribution:
        return self.surely(state, {ball.id: self._moved(ball) for ball in state})

    def _moved(self, ball: Object) -> dict[str, Any]:
        sides = (self.options["width"], self.options["height"])
        velocity = tuple(
            by if 0 <= at + by < side else -by
            for at, by, side in zip(ball.pos, ball.velocity, sides, strict=True)
        )
        pos = tuple(at + by for at, by in zip(ball.pos, velocity, strict=True))
        return {"pos": pos, "velocity": velocity}

    def bounds(self) -> Bounds:
        width, height, _, speed = (self.options[each] for each in self.defaults)
        return {
            "pos": ((0, 0), (width - 1, height - 1)),
            "velocity": ((-speed, -speed), (speed, speed)),
        }

    def frame(self) -> Window | None:
        return Window(0, 0, self.options["width"], self.options["height"])

    def scenes(self) -> Sequence[Scene]:
        return read_scenes("bounce", self.schema, self.looks)
