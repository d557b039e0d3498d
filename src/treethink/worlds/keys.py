"""The world `keys`: `maze` with doors, and keys that open one door each."""

from __future__ import annotations

from collections.abc import Sequence

from treethink.state import Attribute, Schema, State
from treethink.worlds.base import Bounds, without_score
from treethink.worlds.grid import STAY_AND_MOVES, GridWorld, at, moved
from treethink.worlds.looks import BLUE, DIM, GREEN, GREY, RED, YELLOW, Look
from treethink.worlds.scene import Distribution, Scene, read_scenes

FREE, HELD, USED = 0, 1, 2


class Keys(GridWorld):
    """A player carries keys to doors, one at a time, and looks for goals behind them.

    Objects
        wall (pos); door (pos; open: 0 or 1); key (pos; status: 0 free, 1 held, 2 used);
        goal (pos); player (pos), one of it; game (score), one of it.
    Actions
        stay, left, right, up, down.
    Dynamics
        The player moves one cell, or stays. A move is illegal, and changes nothing but the
        score, into a wall; onto a free key while a key is held; and into a closed door
        while none is held. (So a cell with both, a closed door and a free key, is closed to
        everybody.) A move onto a free key picks it up: it is held from then on, and keeps
        its place. A move into a closed door opens it, and the key that was held is used.
        Staying picks up and opens nothing. Open doors, the places of keys that are held or
        used, and goals stop nothing.
    Score
        -2 for an illegal move; otherwise +1 if the player ends on a goal, also by staying
        there; otherwise -1. The score takes part in no facts, as in `maze`.
    Start
        Walls as in `walls`. The doors, the keys, the goals and the player are on different
        free cells. Doors are closed, keys are free. Score 0. Where doors are in the way, a
        goal may be out of reach.
    Options
        width, height: the size of the grid with its border, at least 3 (8 x 8).
        wall_percent: how much of the interior is walls (30).
        doors, keys, goals: how many there are (2, 3, 1). In proportion to the interior,
        32 x 32 has 50, 75 and 25.
        scored: whether there is a game and its score, 1 or 0 (1).
    Version
        1: the first.
    """

    name = "keys"
    defaults = {**GridWorld.defaults, "doors": 2, "keys": 3, "goals": 1, "scored": 1}
    schema = Schema(
        classes={
            "wall": ["pos"],
            "door": ["pos", "open"],
            "key": ["pos", "status"],
            "goal": ["pos"],
            "player": ["pos"],
            "game": ["score"],
        },
        attributes={"pos": 2, "open": 1, "status": 1, "score": Attribute(1, facts=())},
        actions=list(STAY_AND_MOVES),
    )
    looks = (
        Look("#", "wall", "block", GREY),
        Look("D", "door", "door", RED, {"open": 0}),
        Look("d", "door", "frame", RED, {"open": 1}),
        Look("G", "goal", "star", GREEN),
        Look("u", "key", "key", DIM, {"status": USED}),
        Look("h", "key", "key", BLUE, {"status": HELD}),
        Look("K", "key", "key", YELLOW, {"status": FREE}),
        Look("P", "player", "person", BLUE),
    )

    def __init__(self, **options: int):
        super().__init__(**options)
        self.need_free_cells(1 + sum(self.options[each] for each in ("doors", "keys", "goals")))
        if not self.within("scored", 0, 1):
            self.schema = without_score(self.schema)

    def reset(self, seed: int) -> State:
        level = self.level(seed)
        return self.populate(
            [
                *at("wall", level.walls),
                *at("door", level.take(self.options["doors"]), open=0),
                *at("key", level.take(self.options["keys"]), status=FREE),
                *at("goal", level.take(self.options["goals"])),
                *at("player", level.take(1)),
            ]
        )

    def dynamics(self, state: State, action: str) -> Distribution:
        player = self.the(state, "player")
        target = moved(player.pos, STAY_AND_MOVES[action])
        held = state.find("key", status=HELD)
        moves = action != "stay"
        free = state.find("key", pos=target, status=FREE) if moves else ()
        closed = state.find("door", pos=target, open=0) if moves else ()
        if state.find("wall", pos=target) or (free and held) or (closed and not held):
            return self.surely(state, self.paid(state, -2))
        return self.surely(
            state,
            {player.id: {"pos": target}},
            {key.id: {"status": HELD} for key in free},
            {door.id: {"open": 1} for door in closed},
            {key.id: {"status": USED} for key in held if closed},
            self.paid(state, 1 if state.find("goal", pos=target) else -1),
        )

    def bounds(self) -> Bounds:
        return {**super().bounds(), "open": (0, 1), "status": (FREE, USED)}

    def scenes(self) -> Sequence[Scene]:
        return read_scenes("keys", self.schema, self.looks)


class KeysScoreless(Keys):
    """`keys` without its score."""

    name = "keys-scoreless"
    defaults = {**Keys.defaults, "scored": 0}


class KeysT(Keys):
    """`keys` at 32 x 32, to see whether what was learned in 8 x 8 transfers."""

    name = "keys-t"
    defaults = {**Keys.defaults, "width": 32, "height": 32, "doors": 50, "keys": 75, "goals": 25}
