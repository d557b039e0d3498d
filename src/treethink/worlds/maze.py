"""The world `maze`: `walls` with goals and a score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from treethink.state import Attribute, Schema, State
from treethink.worlds.base import Distribution, Scene
from treethink.worlds.grid import STAY_AND_MOVES, GridWorld, at, populate


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
        goals: how many there are (2). In proportion to the interior, 32 x 32 has 50.
    Version
        1: the first.
    """

    name = "maze"
    defaults = {**GridWorld.defaults, "goals": 2}
    moves = STAY_AND_MOVES
    fixed = ("wall", "goal")
    legend = {
        "#": (("wall", {}),),
        "G": (("goal", {}),),
        "P": (("player", {}),),
        "@": (("goal", {}), ("player", {})),
    }
    schema = Schema(
        classes={"wall": ["pos"], "goal": ["pos"], "player": ["pos"], "game": ["score"]},
        attributes={"pos": 2, "score": Attribute(1, facts=())},
        actions=list(STAY_AND_MOVES),
    )

    def __init__(self, **options: int):
        super().__init__(**options)
        self._need_free_cells(1 + self.options["goals"])

    def reset(self, seed: int) -> State:
        level = self.level(seed)
        player, *goals = level.take(1 + self.options["goals"])
        things = [*at("wall", level.walls), *at("goal", goals), *at("player", [player])]
        return populate(self.schema, [*things, ("game", {"score": 0})])

    def dynamics(self, state: State, action: str) -> Distribution:
        player, game = self._the(state, "player"), self._the(state, "game")
        target, stopped = self.walks(state, player, action)
        if stopped:
            points = -2
        else:
            points = 1 if self.is_at(state, "goal", target) else -1
        changes: dict[int, dict[str, Any]] = {game.id: {"score": game.score + points}}
        if target != player.pos:
            changes[player.id] = {"pos": target}
        return self.surely(state, state.replace_many(changes))

    def scenes(self) -> Sequence[Scene]:
        return [
            self._scored("a step costs a point", "right", "P.", ".P", -1),
            self._scored("so does staying", "stay", "#P#", "#P#", -1),
            self._scored("going left", "left", ".P#", "P.#", -1),
            self._scored("going up", "up", "./P/#", "P/./#", -1),
            self._scored("going down", "down", "#/P/.", "#/./P", -1),
            self._scored("a wall on the left costs two", "left", "#P.", "#P.", -2),
            self._scored("a wall on the right costs two", "right", ".P#", ".P#", -2),
            self._scored("a wall above costs two", "up", "#/P/.", "#/P/.", -2),
            self._scored("a wall below costs two", "down", "./P/#", "./P/#", -2),
            self._scored("reaching a goal on the left pays", "left", "GP", "@.", 1),
            self._scored("reaching a goal on the right pays", "right", "PG", ".@", 1),
            self._scored("reaching a goal above pays", "up", "G/P", "@/.", 1),
            self._scored("reaching a goal below pays", "down", "P/G", "./@", 1),
            self._scored("staying on a goal pays", "stay", "#@#", "#@#", 1),
            self._scored("leaving a goal does not", "right", "@.", "GP", -1),
            self._scored("from goal to goal pays", "right", "@G", "G@", 1),
            self._scored("into a wall from a goal costs two", "right", "@#", "@#", -2),
            self._scored("a goal nearby does not pay", "stay", "PG", "PG", -1),
        ]

    def _scored(self, says: str, action: str, before: str, after: str, points: int) -> Scene:
        game = ("game", {"score": 7}), ("game", {"score": 7 + points})
        return self.scene(says, action, before, after, game)
