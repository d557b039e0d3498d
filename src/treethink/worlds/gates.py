"""The world `gates`: a player, a guard, gates to jump over and switches to tread on."""

from __future__ import annotations

from collections.abc import Sequence

from treethink.errors import SettingError, shown
from treethink.state import Object, Schema, State
from treethink.worlds.base import Bounds, Cell, Changes
from treethink.worlds.grid import MOVES, GridWorld, Level, at, beside, moved
from treethink.worlds.looks import BLUE, DIM, GREY, ORANGE, RED, YELLOW, Look
from treethink.worlds.scene import Distribution, Scene, read_scenes

_GUARD_MOVES = {f"guard-{name}": by for name, by in MOVES.items()}
_JUMPS = {f"jump-{name}": by for name, by in MOVES.items()}
# Shares of the interior, in percent.
_LEAST, _MOST_WALLS, _MOST_WALLS_AND_GATES, _MOST_SWITCHES = 5, 40, 55, 20
#: Options of this value are drawn for each level.
_DRAWN = 0


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
        Any number is as likely as the others. The player is beside a gate. Everything is on
        a cell of its own.
    Options
        width, height: the size of the grid with its border (8 x 8).
        wall_percent: how much of the interior is walls; 0: drawn for each level (0).
        gates, switches: how many there are; 0: drawn for each level (0, 0).
        Every level must fit: all drawn, it takes an interior of 4 cells, or of 6 and more.
    Version
        1: the first.
    """

    name = "gates"
    defaults = {**GridWorld.defaults, "wall_percent": _DRAWN, "gates": _DRAWN, "switches": _DRAWN}
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
                f"{self._where}: a level may need {shown(self._most_cells())} cells inside its"
                f" border, {self.options['width']} x {self.options['height']} has only"
                f" {self.n_interior}"
            )

    def reset(self, seed: int) -> State:
        level = self.empty_level(seed)
        walls = _draw(level, *self._walls())
        gates = _draw(level, *self._gates(walls))
        switches = _draw(level, *self._switches())
        level.add_walls(walls)
        at_gates = level.take(gates)
        # Cells without a wall are connected, and some have no gate: so one is beside a gate.
        player = level.take(1, among={cell for gate in at_gates for cell in beside(gate)})
        guard, *at_switches = level.take(1 + switches)
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
        fewest, most = self._walls()
        return {
            "wall": border + most,
            "gate": self._gates(fewest)[1],
            "switch": self._switches()[1],
            "guard": 1,
            "player": 1,
        }

    def bounds(self) -> Bounds:
        return {**super().bounds(), "on": (0, 1)}

    def scenes(self) -> Sequence[Scene]:
        return read_scenes("gates", self.schema, self.looks)

    # How many there may be in a level: the fewest, and the most.

    def _walls(self) -> tuple[int, int]:
        if self.options["wall_percent"] != _DRAWN:
            return self.n_interior_walls, self.n_interior_walls
        most = self.n_interior * _MOST_WALLS // 100
        return min(self._fewest, most), most

    def _gates(self, walls: int) -> tuple[int, int]:
        if self.options["gates"] != _DRAWN:
            return self.options["gates"], self.options["gates"]
        most = max(1, self.n_interior * _MOST_WALLS_AND_GATES // 100 - walls)
        return min(self._fewest, most), most

    def _switches(self) -> tuple[int, int]:
        if self.options["switches"] != _DRAWN:
            return self.options["switches"], self.options["switches"]
        return 0, self.n_interior * _MOST_SWITCHES // 100

    @property
    def _fewest(self) -> int:
        """Return the smallest number, which is the least share, rounded up."""
        return -(-self.n_interior * _LEAST // 100)

    def _most_cells(self) -> int:
        """Return the most cells that a level may need, including the guard's and the player's."""
        fewest, most = self._walls()
        walls_and_gates = max(walls + self._gates(walls)[1] for walls in range(fewest, most + 1))
        return walls_and_gates + self._switches()[1] + 2


def _draw(level: Level, fewest: int, most: int) -> int:
    return int(level.rng.integers(fewest, most, endpoint=True))


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
