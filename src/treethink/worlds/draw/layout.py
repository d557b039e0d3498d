"""The layout of a picture: which object is drawn in which cell.

    state -> [ layout ] -> items in cells, a window, a caption

Positions can be any integers, but terminals and images have a limited size. A picture therefore
shows a window of cells, and marks objects outside of it at its edge.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from treethink.outcome_text import value_text
from treethink.state import Object, Schema, State
from treethink.text import percent
from treethink.worlds.draw.shapes import TILES, WHOLE, Slot, slot
from treethink.worlds.looks import Colour, Look, look_of, with_default_looks

Cell = tuple[int, int]

#: The maximum number of columns, and of rows, of a picture.
MAX_CELLS = 128
#: The maximum number of lines of a caption: in an image or a small terminal, and as text.
FEW_LINES, MAX_LINES = 4, 20
_MAX_OUTSIDE = 3


class Drawable(Protocol):
    """The part of a world that drawing uses."""

    @property
    def schema(self) -> Schema:
        """The classes and their attributes."""

    @property
    def looks(self) -> Sequence[Look]:
        """The looks of objects; later ones are on top."""

    def place(self, each: Object, /) -> Cell | None:
        """Return the column and row of an object; None if it is listed in the caption instead."""

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
        """Return the cell if the window shows it, otherwise the nearest one just outside."""
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
    looks = with_default_looks(world.looks, world.schema.classes)
    order = {id(look): i for i, look in enumerate(looks)}
    result = []
    for each in objects:
        cell = world.place(each)
        if cell is not None:
            look = look_of(looks, each)
            result.append(Item(order.get(id(look), len(order)), each.id, cell, look, chance))
    return sorted(result, key=lambda item: (item.order, item.id))


def extent(
    drawn_items: Iterable[Item], max_cells: int = MAX_CELLS, frame: Window | None = None
) -> Window:
    """Return a window on all items, or on as many as possible if they are too far apart.

    The window includes the frame, if there is one, so that it rarely changes between states.
    """
    cells = {item.cell for item in drawn_items}
    if frame is not None and frame.width and frame.height:
        right, bottom = frame.left + frame.width - 1, frame.top + frame.height - 1
        cells |= {(frame.left, frame.top), (right, bottom)}
    if not cells:
        return Window(0, 0, 0, 0)
    left, right = _span(sorted({x for x, _ in cells}), max_cells)
    top, bottom = _span(sorted({y for _, y in cells}), max_cells)
    return Window(left, top, right - left + 1, bottom - top + 1)


def _span(positions: list[int], max_cells: int) -> tuple[int, int]:
    """Return the first and the last position to show; the first is 0 if that fits."""
    if positions[-1] - positions[0] >= max_cells:
        ends = [bisect_left(positions, position + max_cells) for position in positions]
        first = max(range(len(positions)), key=lambda i: (ends[i] - i, -i))
        positions = positions[first : ends[first]]
    starts_at_0 = positions[0] >= 0 and positions[-1] < max_cells
    return (0 if starts_at_0 else positions[0]), positions[-1]


# ------------------------------------------------------------------------ captions


@dataclass(frozen=True, slots=True)
class CaptionLine:
    """A line of a caption, and whether it is about a wrong prediction."""

    text: str
    wrong: bool = False


#: The former name of `CaptionLine`.
Told = CaptionLine


def caption(
    world: Drawable,
    state: State,
    wrong: Collection[int] = (),
    chances: dict[int, float] | None = None,
    max_lines: int = FEW_LINES,
) -> list[CaptionLine]:
    """Return a line for each object without a place, at most `max_lines`; the last counts the rest.

    `wrong` contains the ids of wrongly predicted objects, `chances` the probabilities of
    uncertain ones.
    """
    lines = []
    for each in state:
        if world.place(each) is None:
            chance = (chances or {}).get(each.id, 1.0)
            text = in_words(world.schema, state, each)
            lines.append(
                CaptionLine(
                    text if chance == 1.0 else f"{text} ({percent(chance)})", each.id in wrong
                )
            )
    if len(lines) <= max_lines:
        return lines
    rest = lines[max_lines - 1 :]
    return [
        *lines[: max_lines - 1],
        CaptionLine(f"and {len(rest)} more", any(each.wrong for each in rest)),
    ]


def outside(
    world: Drawable, state: State, drawn_items: Iterable[Item], window: Window
) -> list[CaptionLine]:
    """Return a line for each item outside of the window; no lines if there are many."""
    ids = [item.id for item in drawn_items if item.cell not in window]
    if len(ids) > _MAX_OUTSIDE:
        return []
    return [CaptionLine(f"outside: {in_words(world.schema, state, state[each])}") for each in ids]


def in_words(schema: Schema, state: State, each: Object) -> str:
    """Return an object as text, without its class if the attributes identify it: `score 7`."""
    values = ", ".join(f"{name} {value_text(value)}" for name, value in each.values.items())
    owners = [own for own in schema.classes.values() if set(own) & set(each.values)]
    alone = len(state.of_class(each.class_name)) == 1
    if alone and len(owners) == 1:
        return values
    return f"{each.class_name}{'' if alone else f' {each.id}'} {values}".rstrip()


# ---------------------------------------------------------------------------------- drawing styles
#
# Drawing styles of items, and colours, shared by pixels and SVG.
#
# items, window -> [ styles ] -> pixels, SVG
#
# Where several objects share a cell, tiles keep their size and each of the others is drawn in a
# corner, so that no object hides another. An arrow at the edge of the window marks objects outside.

GRID_COLOUR: Colour = (39, 42, 50)
PAPER_COLOUR: Colour = (18, 19, 23)
INK_COLOUR: Colour = (222, 224, 230)
INK_WRONG: Colour = (255, 112, 104)

Style = tuple[int, str, Colour, Slot, float]


def group_by_style(drawn_items: Sequence[Item], window: Window) -> dict[Style, list[Cell]]:
    """Return the cells of the visible items by style, in drawing order."""
    ids_by_cell: defaultdict[Cell, list[int]] = defaultdict(list)  # objects that are not tiles
    visible = [item for item in drawn_items if item.cell in window]
    for item in visible:
        if item.look.shape not in TILES and item.id not in ids_by_cell[item.cell]:
            ids_by_cell[item.cell].append(item.id)
    groups: defaultdict[Style, list[Cell]] = defaultdict(list)
    for item in visible:
        part = WHOLE
        if item.look.shape not in TILES:
            ids = ids_by_cell[item.cell]
            part = slot(ids.index(item.id), len(ids))
        # Unlikely items remain visible.
        chance = item.chance if item.chance == 1.0 else 0.2 + 0.8 * item.chance
        style = (item.order, item.look.shape, item.look.colour, part, chance)
        groups[style].append(relative(item.cell, window))
    return groups


def relative(cell: Cell, window: Window) -> Cell:
    """Return a cell relative to the window's upper left corner."""
    return cell[0] - window.left, cell[1] - window.top


def arrows(drawn_items: Sequence[Item], window: Window) -> dict[int, list[Cell]]:
    """Return the edge cells that need an arrow outwards, by quarter turns from the right."""
    cells_by_turn: defaultdict[int, set[Cell]] = defaultdict(set)
    for item in drawn_items:
        if item.cell not in window:
            x, y = relative(window.nearest(item.cell), window)
            across = -1 if x < 0 else 1 if x == window.width else 0
            turn = {1: 0, -1: 2}.get(across, 1 if y < 0 else 3)
            cells_by_turn[turn].add(
                (min(max(x, 0), window.width - 1), min(max(y, 0), window.height - 1))
            )
    return {turn: sorted(cells) for turn, cells in cells_by_turn.items()}
