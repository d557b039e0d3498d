"""The world `switches`: lights that are toggled from afar."""

from __future__ import annotations

from collections.abc import Sequence

from treethink.state import Schema, State
from treethink.worlds.base import Bounds
from treethink.worlds.grid import STAY_AND_MOVES, GridWorld, at, moved
from treethink.worlds.looks import GREY, WHITE, Look, hue
from treethink.worlds.scene import Distribution, Scene, read_scenes

_LETTERS = "abcdefghijklmnoqrstuvwxyz"  # without p: P is the player
#: The scenes have so many pairs, whatever the world has.
_PAIRS_IN_SCENES = 4


class Switches(GridWorld):
    """A player toggles lights by the switches that belong to them.

    Objects
        wall (pos); switch (pos, pair); light (pos, pair, on); player (pos), one of it.
    Actions
        stay, left, right, up, down, toggle.
    Dynamics
        The player moves one cell, or stays, unless a wall is there. Switches and lights
        stop nothing. toggle flips every light that is of the same pair as a switch under
        the player, wherever the light is; without a switch there it does nothing.
    Score
        None.
    Start
        Walls as in `walls`. The switches, the lights and the player are on different free
        cells. There is one switch and one light of each pair; lights are on or off at random.
    Options
        width, height: the size of the grid with its border, at least 3 (8 x 8).
        wall_percent: how much of the interior is walls (30).
        pairs: how many there are (4).
    Version
        1: the first.
    """

    name = "switches"
    defaults = {**GridWorld.defaults, "pairs": 4}
    schema = Schema(
        classes={
            "wall": ["pos"], "switch": ["pos", "pair"], "light": ["pos", "pair", "on"],
            "player": ["pos"],
        },
        attributes={"pos": 2, "pair": 1, "on": 1},
        actions=[*STAY_AND_MOVES, "toggle"],
    )  # fmt: skip

    def __init__(self, **options: int):
        super().__init__(**options)
        self.need_free_cells(1 + 2 * self.options["pairs"])
        self.looks = _looks(max(self.options["pairs"], _PAIRS_IN_SCENES))

    def reset(self, seed: int) -> State:
        level, pairs = self.level(seed), self.options["pairs"]
        on = level.rng.integers(2, size=pairs).tolist()
        switches, lights, player = level.take(pairs), level.take(pairs), level.take(1)
        return self.populate(
            [
                *at("wall", level.walls),
                *(("switch", {"pos": switches[i], "pair": i}) for i in range(pairs)),
                *(("light", {"pos": lights[i], "pair": i, "on": on[i]}) for i in range(pairs)),
                *at("player", player),
            ]
        )

    def dynamics(self, state: State, action: str) -> Distribution:
        player = self.the(state, "player")
        if action == "toggle":
            pairs = {each.pair for each in state.find("switch", pos=player.pos)}
            lights = [each for pair in pairs for each in state.find("light", pair=pair)]
            return self.surely(state, {each.id: {"on": 1 - each.on} for each in lights})
        target = moved(player.pos, STAY_AND_MOVES[action])
        if state.find("wall", pos=target):
            return self.surely(state)
        return self.surely(state, {player.id: {"pos": target}})

    def bounds(self) -> Bounds:
        return {**super().bounds(), "pair": (0, max(self.options["pairs"] - 1, 0)), "on": (0, 1)}

    def scenes(self) -> Sequence[Scene]:
        return read_scenes("switches", self.schema, _looks(_PAIRS_IN_SCENES))


def _looks(pairs: int) -> tuple[Look, ...]:
    """Each pair has a colour and signs: a its switch, A its light when off, 0 when on."""
    looks = [Look("#", "wall", "block", GREY)]
    for i in range(pairs):
        sign = _LETTERS[i % len(_LETTERS)]
        looks += [
            Look(sign, "switch", "lever", hue(i), {"pair": i}),
            Look(sign.upper(), "light", "unlit", hue(i), {"pair": i, "on": 0}),
            Look(str(i % 10), "light", "bulb", hue(i), {"pair": i, "on": 1}),
        ]
    return (*looks, Look("P", "player", "person", WHITE))
