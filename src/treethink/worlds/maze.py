"""The world `maze`: `walls` with goals and a score."""

from __future__ import annotations

from collections.abc import Sequence

from treethink.state import Attribute, Schema, State
from treethink.worlds.base import without_score
from treethink.worlds.grid import STAY_AND_MOVES, GridWorld, at, moved
from treethink.worlds.looks import BLUE, GREEN, GREY, Look
from treethink.worlds.scene import Distribution, Scene, read_scenes


class Maze(GridWorld):
    """A player looks for goals, and every step counts.

    Objects
        wall (pos); goal (pos); player (pos), one of it; game (score), one of it.
    Actions
        stay, left, right, up, down.
    Dynamics
        The player moves one cell, or stays, unless a wall is there. Goals stop nothing.
    Score
        -2 for an attempt to enter a wall; otherwise +1 if the player ends on a goal, also
        by staying there; otherwise -1. The score takes part in no facts: it has endlessly
        many values, and none of them explains anything.
    Start
        Walls as in `walls`. The goals and the player are on different free cells. Score 0.
    Options
        width, height: the size of the grid with its border, at least 3 (8 x 8).
        wall_percent: how much of the interior is walls (30).
        goals: how many there are (2). In proportion to the interior, 32 x 32 has 50.
        scored: whether there is a game and its score, 1 or 0 (1).
    Version
        1: the first.
    """

    name = "maze"
    defaults = {**GridWorld.defaults, "goals": 2, "scored": 1}
    schema = Schema(
        classes={"wall": ["pos"], "goal": ["pos"], "player": ["pos"], "game": ["score"]},
        attributes={"pos": 2, "score": Attribute(1, facts=())},
        actions=list(STAY_AND_MOVES),
    )
    looks = (
        Look("#", "wall", "block", GREY),
        Look("G", "goal", "star", GREEN),
        Look("P", "player", "person", BLUE),
    )

    def __init__(self, **options: int):
        super().__init__(**options)
        self.need_free_cells(1 + self.options["goals"])
        if not self.within("scored", 0, 1):
            self.schema = without_score(self.schema)

    def reset(self, seed: int) -> State:
        level = self.level(seed)
        player, *goals = level.take(1 + self.options["goals"])
        return self.populate(
            [*at("wall", level.walls), *at("goal", goals), *at("player", [player])]
        )

    def dynamics(self, state: State, action: str) -> Distribution:
        player = self.the(state, "player")
        target = moved(player.pos, STAY_AND_MOVES[action])
        if state.find("wall", pos=target):
            return self.surely(state, self.paid(state, -2))
        points = 1 if state.find("goal", pos=target) else -1
        return self.surely(state, {player.id: {"pos": target}}, self.paid(state, points))

    def scenes(self) -> Sequence[Scene]:
        return read_scenes("maze", self.schema, self.looks)


class MazeScoreless(Maze):
    """`maze` without its score."""

    name = "maze-scoreless"
    defaults = {**Maze.defaults, "scored": 0}


class MazeT(Maze):
    """`maze` at 32 x 32, to see whether what was learned in 8 x 8 transfers."""

    name = "maze-t"
    defaults = {**Maze.defaults, "width": 32, "height": 32, "goals": 50}
