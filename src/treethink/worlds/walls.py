"""The world `walls`: a player among walls."""

from __future__ import annotations

from collections.abc import Sequence

from treethink.state import Schema, State
from treethink.worlds.grid import MOVES, GridWorld, at, moved
from treethink.worlds.looks import BLUE, GREY, Look
from treethink.worlds.scene import Distribution, Scene, read_scenes


class Walls(GridWorld):
    """A player walks where no wall stops it.

    Objects
        wall (pos); player (pos), one of it.
    Actions
        left, right, up, down.
    Dynamics
        The player moves one cell, unless a wall is there. Nothing else changes.
    Score
        None.
    Start
        A border of walls and, inside it, walls on three tenths of the cells, at random,
        such that all free cells are connected. The player is on a free cell.
    Options
        width, height: the size of the grid with its border, at least 3 (8 x 8).
        wall_percent: how much of the interior is walls (30).
    Version
        1: the first.
    """

    name = "walls"
    schema = Schema({"wall": ["pos"], "player": ["pos"]}, {"pos": 2}, list(MOVES))
    looks = (Look("#", "wall", "block", GREY), Look("P", "player", "person", BLUE))

    def __init__(self, **options: int):
        super().__init__(**options)
        self.need_free_cells(1)

    def reset(self, seed: int) -> State:
        level = self.level(seed)
        return self.populate([*at("wall", level.walls), *at("player", level.take(1))])

    def dynamics(self, state: State, action: str) -> Distribution:
        player = self.the(state, "player")
        target = moved(player.pos, MOVES[action])
        if state.find("wall", pos=target):
            return self.surely(state)
        return self.surely(state, {player.id: {"pos": target}})

    def scenes(self) -> Sequence[Scene]:
        return read_scenes("walls", self.schema, self.looks)
