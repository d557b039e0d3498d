"""The world `chase`: a hunter that runs towards its prey."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from treethink.state import Schema, State
from treethink.worlds.grid import STAY_AND_MOVES, GridWorld, at, moved
from treethink.worlds.looks import BLUE, GREY, RED, Look
from treethink.worlds.scene import Distribution, Scene, read_scenes


class Chase(GridWorld):
    """A hunter takes a step towards its prey along each axis, however far away it is.

    Objects
        wall (pos); hunter (pos), one of it; prey (pos), one of it.
    Actions
        stay, left, right, up, down.
    Dynamics
        The prey moves one cell, or stays, unless a wall is there. At the same time the hunter
        takes a step towards the cell where the prey has been: one cell to the left if the prey
        is farther left, one cell up if it is farther up, and so on; so it may move diagonally.
        On an axis on which they agree it does not move. It may enter the cell of the prey.
    Score
        None.
    Start
        A border of walls, and none inside it. The hunter and the prey are on different free
        cells.
    Options
        width, height: the size of the grid with its border, at least 3 (12 x 12).
    Version
        1: the first.
    """

    name = "chase"
    defaults: ClassVar[Mapping[str, int]] = {"width": 12, "height": 12}
    schema = Schema(
        classes={name: ["pos"] for name in ("wall", "prey", "hunter")},
        attributes={"pos": 2},
        actions=list(STAY_AND_MOVES),
    )
    looks = (
        Look("#", "wall", "block", GREY),
        Look("P", "prey", "person", BLUE),
        Look("H", "hunter", "diamond", RED),
    )

    def __init__(self, **options: int):
        super().__init__(**options)
        self.need_free_cells(2)

    def reset(self, seed: int) -> State:
        level = self.level(seed)
        hunter, prey = level.take(2)
        return self.populate(
            [*at("wall", level.walls), *at("hunter", [hunter]), *at("prey", [prey])]
        )

    def dynamics(self, state: State, action: str) -> Distribution:
        hunter, prey = self.the(state, "hunter"), self.the(state, "prey")
        target = moved(prey.pos, STAY_AND_MOVES[action])
        towards = (_sign(prey.pos[0] - hunter.pos[0]), _sign(prey.pos[1] - hunter.pos[1]))
        return self.surely(
            state,
            {} if state.find("wall", pos=target) else {prey.id: {"pos": target}},
            {hunter.id: {"pos": moved(hunter.pos, towards)}},
        )

    def scenes(self) -> Sequence[Scene]:
        return read_scenes("chase", self.schema, self.looks)


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)
