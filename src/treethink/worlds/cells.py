"""The world `cells`: a maze of cells, each of which is an object of some kind."""

from __future__ import annotations

from collections.abc import Sequence

from treethink.state import Schema, State
from treethink.worlds.base import Bounds, Cell
from treethink.worlds.grid import MOVES, GridWorld, moved
from treethink.worlds.looks import BLUE, DIM, GREY, ORANGE, Look
from treethink.worlds.scene import Distribution, Scene, read_scenes

FLOOR, WALL, MUD = 0, 1, 2


class Cells(GridWorld):
    """A player walks from cell to cell; walls stop it, and mud slows it down.

    Objects
        cell (pos; kind: 0 floor, 1 wall, 2 mud), one at each position of the grid; player (pos;
        stuck: 0 or 1), one of it.
    Actions
        left, right, up, down.
    Dynamics
        A player that is not stuck moves one cell, unless the cell there is a wall. It is stuck
        once it has moved into mud. A player that is stuck stays where it is, and is not stuck
        any more. Cells never change.
    Score
        None.
    Start
        A border of walls and, inside it, walls on a part of the cells, at random, such that all
        other cells are connected. A part of these are mud, and the rest is floor. The player is
        on floor, and not stuck.
    Options
        width, height: the size of the grid with its border, at least 3 (7 x 7).
        wall_percent, mud_percent: how much of the interior is walls (30) and mud (30).
    Version
        1: the first.
    """

    name = "cells"
    defaults = {"width": 7, "height": 7, "wall_percent": 30, "mud_percent": 30}
    distinct = False  # the player is in a cell
    schema = Schema(
        classes={"cell": ["pos", "kind"], "player": ["pos", "stuck"]},
        attributes={"pos": 2, "kind": 1, "stuck": 1},
        actions=list(MOVES),
    )
    looks = (
        Look(",", "cell", "frame", DIM, {"kind": FLOOR}),
        Look("#", "cell", "block", GREY, {"kind": WALL}),
        Look("~", "cell", "square", ORANGE, {"kind": MUD}),
        Look("P", "player", "person", BLUE, {"stuck": 0}),
        Look("S", "player", "person", DIM, {"stuck": 1}),
    )

    def __init__(self, **options: int):
        super().__init__(**options)
        self.within("mud_percent", 0, 100)
        self.need_free_cells(1 + self._n_mud)

    @property
    def _n_mud(self) -> int:
        return self.n_interior * self.options["mud_percent"] // 100

    def reset(self, seed: int) -> State:
        level = self.level(seed)
        kinds: dict[Cell, int] = dict.fromkeys(level.walls, WALL)
        kinds |= dict.fromkeys(level.take(self._n_mud), MUD)
        (start,) = level.take(1)
        cells = (
            (x, y) for y in range(self.options["height"]) for x in range(self.options["width"])
        )
        return self.populate(
            [
                *(("cell", {"pos": cell, "kind": kinds.get(cell, FLOOR)}) for cell in cells),
                ("player", {"pos": start, "stuck": 0}),
            ]
        )

    def dynamics(self, state: State, action: str) -> Distribution:
        player = self.the(state, "player")
        if player.stuck:
            return self.surely(state, {player.id: {"stuck": 0}})
        target = moved(player.pos, MOVES[action])
        if state.find("cell", pos=target, kind=WALL):
            return self.surely(state)
        stuck = int(bool(state.find("cell", pos=target, kind=MUD)))
        return self.surely(state, {player.id: {"pos": target, "stuck": stuck}})

    def free_cells(self, state: State) -> set[Cell]:
        return {cell.pos for cell in state.of_class("cell") if cell.kind != WALL}

    def bounds(self) -> Bounds:
        return {**super().bounds(), "kind": (FLOOR, MUD), "stuck": (0, 1)}

    def scenes(self) -> Sequence[Scene]:
        return read_scenes("cells", self.schema, self.looks)
