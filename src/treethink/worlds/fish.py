"""The world `fish`: nobody acts, and chance decides."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod

import numpy as np

from treethink.errors import StateError
from treethink.state import Object, Schema, State
from treethink.worlds.base import Cell
from treethink.worlds.grid import GridWorld, at, beside
from treethink.worlds.looks import GREY, ORANGE, Look
from treethink.worlds.scene import Distribution, Scene, read_scenes

#: The most next states that are listed.
_MOST_STATES = 100_000


class Fish(GridWorld):
    """Fish swim at random among walls.

    Objects
        wall (pos); fish (pos).
    Actions
        step.
    Dynamics
        Every fish moves to a cell beside it that has no wall; if there is a wall beside
        it, it may also stay. All that is possible is equally likely. Fish ignore each
        other, and may be on one cell.
    Score
        None.
    Start
        Walls as in `walls`. The fish are on different free cells.
    Options
        width, height: the size of the grid with its border, at least 3 (8 x 8).
        wall_percent: how much of the interior is walls (30).
        fish: how many there are (1). What may follow is only listed up to 100,000
        states, so with nine or more fish some distributions cannot be stated, and
        predictions are scored against what followed.
    Version
        1: the first.
    """

    name = "fish"
    defaults = {**GridWorld.defaults, "fish": 1}
    schema = Schema({"wall": ["pos"], "fish": ["pos"]}, {"pos": 2}, ["step"])
    looks = (Look("#", "wall", "block", GREY), Look("F", "fish", "fish", ORANGE))

    def __init__(self, **options: int):
        super().__init__(**options)
        self.need_free_cells(self.options["fish"])

    def reset(self, seed: int) -> State:
        level = self.level(seed)
        return self.populate(
            [*at("wall", level.walls), *at("fish", level.take(self.options["fish"]))]
        )

    def dynamics(self, state: State, action: str) -> Distribution:
        fish = state.of_class("fish")
        choices = [_choices(state, each) for each in fish]
        count = prod(map(len, choices))
        if count > _MOST_STATES:
            raise StateError(
                f"{self._where}: {count:,} states may follow, and no more than"
                f" {_MOST_STATES:,} are listed; step draws one of them"
            )
        return [(_put(state, fish, cells), 1 / count) for cells in product(*choices)]

    def sample(self, state: State, action: str, rng: np.random.Generator) -> State:
        fish = state.of_class("fish")
        choices = [_choices(state, each) for each in fish]
        chances = rng.random(len(fish)).tolist()
        cells = [
            cells[int(chance * len(cells))] for cells, chance in zip(choices, chances, strict=True)
        ]
        return _put(state, fish, cells)

    def truth(self, before: State, action: str, after: State) -> Distribution | State:
        """Return the distribution, or `after` if it has too many states to list."""
        choices = [_choices(before, each) for each in before.of_class("fish")]
        too_many = prod(map(len, choices)) > _MOST_STATES
        return after if too_many else self.distribution(before, action)

    def scenes(self) -> Sequence[Scene]:
        return read_scenes("fish", self.schema, self.looks)


def _choices(state: State, fish: Object) -> list[Cell]:
    """Return the cells where the fish may be next."""
    around = beside(fish.pos)
    free = [cell for cell in around if not state.find("wall", pos=cell)]
    return free if len(free) == len(around) else [*free, fish.pos]


def _put(state: State, fish: Sequence[Object], cells: Sequence[Cell]) -> State:
    return state.replace_many(
        {each.id: {"pos": cell} for each, cell in zip(fish, cells, strict=True)}
    )
