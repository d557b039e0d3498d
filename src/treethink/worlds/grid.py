"""What every grid world is built from: cells, levels, moves, pictures.

    seed -> [ Level ] -> things -> State

x runs to the right, y runs down. A level has a border of walls and, inside it, walls at
random that leave all free cells connected, so that nothing is ever placed out of reach.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from treethink.errors import SettingError
from treethink.state import Object, Schema, State
from treethink.worlds.base import Distribution, Scene, World

Cell = tuple[int, int]
#: An object that has no id yet: its class and its values.
Thing = tuple[str, Mapping[str, Any]]

MOVES: Mapping[str, Cell] = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}
STAY_AND_MOVES: Mapping[str, Cell] = {"stay": (0, 0), **MOVES}

# The eight neighbours of a cell, in a circle that begins above it. Every other one shares a side.
_CIRCLE = ((0, -1), (1, -1), (1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1))
_MOST_CELLS = 1_000_000


def moved(cell: Cell, by: Cell) -> Cell:
    """The cell that lies `by` from `cell`."""
    return cell[0] + by[0], cell[1] + by[1]


def at(class_name: str, cells: Iterable[Cell], **values: Any) -> Iterator[Thing]:
    """One thing of the class for each of the cells."""
    return ((class_name, {"pos": cell, **values}) for cell in cells)


def populate(schema: Schema, things: Iterable[Thing]) -> State:
    """A state of these things, with ids from 0 in the order given."""
    objects = (Object(i, name, **values) for i, (name, values) in enumerate(things))
    return State(schema, objects)


class Level:
    """A rectangle of cells while things are being placed in it.

    >>> level = Level(5, 4, np.random.default_rng(0))
    >>> level.add_walls(2)
    >>> len(level.walls), len(level.take(3)), level.n_free
    (16, 3, 1)
    """

    def __init__(self, width: int, height: int, rng: np.random.Generator):
        self._rng = rng
        self._free: list[Cell] = []
        # Walls that touch, by a side or a corner, form groups: a forest of parents.
        self._parent: dict[Cell, Cell] = {}
        for y in range(height):
            for x in range(width):
                if 0 < x < width - 1 and 0 < y < height - 1:
                    self._free.append((x, y))
                else:
                    self._parent[x, y] = (0, 0)

    @property
    def walls(self) -> list[Cell]:
        """The cells that are walls, in reading order."""
        return sorted(self._parent, key=_reading_order)

    @property
    def n_free(self) -> int:
        """How many cells are neither walls nor taken."""
        return len(self._free)

    def take(self, count: int) -> list[Cell]:
        """So many different free cells at random; they are not free any more."""
        if count > self.n_free:
            raise SettingError(f"cannot place {count} things on {self.n_free} free cells")
        order = self._rng.permutation(self.n_free).tolist()
        taken = [self._free[i] for i in order[:count]]
        self._free = [self._free[i] for i in sorted(order[count:])]
        return taken

    def add_walls(self, count: int) -> None:
        """Turn so many free cells into walls, and leave the other free cells connected.

        The free cells are tried in random order. One that would cut the others in two is
        passed over until the next round. Of two or more connected cells at least one can
        always go, so every round adds a wall, and the rounds end.
        """
        if count >= self.n_free:
            raise SettingError(f"cannot place {count} walls on {self.n_free} cells: none is left")
        waiting = self.take(self.n_free)
        while count > 0:
            passed_over = []
            for cell in waiting:
                if count == 0 or self._cuts(cell):
                    passed_over.append(cell)
                else:
                    self._add_wall(cell)
                    count -= 1
            waiting = passed_over
        self._free = sorted(waiting, key=_reading_order)

    def _cuts(self, cell: Cell) -> bool:
        """Whether a wall here would cut the free cells in two.

        It would if and only if it closes a ring of walls: if two walls around the cell that
        do not touch each other here, because the circle of neighbours is free between
        them, belong to one group all the same.
        """
        circle = [moved(cell, by) for by in _CIRCLE]
        free_sides = [i for i in (0, 2, 4, 6) if circle[i] not in self._parent]
        if not free_sides:
            return False
        groups: list[Cell] = []
        apart = True  # from the walls met so far
        for k in range(free_sides[0], free_sides[0] + 8):
            neighbour = circle[k % 8]
            if neighbour in self._parent:
                if apart:
                    groups.append(self._group(neighbour))
                apart = False
            elif k % 2 == 0:  # past a free corner, the walls on its two sides still touch
                apart = True
        return len(set(groups)) < len(groups)

    def _add_wall(self, cell: Cell) -> None:
        self._parent[cell] = cell
        for by in _CIRCLE:
            neighbour = moved(cell, by)
            if neighbour in self._parent:
                self._parent[self._group(neighbour)] = cell

    def _group(self, wall: Cell) -> Cell:
        parent = self._parent
        while parent[wall] != wall:
            parent[wall] = wall = parent[parent[wall]]
        return wall


class GridWorld(World):
    """A world on a grid with walls and one player that they stop."""

    defaults: ClassVar[Mapping[str, int]] = {"width": 8, "height": 8}
    #: What each action adds to the player's position.
    moves: ClassVar[Mapping[str, Cell]]
    #: The classes of which no object ever moves.
    fixed: ClassVar[tuple[str, ...]] = ("wall",)
    #: What each sign of a picture stands for, but for `.`: nothing.
    legend: ClassVar[Mapping[str, tuple[Thing, ...]]]

    def __init__(self, **options: int):
        super().__init__(**options)
        width, height = self.options["width"], self.options["height"]
        for side, cells in (("width", width), ("height", height)):
            if cells < 3:
                raise SettingError(
                    f"{self._where}: {side} must be at least 3 (wall, cell, wall), got {cells}"
                )
        if width * height > _MOST_CELLS:
            raise SettingError(
                f"{self._where}: {width} x {height} is more than {_MOST_CELLS:,} cells"
            )
        self._known = _FixedCells(self.fixed)

    @property
    def n_interior(self) -> int:
        """How many cells the border encloses."""
        return (self.options["width"] - 2) * (self.options["height"] - 2)

    @property
    def n_interior_walls(self) -> int:
        """Three tenths of the interior."""
        return self.n_interior * 3 // 10

    def level(self, seed: int) -> Level:
        """A level that has its walls and nothing else yet."""
        level = Level(self.options["width"], self.options["height"], self._generator(seed))
        level.add_walls(self.n_interior_walls)
        return level

    def walks(self, state: State, player: Object, action: str) -> tuple[Cell, bool]:
        """Where the player ends, and whether a wall stopped it."""
        target = moved(player.pos, self.moves[action])
        if self.is_at(state, "wall", target):
            return player.pos, True
        return target, False

    def is_at(self, state: State, class_name: str, cell: Cell) -> bool:
        """Whether an object of the class, one of the `fixed`, is on the cell."""
        return cell in self._known.cells(state)[class_name]

    def surely(self, before: State, after: State) -> Distribution:
        """The distribution of a step that left nothing to chance."""
        self._known.pass_on(before, after)
        return [(after, 1.0)]

    def scene(
        self, says: str, action: str, before: str, after: str, *others: tuple[Thing, Thing]
    ) -> Scene:
        """A scene from two pictures, and things (before, after) that no picture shows."""
        hidden = [first for first, _ in others], [second for _, second in others]
        return Scene(says, self.picture(before, hidden[0]), action, self.picture(after, hidden[1]))

    def picture(self, drawing: str, others: Iterable[Thing] = ()) -> State:
        """The state that is drawn: rows from above, parted by `/`; one sign for each cell.

        Ids go by class, then in reading order, so that what moves alone in its class
        keeps its id from one picture to the next.
        """
        things = [*others]
        for y, row in enumerate(drawing.split("/")):
            for x, sign in enumerate(row):
                for name, values in self.legend.get(sign, ()):
                    things.append((name, {"pos": (x, y), **values}))
        return populate(self.schema, sorted(things, key=lambda thing: thing[0]))

    def _need_free_cells(self, count: int) -> None:
        free = self.n_interior - self.n_interior_walls
        if count > free:
            raise SettingError(
                f"{self._where}: {count} things need a free cell each, but"
                f" {self.options['width']} x {self.options['height']} leaves only {free}"
            )


class _FixedCells:
    """Where the objects are that never move, for the states met lately.

    Gathering that takes time for each object, and a step asks about one cell only. So a
    state hands on what is known of it to the states that follow.
    """

    _most = 256

    def __init__(self, classes: tuple[str, ...]) -> None:
        self._classes = classes
        self._known: dict[State, dict[str, frozenset[Cell]]] = {}

    def cells(self, state: State) -> dict[str, frozenset[Cell]]:
        known = self._known.get(state)
        if known is None:
            known = {
                name: frozenset(each.pos for each in state.of_class(name)) for name in self._classes
            }
            self._remember(state, known)
        return known

    def pass_on(self, before: State, after: State) -> None:
        self._remember(after, self.cells(before))

    def _remember(self, state: State, known: dict[str, frozenset[Cell]]) -> None:
        if state not in self._known:
            while len(self._known) >= self._most:
                del self._known[next(iter(self._known))]
            self._known[state] = known


def _reading_order(cell: Cell) -> Cell:
    return cell[1], cell[0]
