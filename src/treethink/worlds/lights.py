"""The world `lights`: a remote control, and lights on its channels. It is no grid."""

from __future__ import annotations

from collections.abc import Sequence

from treethink.state import Attribute, Object, Schema, State
from treethink.worlds.base import Bounds, Cell, World, without_score
from treethink.worlds.draw import Window
from treethink.worlds.looks import BLUE, DIM, YELLOW, Look
from treethink.worlds.scene import Distribution, Scene, read_scenes

_TUNES = {"up": 1, "down": -1}
_FEWEST, _MOST = 2, 10  # lights, unless told
_BESIDE = 2  # channels that a picture shows on either side of the lights


class Lights(World):
    """A remote control is tuned to lights and toggles them; better switch them off.

    Objects
        remote (channel), one of it; light (channel; on: 0 or 1); game (score), one of it.
    Actions
        stay, up, down, toggle.
    Dynamics
        Up adds 1 to the remote's channel and down subtracts 1, whether or not there is a
        light. Only the numbers end: beyond signed 64-bit integers it is an error. Toggle
        flips every light on the remote's channel, and no other.
    Score
        -1 for up and down. Toggle: -10 for each light that it turns on, +10 for each that it
        turns off. Otherwise 0. The score takes part in no facts, as in `maze`.
    Start
        From 2 to 10 lights, any number as likely as the others, one on each channel from 0.
        Each is on or off, the remote is on a light's channel, all at random. Score 0.
    Options
        lights: how many there are, at most 1,000; 0 for a number drawn for each level (0).
        scored: whether there is a game and its score, 1 or 0 (1).
    Version
        1: the first.
    """

    name = "lights"
    defaults = {"lights": 0, "scored": 1}
    schema = Schema(
        classes={"remote": ["channel"], "light": ["channel", "on"], "game": ["score"]},
        attributes={"channel": 1, "on": 1, "score": Attribute(1, facts=())},
        actions=["stay", *_TUNES, "toggle"],
    )
    looks = (
        Look("o", "light", "unlit", DIM, {"on": 0}),
        Look("*", "light", "bulb", YELLOW, {"on": 1}),
        Look("R", "remote", "square", BLUE),
    )

    def __init__(self, **options: int):
        super().__init__(**options)
        self.within("lights", 0, 1_000)
        if not self.within("scored", 0, 1):
            self.schema = without_score(self.schema)

    def reset(self, seed: int) -> State:
        rng = self.generator(seed)
        count = self.options["lights"] or int(rng.integers(_FEWEST, _MOST + 1))
        lit = rng.integers(2, size=count).tolist()
        lights = [("light", {"channel": i, "on": on}) for i, on in enumerate(lit)]
        return self.populate([("remote", {"channel": int(rng.integers(count))}), *lights])

    def dynamics(self, state: State, action: str) -> Distribution:
        remote = self.the(state, "remote")
        if action in _TUNES:
            channel = remote.channel + _TUNES[action]
            return self.surely(state, {remote.id: {"channel": channel}}, self.paid(state, -1))
        flipped = state.find("light", channel=remote.channel) if action == "toggle" else ()
        return self.surely(
            state,
            {light.id: {"on": 1 - light.on} for light in flipped},
            self.paid(state, sum(10 if light.on else -10 for light in flipped)),
        )

    def most_objects(self) -> dict[str, int]:
        lights = self.options["lights"] or _MOST
        return {**dict.fromkeys(self.schema.classes, 1), "light": lights}

    def bounds(self) -> Bounds:
        return {("light", "channel"): (0, self.most_objects()["light"] - 1), "on": (0, 1)}

    def scenes(self) -> Sequence[Scene]:
        return read_scenes("lights", self.schema, self.looks)

    def place(self, each: Object) -> Cell | None:
        """Return lights in a row by channel, and the remote below the one that it is tuned to."""
        rows = {"light": 0, "remote": 1}
        return (each.channel, rows[each.class_name]) if each.class_name in rows else None

    def frame(self) -> Window | None:
        """Return all channels that may have a light, and some on either side for the remote."""
        return Window(-_BESIDE, 0, self.most_objects()["light"] + 2 * _BESIDE, 2)


class LightsScoreless(Lights):
    """`lights` without its score."""

    name = "lights-scoreless"
    defaults = {**Lights.defaults, "scored": 0}
