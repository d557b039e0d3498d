"""The world `paths`: a player that walks only on paths, in any number of dimensions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import isqrt
from operator import add

import numpy as np

from treethink.errors import SettingError
from treethink.state import Object, Schema, State
from treethink.worlds.base import Bounds, Cell, World
from treethink.worlds.draw import Window
from treethink.worlds.looks import BLUE, DIM, Look
from treethink.worlds.scene import Distribution, Scene, populate, read_scenes

#: A cell of a world of any number of dimensions.
Point = tuple[int, ...]

_AXIS_NAMES = (("left", "right"), ("up", "down"))
_MOST_BLOCKS = 100_000


class Paths(World):
    """A player walks on blocks of path and nowhere else, in any number of dimensions.

    Objects
        path (pos); player (pos), one of it. A pos has as many numbers as dimensions.
    Actions
        left, right along axis 0; up, down along axis 1; minus-2, plus-2 along axis 2 and so
        on, for as many axes as there are dimensions.
    Dynamics
        The player moves one cell if there is a block of path; otherwise it stays. Nothing
        else changes.
    Score
        None.
    Start
        Two fifths of all cells are path, at least one. The path is grown from one cell by
        neighbours at random, so that all of it is connected. The player is on the path.
    Options
        dimensions: the length of a pos, 1 to 8 (2).
        size: the cells along each dimension, 1 to 1,000 (8).
        path_percent: how much of all cells is path (40); at most 100,000 blocks.
    Version
        1: the first.
    """

    name = "paths"
    defaults = {"dimensions": 2, "size": 8, "path_percent": 40}
    looks = (Look("+", "path", "block", DIM), Look("P", "player", "person", BLUE))

    def __init__(self, **options: int):
        super().__init__(**options)
        dimensions, size = self.within("dimensions", 1, 8), self.within("size", 1, 1_000)
        self._n_blocks = max(1, size**dimensions * self.within("path_percent", 0, 100) // 100)
        if self._n_blocks > _MOST_BLOCKS:
            raise SettingError(
                f"{self._where}: path_percent {self.options['path_percent']} of {size} to the"
                f" power of {dimensions} cells is {self._n_blocks:,} blocks, more than"
                f" {_MOST_BLOCKS:,}"
            )
        self.schema, self._moves = _vocabulary(dimensions)

    def reset(self, seed: int) -> State:
        rng = self.generator(seed)
        path = _grown(self.options["dimensions"], self.options["size"], self._n_blocks, rng)
        player = path[rng.integers(len(path))]
        blocks = [("path", {"pos": pos}) for pos in sorted(path)]
        return self.populate([*blocks, ("player", {"pos": player})])

    def dynamics(self, state: State, action: str) -> Distribution:
        player = self.the(state, "player")
        target = tuple(map(add, _point(player.pos), self._moves[action]))
        if not state.find("path", pos=target):
            return self.surely(state)
        return self.surely(state, {player.id: {"pos": target}})

    def place(self, each: Object) -> Cell | None:
        """The first two axes are columns and rows. The others, in turns, set such pictures
        side by side and one below the other, with a gap of one cell; an axis that would be
        left alone does so in lines, as one writes."""
        return self._cell(_point(each.pos))

    def frame(self) -> Window | None:
        last = self.options["size"] - 1
        ends = [last] * self.options["dimensions"]
        if _is_alone(len(ends) - 1, len(ends)):
            ends[-1] = min(self._in_a_line, last + 1) - 1
        width = self._cell(tuple(ends))[0] + 1
        return Window(0, 0, width, self._cell((last,) * len(ends))[1] + 1)

    def _cell(self, point: Point) -> Cell:
        size, cell = self.options["size"], [0, 0]
        for i, coordinate in enumerate(point):
            stride = (size + 1) * size ** (i // 2 - 1) if i > 1 else 1
            if _is_alone(i, len(point)):
                down, across = divmod(coordinate, self._in_a_line)
                cell = [cell[0] + across * stride, cell[1] + down * stride]
            else:
                cell[i % 2] += coordinate * stride
        return cell[0], cell[1]

    @property
    def _in_a_line(self) -> int:
        """Return the number of pictures side by side along an unpaired axis."""
        return isqrt(self.options["size"] - 1) + 1

    def bounds(self) -> Bounds:
        most, dimensions = self.options["size"] - 1, self.options["dimensions"]
        return {"pos": ((0,) * dimensions, (most,) * dimensions) if dimensions > 1 else (0, most)}

    def scenes(self) -> Sequence[Scene]:
        """Return scenes in two dimensions, and the same with other axes in place of the first."""
        dimensions = self.options["dimensions"]
        drawn = read_scenes("paths", _vocabulary(2)[0], self.looks)
        scenes = [self._lifted(each, 0, 1) for each in drawn if dimensions > 1 or _is_flat(each)]
        sideways = [each for each in drawn if each.action in _AXIS_NAMES[0]]
        for axis in range(2, dimensions):
            scenes += [self._lifted(each, axis, 0) for each in sideways]
        return scenes

    def _lifted(self, scene: Scene, columns: int, rows: int) -> Scene:
        """Return a scene with its columns along one axis and its rows along another."""

        def lifted(state: State) -> State:
            things = []
            for each in state:
                point = dict(zip((columns, rows), each.pos, strict=True))
                pos = tuple(point.get(i, 0) for i in range(self.options["dimensions"]))
                things.append((each.class_name, {"pos": pos}))
            return populate(self.schema, things)

        says, action = scene.says, scene.action
        if columns > 1:
            says = f"with axis {columns} for left and right, {says}"
            action = _names(columns)[action == "right"]
        truth = [(lifted(after), chance) for after, chance in scene.truth]
        return Scene(says, lifted(scene.before), action, truth)


def _is_alone(axis: int, dimensions: int) -> bool:
    """Return whether an axis beyond the second is unpaired: the last one, if it is even."""
    return axis > 1 and axis % 2 == 0 and axis == dimensions - 1


def _is_flat(scene: Scene) -> bool:
    """Return whether a scene has a single row, so that one dimension is enough."""
    return scene.action in _AXIS_NAMES[0] and len({each.pos[1] for each in scene.before}) == 1


def _names(axis: int) -> tuple[str, str]:
    """Return the actions along an axis: back and forth."""
    return _AXIS_NAMES[axis] if axis < 2 else (f"minus-{axis}", f"plus-{axis}")


@lru_cache(maxsize=8)
def _vocabulary(dimensions: int) -> tuple[Schema, dict[str, Point]]:
    """Return the schema, and the offset of each action. Do not modify the result."""
    moves = {
        name: tuple(by if i == axis else 0 for i in range(dimensions))
        for axis in range(dimensions)
        for name, by in zip(_names(axis), (-1, 1), strict=True)
    }
    classes = {"path": ["pos"], "player": ["pos"]}
    return Schema(classes, {"pos": dimensions}, list(moves)), moves


def _point(pos: int | Point) -> Point:
    """Return a position as a tuple; positions of length 1 are plain numbers."""
    return (pos,) if isinstance(pos, int) else pos


def _grown(dimensions: int, size: int, count: int, rng: np.random.Generator) -> list[Point]:
    """Return n connected cells of a cube, grown from one of them at random.

    As long as some cell is missing, one of the cells around is, so this always ends.
    """
    around: list[Point] = [tuple(rng.integers(size, size=dimensions).tolist())]
    met = set(around)
    path = []
    for chance in rng.random(count).tolist():
        chosen = int(chance * len(around))
        around[chosen], around[-1] = around[-1], around[chosen]
        path.append(around.pop())
        for neighbour in _neighbours(path[-1], size):
            if neighbour not in met:
                met.add(neighbour)
                around.append(neighbour)
    return path


def _neighbours(point: Point, size: int) -> Iterator[Point]:
    for axis, coordinate in enumerate(point):
        for beside in (coordinate - 1, coordinate + 1):
            if 0 <= beside < size:
                yield (*point[:axis], beside, *point[axis + 1 :])
