"""The world `portal`: `walls` with portals, all of which lead to one exit."""

from __future__ import annotations

from collections.abc import Sequence

from treethink.state import Schema, State
from treethink.worlds.grid import MOVES, GridWorld, at, moved
from treethink.worlds.looks import BLUE, GREEN, GREY, PURPLE, Look
from treethink.worlds.scene import Distribution, Scene, read_scenes


class Portal(GridWorld):
    """A player that steps on a portal arrives at the exit, wherever that is.

    Objects
        wall (pos); portal (pos); exit (pos), one of it; player (pos), one of it.
    Actions
        left, right, up, down.
    Dynamics
        The player moves one cell, unless a wall is there. If a portal is there, the player
        arrives at the position of the exit instead. The exit stops nothing.
    Score
        None.
    Start
        Walls as in `walls`. The portals, the exit and the player are on different free cells.
    Options
        width, height: the size of the grid with its border, at least 3 (8 x 8).
        wall_percent: how much of the interior is walls (20).
        portals: how many there are (4). In proportion to the interior, 32 x 32 has 100.
    Version
        1: the first.
    """

    name = "portal"
    defaults = {**GridWorld.defaults, "wall_percent": 20, "portals": 4}
    schema = Schema(
        classes={name: ["pos"] for name in ("wall", "portal", "exit", "player")},
        attributes={"pos": 2},
        actions=list(MOVES),
    )
    looks = (
        Look("#", "wall", "block", GREY),
        Look("O", "portal", "ring", PURPLE),
        Look("E", "exit", "star", GREEN),
        Look("P", "player", "person", BLUE),
    )

    def __init__(self, **options: int):
        super().__init__(**options)
        self.need_free_cells(2 + self.options["portals"])

    def reset(self, seed: int) -> State:
        level = self.level(seed)
        player, leave, *portals = level.take(2 + self.options["portals"])
        return self.populate(
            [
                *at("wall", level.walls),
                *at("portal", portals),
                *at("exit", [leave]),
                *at("player", [player]),
            ]
        )

    def dynamics(self, state: State, action: str) -> Distribution:
        player = self.the(state, "player")
        target = moved(player.pos, MOVES[action])
        if state.find("wall", pos=target):
            return self.surely(state)
        if state.find("portal", pos=target):
            target = self.the(state, "exit").pos
        return self.surely(state, {player.id: {"pos": target}})

    def scenes(self) -> Sequence[Scene]:
        return read_scenes("portal", self.schema, self.looks)
