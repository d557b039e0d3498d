"""The world `coins`: `maze` with coins, each of which pays only once."""

from __future__ import annotations

from collections.abc import Sequence

from treethink.state import Attribute, Schema, State
from treethink.worlds.base import Bounds, without_score
from treethink.worlds.grid import STAY_AND_MOVES, GridWorld, at, moved
from treethink.worlds.looks import BLUE, DIM, GREY, YELLOW, Look
from treethink.worlds.scene import Distribution, Scene, read_scenes


class Coins(GridWorld):
    """A player collects coins, and every step counts.

    Objects
        wall (pos); coin (pos; used: 0 not yet, 1 picked up); player (pos), one of it;
        game (score), one of it.
    Actions
        stay, left, right, up, down.
    Dynamics
        The player moves one cell, or stays, unless a wall is there. A move onto a coin that
        is not used picks it up: it is used from then on, and keeps its place. Staying picks
        up nothing. Coins stop nothing.
    Score
        -2 for an attempt to enter a wall; otherwise +1 if the step picks up a coin;
        otherwise -1. The score takes part in no facts, as in `maze`.
    Start
        Walls as in `walls`. The coins and the player are on different free cells. No coin
        is used. Score 0.
    Options
        width, height: the size of the grid with its border, at least 3 (8 x 8).
        wall_percent: how much of the interior is walls (30).
        coins: how many there are (5). In proportion to the interior, 32 x 32 has 125.
        scored: whether there is a game and its score, 1 or 0 (1).
    Version
        1: the first.
    """

    name = "coins"
    defaults = {**GridWorld.defaults, "coins": 5, "scored": 1}
    schema = Schema(
        classes={"wall": ["pos"], "coin": ["pos", "used"], "player": ["pos"], "game": ["score"]},
        attributes={"pos": 2, "used": 1, "score": Attribute(1, facts=())},
        actions=list(STAY_AND_MOVES),
    )
    looks = (
        Look("#", "wall", "block", GREY),
        Look("c", "coin", "ring", DIM, {"used": 1}),
        Look("C", "coin", "disc", YELLOW, {"used": 0}),
        Look("P", "player", "person", BLUE),
    )

    def __init__(self, **options: int):
        super().__init__(**options)
        self.need_free_cells(1 + self.options["coins"])
        if not self.within("scored", 0, 1):
            self.schema = without_score(self.schema)

    def reset(self, seed: int) -> State:
        level = self.level(seed)
        player, *coins = level.take(1 + self.options["coins"])
        return self.populate(
            [*at("wall", level.walls), *at("coin", coins, used=0), *at("player", [player])]
        )

    def dynamics(self, state: State, action: str) -> Distribution:
        player = self.the(state, "player")
        target = moved(player.pos, STAY_AND_MOVES[action])
        if state.find("wall", pos=target):
            return self.surely(state, self.paid(state, -2))
        picked_up = state.find("coin", pos=target, used=0) if action != "stay" else ()
        return self.surely(
            state,
            {player.id: {"pos": target}},
            {coin.id: {"used": 1} for coin in picked_up},
            self.paid(state, 1 if picked_up else -1),
        )

    def bounds(self) -> Bounds:
        return {**super().bounds(), "used": (0, 1)}

    def scenes(self) -> Sequence[Scene]:
        return read_scenes("coins", self.schema, self.looks)


class CoinsScoreless(Coins):
    """`coins` without its score."""

    name = "coins-scoreless"
    defaults = {**Coins.defaults, "scored": 0}


class CoinsT(Coins):
    """`coins` at 32 x 32, to see whether what was learned in 8 x 8 transfers."""

    name = "coins-t"
    defaults = {**Coins.defaults, "width": 32, "height": 32, "coins": 125}
