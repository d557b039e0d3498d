"""The layout of a picture: which object is drawn in which cell.

    state -> [ layout ] -> items in cells, a window, a caption

Positions may be any integers; a terminal and an image have an end. So a picture shows a
window, and what lies outside of it is marked at its edge.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from treethink.state import Object, Schema, State
from treethink.text import percent
from treethink.worlds.looks import Look, completed, look_of

Cell = tuple[int, int]

#: The most columns, and rows, of a picture.
MOST_CELLS = 128
#: The most lines of a caption: in a picture, or where space is scarce, and as text.
FEW_LINES, MOST_LINES = 4, 20
_MOST_OUTSIDE = 3


class Drawable(Protocol):
    """What drawing needs of a world."""

    @property
    def schema(self) -> Schema:
        """Its classes and their attributes."""

    @property
    def looks(self) -> Sequence[Look]:
        """The looks of objects; later ones are on top."""

    def place(self, each: Object, /) -> Cell | None:
        """Return the column and row of an object; None: it is listed in the caption."""

    def frame(self) -> Window | None:
        """Return the cells that objects can be in; None if unknown."""


@dataclass(frozen=True, slots=True)
class Item:
    """An object in a cell. `order` is the drawing order, `chance` its probability."""

    order: int
    id: int
    cell: Cell
    look: Look
    chance: float = 1.0


@dataclass(frozen=True, slots=True)
class Window:
    """The cells that a picture shows.

    >>> window = Window(0, 0, 8, 8)
    >>> (7, 7) in window, (8, 0) in window, window.nearest((100, 3))
    (True, False, (8, 3))
    """

    left: int
    top: int
    width: int
    height: int

    def __contains__(self, cell: Cell) -> bool:
        return 0 <= cell[0] - self.left < self.width and 0 <= cell[1] - self.top < self.height

    def nearest(self, cell: Cell) -> Cell:
        """Return the cell if it is shown, and else the nearest one just outside."""
        return (
            min(max(cell[0], self.left - 1), self.left + self.width),
            min(max(cell[1], self.top - 1), self.top + self.height),
        )

    def part(self, middle: Cell, width: int, height: int) -> Window:
        """Return a part of this window, at most that large, centred on the cell if possible."""
        width, height = min(width, self.width), min(height, self.height)
        left = min(max(middle[0] - width // 2, self.left), self.left + self.width - width)
        top = min(max(middle[1] - height // 2, self.top), self.top + self.height - height)
        return Window(left, top, width, height)


def items(world: Drawable, objects: Iterable[Object], chance: float = 1.0) -> list[Item]:
    """Return the objects that have a place, in drawing order."""
    looks = completed(world.looks, world.schema.classes)
    order = {id(look): i for i, look in enumerate(looks)}
    found = []
    for each in objects:
        cell = world.place(each)
        if cell is not None:
            look = look_of(looks, each)
            found.append(Item(order.get(id(look), len(order)), each.id, cell, look, chance))
    return sorted(found, key=lambda item: (item.order, item.id))


def extent(drawn: Iterable[Item], most: int = MOST_CELLS, frame: Window | None = None) -> Window:
    """Return a window on all items, or on as many as possible if they are too far apart.

    With a frame, the window is not smaller than that, so that it seldom changes.
    """
    cells = {item.cell for item in drawn}
    if frame is not None and frame.width and frame.height:
        right, bottom = frame.left + frame.width - 1, frame.top + frame.height - 1
        cells |= {(frame.left, frame.top), (right, bottom)}
    if not cells:
        return Window(0, 0, 0, 0)
    left, right = _span(sorted({x for x, _ in cells}), most)
    top, bottom = _span(sorted({y for _, y in cells}), most)
    return Window(left, top, right - left + 1, bottom - top + 1)


def _span(places: list[int], most: int) -> tuple[int, int]:
    """Return the first and the last position to show; from 0 on if that is near."""
    if places[-1] - places[0] >= most:
        ends = [bisect_left(places, place + most) for place in places]
        first = max(range(len(places)), key=lambda i: (ends[i] - i, -i))
        places = places[first : ends[first]]
    return (0 if places[0] >= 0 and places[-1] < most else places[0]), places[-1]


# ------------------------------------------------------------------------ captions


@dataclass(frozen=True, slots=True)
class Told:
    """A line of a caption, and whether it is about a wrong prediction."""

    text: str
    wrong: bool = False


def caption(
    world: Drawable,
    state: State,
    wrong: Collection[int] = (),
    chances: dict[int, float] | None = None,
    most: int = FEW_LINES,
) -> list[Told]:
    """Return a line for each object without a place; the last of `most` lines counts the rest.

    `wrong` has the ids of objects predicted wrongly, `chances` how likely uncertain ones are.
    """
    told = []
    for each in state:
        if world.place(each) is None:
            likely = (chances or {}).get(each.id, 1.0)
            text = in_words(world.schema, state, each)
            told.append(
                Told(text if likely == 1.0 else f"{text} ({percent(likely)})", each.id in wrong)
            )
    if len(told) <= most:
        return told
    rest = told[most - 1 :]
    return [
        *told[: most - 1],
        Told(f"and {len(rest)} more", any(each.wrong for each in rest)),
    ]


def outside(world: Drawable, state: State, drawn: Iterable[Item], shown: Window) -> list[Told]:
    """Return a line for each item that the window does not show, if they are few."""
    away = [item.id for item in drawn if item.cell not in shown]
    if len(away) > _MOST_OUTSIDE:
        return []
    return [Told(f"outside: {in_words(world.schema, state, state[each])}") for each in away]


def in_words(schema: Schema, state: State, each: Object) -> str:
    """Return an object as text, without its class if attributes are enough: `score 7`."""
    values = ", ".join(f"{name} {value}" for name, value in each.values.items())
    owners = [own for own in schema.classes.values() if set(own) & set(each.values)]
    alone = len(state.of_class(each.class_name)) == 1
    if alone and len(owners) == 1:
        return values
    return f"{each.class_name}{'' if alone else f' {each.id}'} {values}".rstrip()
