"""The world `sokoban`: solvable levels for the rules of `push`, made at random or from a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from treethink.errors import SceneError, shown
from treethink.state import State
from treethink.worlds.base import Bounds, Cell, World, without_score
from treethink.worlds.draw import Window
from treethink.worlds.grid import MOVES, GridWorld, at, moved
from treethink.worlds.push import Push
from treethink.worlds.scene import Thing

#: The start of the name of a world with the levels of a file, as in `sokoban:levels.xsb`.
PREFIX = "sokoban:"
_PULLS_PER_BOX = 60


class Sokoban(Push):
    """`push` in levels that can be solved, as in Sokoban.

    Each box starts on a goal, and the player then walks at random and pulls boxes along, so the way
    back solves the level. There are as many goals as boxes, or fewer. The episode ends when a box
    is on every goal. `sokoban:FILE.xsb` has the levels of a file, in the usual signs: # wall,
    @ player, $ box, . goal, * box on a goal, + player on a goal.
    """

    name = "sokoban"
    defaults = {
        **GridWorld.defaults,
        "wall_percent": 15,
        "boxes": 6,
        "goals": 6,
        "scored": 1,
    }

    distinct = False  # boxes may be on goals

    def __init__(self, **options: int):
        super().__init__(**options)
        self.within("goals", 0, self.options["boxes"])

    def reset(self, seed: int) -> State:
        level = self.level(seed)
        boxes = level.take(self.options["boxes"])
        goals = boxes[: self.options["goals"]]
        (player,) = level.take(1)
        player, boxes = _pulled(player, boxes, set(level.walls), level.rng)
        return self.populate(
            [
                *at("wall", level.walls),
                *at("goal", goals),
                *at("box", boxes),
                *at("player", [player]),
            ]
        )

    def is_over(self, state: State) -> bool:
        """Return whether a box is on every goal."""
        goals = state.of_class("goal")
        return bool(goals) and all(state.find("box", pos=each.pos) for each in goals)


class SokobanFile(Sokoban):
    """`sokoban` with the levels of a file: the seed chooses one of them."""

    name = "sokoban-file"
    defaults = {"scored": 1}

    def __init__(self, path: str, scored: int = 1):
        """Read the levels; `scored` is the option of `sokoban`."""
        self._levels = read_xsb(_read(path), path)
        self._size = (
            max(len(row) for rows in self._levels for row in rows),
            max(map(len, self._levels)),
        )
        World.__init__(self, scored=scored)  # the other options are for levels made at random
        if not self.within("scored", 0, 1):
            self.schema = without_score(self.schema)
        self.options = {}
        self.name = f"{PREFIX}{path}"

    def reset(self, seed: int) -> State:
        rows = self._levels[self._whole_number("seed", seed) % len(self._levels)]
        return self.populate(_things(rows))

    def most_objects(self) -> dict[str, int]:
        """Return the largest number of objects of each class in any of the levels."""
        counts = [
            Counter(each.class_name for each in self.reset(seed))
            for seed in range(len(self._levels))
        ]
        return {name: max(each[name] for each in counts) for name in self.schema.classes}

    def bounds(self) -> Bounds:
        width, height = self._size
        return {"pos": ((0, 0), (width - 1, height - 1))}

    def frame(self) -> Window | None:
        return Window(0, 0, *self._size)

    def interior(self) -> set[Cell]:
        """Return all cells of the largest level."""
        width, height = self._size
        return {(x, y) for x in range(width) for y in range(height)}

    def free_cells(self, state: State) -> set[Cell]:
        """Return the cells that the player could reach if there were no boxes."""
        walls = {wall.pos for wall in state.of_class("wall")}
        reached, border = set[Cell](), [self.the(state, "player").pos]
        while border:
            cell = border.pop()
            if cell not in reached and cell not in walls:
                reached.add(cell)
                border += [moved(cell, by) for by in MOVES.values()]
        return reached


def _pulled(
    player: Cell, boxes: Sequence[Cell], walls: set[Cell], rng: np.random.Generator
) -> tuple[Cell, list[Cell]]:
    """Return where the player and the boxes are after a random walk that pulls boxes along."""
    places = list(boxes)
    ways = list(MOVES.values())
    for _ in range(_PULLS_PER_BOX * len(places)):
        by = ways[int(rng.integers(len(ways)))]
        target, behind = moved(player, by), moved(player, (-by[0], -by[1]))
        if target in walls or target in places:
            continue
        if behind in places and rng.random() < 0.8:
            places[places.index(behind)] = player
        player = target
    return player, places


# --------------------------------------------------------------------------------- files

#: The classes of what is on a cell, by its sign in a file.
_SIGNS: Mapping[str, tuple[str, ...]] = {
    "#": ("wall",),
    "@": ("player",),
    "+": ("player", "goal"),
    "$": ("box",),
    "*": ("box", "goal"),
    ".": ("goal",),
    " ": (),
    "-": (),
    "_": (),
}


def read_xsb(text: str, where: str = "the text") -> list[list[str]]:
    """Return the levels of a text in the format XSB, each as its rows.

    Rows of a level have walls; all other lines, such as titles, separate levels.

    >>> len(read_xsb("; one\\n#####\\n#@$.#\\n#####\\n\\n; two\\n####\\n#+ #\\n#$ #\\n####"))
    2
    """
    levels: list[list[str]] = [[]]
    for line in text.splitlines():
        row = line.rstrip()
        if "#" in row and set(row) <= _SIGNS.keys():
            levels[-1].append(row)
        elif levels[-1]:
            levels.append([])
    levels = [each for each in levels if each]
    if not levels:
        raise SceneError(f"{where} has no level: rows of the signs {' '.join(_SIGNS).strip()}")
    for number, rows in enumerate(levels, 1):
        _check_level(rows, f"{where}, level {number}")
    return levels


def _check_level(rows: list[str], where: str) -> None:
    """Raise an error if a level has not exactly one player, or if the player can leave it."""
    things = list(_things(rows))
    players = [values["pos"] for name, values in things if name == "player"]
    if len(players) != 1:
        raise SceneError(f"{where} must have one player (@ or +), it has {len(players)}")
    walls = {values["pos"] for name, values in things if name == "wall"}
    reached, border = set(walls), list(players)
    while border:
        x, y = cell = border.pop()
        if not 0 <= y < len(rows) or not 0 <= x < len(rows[y]):
            raise SceneError(f"{where}: the player can leave it at column {x}, row {y}")
        if cell not in reached:
            reached.add(cell)
            border += [moved(cell, by) for by in MOVES.values()]


def _things(rows: Iterable[str]) -> list[Thing]:
    """Return the things of a level, class by class as in `push`."""
    by_class: dict[str, list[Cell]] = {"wall": [], "goal": [], "box": [], "player": []}
    for y, row in enumerate(rows):
        for x, sign in enumerate(row):
            for name in _SIGNS[sign]:
                by_class[name].append((x, y))
    return [thing for name, cells in by_class.items() for thing in at(name, cells)]


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise SceneError(f"cannot read the levels {shown(path)}: {reason}") from None
