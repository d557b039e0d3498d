"""The world `gates`: a player, a guard, gates to jump over and switches to tread on."""

from __future__ import annotations

from collections.abc import Sequence

from treethink.errors import SettingError
from treethink.state import Object, Schema, State
from treethink.worlds.base import Cell, Changes
from treethink.worlds.grid import MOVES, GridWorld, at, beside, moved
from treethink.worlds.looks import BLUE, DIM, GREY, ORANGE, RED, YELLOW, Look
from treethink.worlds.scene import Distribution, Scene, read_scenes

_GUARD_MOVES = {f"guard-{name}": by for name, by in MOVES.items()}
_JUMPS = {f"jump-{name}": by for name, by in MOVES.items()}
# Shares of the interior, in percent.
_LEAST, _MOST_WALLS, _MOST_WALLS_AND_GATES, _MOST_SWITCHES = 5, 40, 55, 20


class Gates(GridWorld):
    """A player jumps over gates, and a guard walks through them.

    Objects
        wall (pos); gate (pos); guard (pos), one of it; switch (pos, on); player (pos), one
        of it.
    Actions
        left, right, up, down, guard-left, guard-right, guard-up, guard-down, jump-left,
        jump-right, jump-up, jump-down.
    Dynamics
        The player moves one cell, unless a wall or a gate is there; the guard does not
        stop it. The guard moves one cell, unless a wall or the player is there; gates do
        not stop it. A jump takes the player two cells, over a gate, if neither cell has a
        wall and the second has no gate; otherwise nowhere. Whatever the action, every
        switch under the player, where it is before it moves, is toggled.
    Score
        None.
    Start
        A border of walls. Of the interior 5 to 40 percent are walls, such that all cells
        without a wall are connected; from 5 percent up to 55 less the share of walls are
        gates, and there is always one; up to 20 percent are switches, on or off at random.
        The player is beside a gate. Everything is on a cell of its own.
    Options
        width, height: the size of the grid with its border (8 x 8), such that every level
        fits: an interior of 4 cells, or of 6 and more.
    Version
        1: the first.
    """

    name = "gates"
    defaults = {"width": 8, "height": 8}
    schema = Schema(
        classes={
            "wall": ["pos"], "gate": ["pos"], "switch": ["pos", "on"],
            "guard": ["pos"], "player": ["pos"],
        },
        attributes={"pos": 2, "on": 1},
        actions=[*MOVES, *_GUARD_MOVES, *_JUMPS],
    )  # fmt: skip
    looks = (
        Look("#", "wall", "block", GREY),
        Look("H", "gate", "bar", ORANGE),
        Look("s", "switch", "lever-back", DIM, {"on": 0}),
        Look("S", "switch", "lever", YELLOW, {"on": 1}),
        Look("G", "guard", "diamond", RED),
        Look("P", "player", "person", BLUE),
    )

    def __init__(self, **options: int):
        super().__init__(**options)
        if self._most_cells() > self.n_interior:
            raise SettingError(
                f"{self._where}: a level may need {self._most_cells()} cells inside its border,"
                f" {self.options['width']} x {self.options['height']} has only {self.n_interior}"
            )

    def reset(self, seed: int) -> State:
        level = self.empty_level(seed)
        walls = int(level.rng.integers(_LEAST, _MOST_WALLS, endpoint=True))
        gates = int(level.rng.integers(_LEAST, _MOST_WALLS_AND_GATES - walls, endpoint=True))
        switches = int(level.rng.integers(_MOST_SWITCHES, endpoint=True))
        level.add_walls(self._share(walls))
        at_gates = level.take(self._n_gates(gates))
        # Cells without a wall are connected, and some have no gate: so one is beside a gate.
        player = level.take(1, among={cell for gate in at_gates for cell in beside(gate)})
        guard, *at_switches = level.take(1 + self._share(switches))
        on = level.rng.integers(2, size=len(at_switches)).tolist()
        return self.populate(
            [
                *at("wall", level.walls),
                *at("gate", at_gates),
                *(
                    ("switch", {"pos": cell, "on": each})
                    for cell, each in zip(at_switches, on, strict=True)
                ),
                *at("guard", [guard]),
                *at("player", player),
            ]
        )

    def dynamics(self, state: State, action: str) -> Distribution:
        player = self.the(state, "player")
        toggled = {each.id: {"on": 1 - each.on} for each in state.find("switch", pos=player.pos)}
        if action in MOVES:
            return self.surely(state, toggled, _walked(state, player, MOVES[action]))
        if action in _JUMPS:
            return self.surely(state, toggled, _jumped(state, player, _JUMPS[action]))
        guard = self.the(state, "guard")
        target = moved(guard.pos, _GUARD_MOVES[action])
        if target == player.pos or state.find("wall", pos=target):
            return self.surely(state, toggled)
        return self.surely(state, toggled, {guard.id: {"pos": target}})

    def most_objects(self) -> dict[str, int]:
        border = self.options["width"] * self.options["height"] - self.n_interior
        return {
            "wall": border + self._share(_MOST_WALLS),
            "gate": self._n_gates(_MOST_WALLS_AND_GATES - _LEAST),
            "switch": self._share(_MOST_SWITCHES),
            "guard": 1,
            "player": 1,
        }

    def scenes(self) -> Sequence[Scene]:
        return read_scenes("gates", self.schema, self.looks)

    def _share(self, percent: int) -> int:
        """So many percent of the interior."""
        return self.n_interior * percent // 100

    def _n_gates(self, percent: int) -> int:
        return max(1, self._share(percent))

    def _most_cells(self) -> int:
        """How many cells inside the border a level may need."""
        walls_and_gates = max(
            self._share(walls) + self._n_gates(_MOST_WALLS_AND_GATES - walls)
            for walls in range(_LEAST, _MOST_WALLS + 1)
        )
        return walls_and_gates + self._share(_MOST_SWITCHES) + 2  # the guard and the player


def _walked(state: State, player: Object, by: Cell) -> Changes:
    target = moved(player.pos, by)
    if state.find("wall", pos=target) or state.find("gate", pos=target):
        return {}
    return {player.id: {"pos": target}}


def _jumped(state: State, player: Object, by: Cell) -> Changes:
    over = moved(player.pos, by)
    target = moved(over, by)
    if not state.find("gate", pos=over) or state.find("gate", pos=target):
        return {}
    if state.find("wall", pos=over) or state.find("wall", pos=target):
        return {}
    return {player.id: {"pos": target}}
