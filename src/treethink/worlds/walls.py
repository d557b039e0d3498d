"""The world `walls`: a player among walls."""

from __future__ import annotations

from collections.abc import Sequence

from treethink.state import Schema, State
from treethink.worlds.base import Distribution, Scene
from treethink.worlds.grid import MOVES, GridWorld, at, populate


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
    Version
        1: the first.
    """

    name = "walls"
    moves = MOVES
    legend = {"#": (("wall", {}),), "P": (("player", {}),)}
    schema = Schema(
        classes={"wall": ["pos"], "player": ["pos"]},
        attributes={"pos": 2},
        actions=list(MOVES),
    )

    def reset(self, seed: int) -> State:
        level = self.level(seed)
        return populate(self.schema, [*at("wall", level.walls), *at("player", level.take(1))])

    def dynamics(self, state: State, action: str) -> Distribution:
        player = self._the(state, "player")
        target, stopped = self.walks(state, player, action)
        return self.surely(state, state if stopped else state.replace(player.id, pos=target))

    def scenes(self) -> Sequence[Scene]:
        return [
            self.scene("the player goes left", "left", ".P#", "P.#"),
            self.scene("the player goes right", "right", "#P.", "#.P"),
            self.scene("the player goes up", "up", "./P/#", "P/./#"),
            self.scene("the player goes down", "down", "#/P/.", "#/./P"),
            self.scene("a wall on the left stops it", "left", "#P.", "#P."),
            self.scene("a wall on the right stops it", "right", ".P#", ".P#"),
            self.scene("a wall above stops it", "up", "#/P/.", "#/P/."),
            self.scene("a wall below stops it", "down", "./P/#", "./P/#"),
            self.scene("a wall two cells away does not", "right", "P.#", ".P#"),
            self.scene("a wall at a corner does not", "right", ".#/P.", ".#/.P"),
        ]
