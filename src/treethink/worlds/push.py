"""The world `push`: the rules of Sokoban."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from treethink.state import Attribute, Schema, State
from treethink.worlds.base import Cell, without_score
from treethink.worlds.grid import MOVES, GridWorld, at, moved
from treethink.worlds.looks import BLUE, GREEN, GREY, ORANGE, Look
from treethink.worlds.scene import Distribution, Scene, read_scenes


class Push(GridWorld):
    """A player pushes boxes to goals, as in Sokoban.

    Objects
        wall (pos); goal (pos); box (pos); player (pos), one of it; game (score), one of it.
    Actions
        left, right, up, down.
    Dynamics
        The player moves one cell, unless a wall is there. A box there is pushed on by one cell,
        unless a wall or another box is behind it; then neither of them moves. Goals stop
        nothing.
    Score
        +1 for a box that is pushed onto a goal, -1 for one that is pushed off a goal; so
        nothing for one that is pushed from goal to goal, and nothing for all other moves. The
        score takes part in no facts, as in `maze`.
    Start
        Walls as in `walls`. The boxes, the goals and the player are on different free cells.
        Score 0. A box may be in a corner, and then no goal can be reached with it.
    Options
        width, height: the size of the grid with its border, at least 3 (8 x 8).
        wall_percent: how much of the interior is walls (5).
        boxes, goals: how many there are (8, 12). In proportion to the interior, 32 x 32 has 200
        and 300.
        scored: whether there is a game and its score, 1 or 0 (1).
    Version
        1: the first.
    """

    name = "push"
    defaults = {**GridWorld.defaults, "wall_percent": 5, "boxes": 8, "goals": 12, "scored": 1}
    schema = Schema(
        classes={
            "wall": ["pos"],
            "goal": ["pos"],
            "box": ["pos"],
            "player": ["pos"],
            "game": ["score"],
        },
        attributes={"pos": 2, "score": Attribute(1, facts=())},
        actions=list(MOVES),
    )
    looks = (
        Look("#", "wall", "block", GREY),
        Look("G", "goal", "star", GREEN),
        Look("B", "box", "square", ORANGE),
        Look("P", "player", "person", BLUE),
    )

    def __init__(self, **options: int):
        super().__init__(**options)
        self.need_free_cells(1 + self.options["boxes"] + self.options["goals"])
        if not self.within("scored", 0, 1):
            self.schema = without_score(self.schema)

    def reset(self, seed: int) -> State:
        level = self.level(seed)
        return self.populate(
            [
                *at("wall", level.walls),
                *at("goal", level.take(self.options["goals"])),
                *at("box", level.take(self.options["boxes"])),
                *at("player", level.take(1)),
            ]
        )

    def dynamics(self, state: State, action: str) -> Distribution:
        player = self.the(state, "player")
        target = moved(player.pos, MOVES[action])
        boxes = state.find("box", pos=target)
        behind = moved(target, MOVES[action])
        if _is_wall(state, target) or (boxes and _blocks_boxes(state, behind)):
            return self.surely(state)
        onto, off = (bool(state.find("goal", pos=cell)) for cell in (behind, target))
        return self.surely(
            state,
            {player.id: {"pos": target}},
            {box.id: {"pos": behind} for box in boxes},
            self.paid(state, onto - off if boxes else 0),
        )

    def stress_state(self, rng: np.random.Generator) -> State:
        """Return a level with the player and the boxes close together, and goals anywhere there."""
        state = self.crowd(self.reset(int(rng.integers(2**63))), ["player", "box"], rng)
        goals = state.of_class("goal")
        taken = [each.pos for name in ("player", "box") for each in state.of_class(name)]
        cells = [taken[i] for i in rng.permutation(len(taken)).tolist()]
        moved_goals = dict(zip([each.id for each in goals], cells, strict=False))
        kept = {goal: cell for goal, cell in moved_goals.items() if rng.random() < 0.5}
        free = {each.pos for each in goals if each.id not in kept}
        return state.replace_many(
            {goal: {"pos": cell} for goal, cell in kept.items() if cell not in free}
        )

    def scenes(self) -> Sequence[Scene]:
        return read_scenes("push", self.schema, self.looks)


def _is_wall(state: State, cell: Cell) -> bool:
    return bool(state.find("wall", pos=cell))


def _blocks_boxes(state: State, cell: Cell) -> bool:
    return _is_wall(state, cell) or bool(state.find("box", pos=cell))
