"""The world `doors`: `walls` with colored doors."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_lowercase

import numpy as np

from treethink.state import Schema, State
from treethink.worlds.base import Bounds, Cell
from treethink.worlds.grid import MOVES, GridWorld, at, beside, moved
from treethink.worlds.looks import GREY, Look, hue
from treethink.worlds.scene import Distribution, Scene, read_scenes


class Doors(GridWorld):
    """A player changes its color to pass through doors of that color.

    Objects
        wall (pos); door (pos, color); player (pos, color), one of it.
    Actions
        left, right, up, down, change-color.
    Dynamics
        The player moves one cell, unless a wall is there, or a door of another color.
        change-color gives it the next color, and the first after the last, unless it
        stands on a door.
    Score
        None.
    Start
        Walls as in `walls`. The doors and the player are on different free cells, with
        colors at random; doors that touch by a side have the same color.
    Options
        width, height: the size of the grid with its border, at least 3 (8 x 8).
        wall_percent: how much of the interior is walls (30).
        doors: how many there are (4).
        colors: how many there are, from 2 to 26 (2).
    Version
        1: the first.
    """

    name = "doors"
    defaults = {**GridWorld.defaults, "doors": 4, "colors": 2}
    schema = Schema(
        classes={"wall": ["pos"], "door": ["pos", "color"], "player": ["pos", "color"]},
        attributes={"pos": 2, "color": 1},
        actions=[*MOVES, "change-color"],
    )

    def __init__(self, **options: int):
        super().__init__(**options)
        self.need_free_cells(1 + self.options["doors"])
        self._colors = range(self.within("colors", 2, len(ascii_lowercase)))
        self.looks = (
            Look("#", "wall", "block", GREY),
            *(Look(_sign(i), "door", "door", hue(i), {"color": i}) for i in self._colors),
            *(_player(_sign(i).upper(), i) for i in self._colors),
        )

    def reset(self, seed: int) -> State:
        level = self.level(seed)
        doors = _colored(level.take(self.options["doors"]), len(self._colors), level.rng)
        color = int(level.rng.integers(len(self._colors)))
        return self.populate(
            [
                *at("wall", level.walls),
                *(("door", {"pos": cell, "color": doors[cell]}) for cell in doors),
                *at("player", level.take(1), color=color),
            ]
        )

    def dynamics(self, state: State, action: str) -> Distribution:
        player = self.the(state, "player")
        if action == "change-color":
            if state.find("door", pos=player.pos):
                return self.surely(state)
            return self.surely(
                state, {player.id: {"color": (player.color + 1) % len(self._colors)}}
            )
        target = moved(player.pos, MOVES[action])
        doors = state.find("door", pos=target)
        if state.find("wall", pos=target) or any(each.color != player.color for each in doors):
            return self.surely(state)
        return self.surely(state, {player.id: {"pos": target}})

    def bounds(self) -> Bounds:
        return {**super().bounds(), "color": (0, len(self._colors) - 1)}

    def scenes(self) -> Sequence[Scene]:
        # The scenes are the same for any number of colors: Z is a player of the last one.
        last = _player("Z", self._colors[-1])
        return read_scenes("doors", self.schema, [*self.looks, last])


def _sign(color: int) -> str:
    return ascii_lowercase[color]


def _player(sign: str, color: int) -> Look:
    return Look(sign, "player", "person", hue(color), {"color": color})


def _colored(doors: list[Cell], n_colors: int, rng: np.random.Generator) -> dict[Cell, int]:
    """Return a random color for every group of doors that touch."""
    colored: dict[Cell, int] = {}
    plain = dict.fromkeys(doors)  # a set that keeps its order
    while plain:
        color, group = int(rng.integers(n_colors)), [plain.popitem()[0]]
        while group:
            cell = group.pop()
            colored[cell] = color
            for each in beside(cell):
                if each in plain:
                    del plain[each]
                    group.append(each)
    return colored
