"""Building blocks of grid worlds: cells, levels, moves.

    seed -> [ Level ] -> things -> State

x runs to the right, y runs down. A level has a border of walls and random walls inside it. All
free cells stay connected, so that everything placed on them can be reached.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from treethink.errors import SettingError, shown
from treethink.state import State
from treethink.worlds.base import Bounds, Cell, World
from treethink.worlds.draw import Window
from treethink.worlds.scene import Thing

MOVES: Mapping[str, Cell] = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}
STAY_AND_MOVES: Mapping[str, Cell] = {"stay": (0, 0), **MOVES}

# The eight neighbours of a cell, clockwise from above. Every second one shares a side with it.
_CIRCLE = ((0, -1), (1, -1), (1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1))
_MAX_CELLS = 1_000_000


def moved(cell: Cell, by: Cell) -> Cell:
    """Return the cell at the offset `by` from `cell`."""
    return cell[0] + by[0], cell[1] + by[1]


def beside(cell: Cell) -> list[Cell]:
    """Return the four cells that share a side with the cell."""
    x, y = cell
    return [(x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)]


def at(class_name: str, cells: Iterable[Cell], **values: Any) -> Iterator[Thing]:
    """Return one thing of the class for each of the cells."""
    return ((class_name, {"pos": cell, **values}) for cell in cells)


class Level:
    """A rectangle of cells in which things are placed at random.

    >>> level = Level(5, 4, np.random.default_rng(0))
    >>> level.add_walls(2)
    >>> len(level.walls), len(level.take(3)), level.n_free
    (16, 3, 1)
    """

    def __init__(self, width: int, height: int, rng: np.random.Generator):
        #: The source of all random numbers of the level.
        self.rng = rng
        self._free: list[Cell] = []
        # Walls that touch at a side or a corner form groups: a disjoint-set forest of parents.
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
        """The number of cells that are neither walls nor taken."""
        return len(self._free)

    def take(self, count: int, among: Container[Cell] | None = None) -> list[Cell]:
        """Return `count` different free cells, chosen at random, which are then no longer free.

        With `among`, choose only from these cells.
        """
        free = self._free if among is None else [each for each in self._free if each in among]
        if count > len(free):
            raise SettingError(f"cannot place {count} things on {len(free)} free cells")
        cells = [free[i] for i in self.rng.permutation(len(free))[:count].tolist()]
        unique = set(cells)
        self._free = [each for each in self._free if each not in unique]
        return cells

    def add_walls(self, count: int) -> None:
        """Turn `count` free cells into walls so that the other free cells stay connected.

        The free cells are tried in random order. A cell that would disconnect the others is
        rejected until the next round. Of two or more connected cells, at least one can always
        be removed without disconnecting the others, so every round adds a wall.
        """
        if count >= self.n_free:
            raise SettingError(f"cannot place {count} walls on {self.n_free} cells: none is left")
        candidates = self.take(self.n_free)
        while count > 0:
            rejected = []
            for cell in candidates:
                if count == 0 or self._disconnects(cell):
                    rejected.append(cell)
                else:
                    self._add_wall(cell)
                    count -= 1
            if len(rejected) == len(candidates):
                raise AssertionError("no cell of several connected ones can become a wall")
            candidates = rejected
        self._free = sorted(candidates, key=_reading_order)

    def _disconnects(self, cell: Cell) -> bool:
        """Return whether a wall here would disconnect the free cells.

        It does if and only if it closes a ring of walls: if two walls next to the cell belong
        to the same group, although free cells separate them in the circle of neighbours.
        """
        circle = [moved(cell, by) for by in _CIRCLE]
        free_sides = [i for i in (0, 2, 4, 6) if circle[i] not in self._parent]
        if not free_sides:
            return False
        groups: list[Cell] = []
        apart = True  # whether free cells separate the next wall from the previous one
        for k in range(free_sides[0], free_sides[0] + 8):
            neighbour = circle[k % 8]
            if neighbour in self._parent:
                if apart:
                    groups.append(self._group(neighbour))
                apart = False
            elif k % 2 == 0:  # walls on both sides of a free corner still touch
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
    """A world on a grid with a border of walls, and more walls inside it."""

    defaults: ClassVar[Mapping[str, int]] = {"width": 8, "height": 8, "wall_percent": 30}
    #: Whether all cells without a wall can be reached from each other.
    connected: ClassVar[bool] = True
    #: Whether all things start on different cells.
    distinct: ClassVar[bool] = True

    def __init__(self, **options: int):
        super().__init__(**options)
        width, height = self.options["width"], self.options["height"]
        for side, cells in (("width", width), ("height", height)):
            if cells < 3:
                raise SettingError(
                    f"{self._where}: {side} must be at least 3 (wall, cell, wall), got {cells}"
                )
        if width * height > _MAX_CELLS:
            raise SettingError(
                f"{self._where}: width {shown(width)} x height {shown(height)} is more than"
                f" {_MAX_CELLS:,} cells"
            )
        if "wall_percent" in self.options:
            self.within("wall_percent", 0, 100)

    @property
    def n_interior(self) -> int:
        """The number of cells inside the border."""
        return (self.options["width"] - 2) * (self.options["height"] - 2)

    @property
    def n_interior_walls(self) -> int:
        """The number of walls inside the border."""
        return self.n_interior * self.options.get("wall_percent", 0) // 100

    def bounds(self) -> Bounds:
        return {"pos": ((0, 0), (self.options["width"] - 1, self.options["height"] - 1))}

    def frame(self) -> Window | None:
        return Window(0, 0, self.options["width"], self.options["height"])

    def level(self, seed: int) -> Level:
        """Return a level with its walls only."""
        level = self.empty_level(seed)
        level.add_walls(self.n_interior_walls)
        return level

    def empty_level(self, seed: int) -> Level:
        """Return a level with its border only."""
        return Level(self.options["width"], self.options["height"], self.generator(seed))

    def free_cells(self, state: State) -> set[Cell]:
        """Return the cells without a wall."""
        width, height = self.options["width"], self.options["height"]
        every = {(x, y) for x in range(width) for y in range(height)}
        return every - {wall.pos for wall in state.of_class("wall")}

    def crowd(self, state: State, classes: Iterable[str], rng: np.random.Generator) -> State:
        """Return the state with the objects of these classes close together, on different cells.

        They are on free cells around a cell chosen at random: on the nearest ones, twice as many as
        there are objects, in random order. So objects are beside each other more often than in
        random play.
        """
        objects = [each for name in classes for each in state.of_class(name)]
        free = sorted(self.free_cells(state) & self.interior(), key=_reading_order)
        x, y = free[int(rng.integers(len(free)))]
        free.sort(key=lambda cell: (cell[0] - x) ** 2 + (cell[1] - y) ** 2)
        cells = [free[i] for i in rng.permutation(min(len(free), 2 * len(objects))).tolist()]
        return state.replace_many(
            {each.id: {"pos": cell} for each, cell in zip(objects, cells, strict=False)}
        )

    def interior(self) -> set[Cell]:
        """Return the cells inside the border."""
        width, height = self.options["width"], self.options["height"]
        return {(x, y) for x in range(1, width - 1) for y in range(1, height - 1)}

    def need_free_cells(self, count: int) -> None:
        """Raise a `SettingError` if there are more things than cells without a wall."""
        free = self.n_interior - self.n_interior_walls
        if count > free:
            raise SettingError(
                f"{self._where}: {shown(count)} things need a free cell each, but"
                f" {self.options['width']} x {self.options['height']} leaves only {free:,}"
            )


def _reading_order(cell: Cell) -> Cell:
    return cell[1], cell[0]
