"""The world `portal`: `walls` with portals, all of which lead to one exit."""

from __future__ import annotations

from collections.abc import Sequence

from treethink.state import Schema, State
from treethink.worlds.grid import MOVES, GridWorld, at, moved
from treethink.worlds.looks import BLUE, GREEN, GREY, PURPLE, Look
from treethink.worlds.scene import Distribution, Scene, read_scenes


class Portal(GridWorld):
    """A player that enters a portal arrives at the exit, wherever that is.

    Objects
        wall (pos); portal (pos); exit (pos), one of it; player (pos), one of it.
    Actions
        left, right, up, down, enter.
    Dynamics
        The player moves one cell, unless a wall is there. Enter puts a player that stands on a
        portal at the position of the exit. With the option stepping, so does a move onto a
        portal. Portals and the exit stop nothing.
    Score
        None.
    Start
        Walls as in `walls`. The portals, the exit and the player are on different free cells.
    Options
        width, height: the size of the grid with its border, at least 3 (8 x 8).
        wall_percent: how much of the interior is walls (20).
        portals: how many there are (4). In proportion to the interior, 32 x 32 has 100.
        stepping: whether a step onto a portal enters it, 1 or 0 (0).
    Version
        1: the first.
    """

    name = "portal"
    defaults = {**GridWorld.defaults, "wall_percent": 20, "portals": 4, "stepping": 0}
    schema = Schema(
        classes={name: ["pos"] for name in ("wall", "portal", "exit", "player")},
        attributes={"pos": 2},
        actions=[*MOVES, "enter"],
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
        self._stepping = bool(self.within("stepping", 0, 1))

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
        entering = action == "enter"
        target = player.pos if entering else moved(player.pos, MOVES[action])
        if not entering and state.find("wall", pos=target):
            return self.surely(state)
        if (entering or self._stepping) and state.find("portal", pos=target):
            target = self.the(state, "exit").pos
        return self.surely(state, {player.id: {"pos": target}})

    def scenes(self) -> Sequence[Scene]:
        onto_portals = "portal_stepping" if self._stepping else "portal_standing"
        every = [
            scene
            for name in ("portal", onto_portals)
            for scene in read_scenes(name, self.schema, self.looks)
        ]
        return [scene for scene in every if not (self._stepping and self._is_on_portal(scene))]

    def _is_on_portal(self, scene: Scene) -> bool:
        """Whether the player stands on a portal, which it never does where a step enters it."""
        player = self.the(scene.before, "player")
        return bool(scene.before.find("portal", pos=player.pos))
