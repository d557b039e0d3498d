"""Drawing styles of items, and colours, shared by pixels and SVG.

    items, window -> [ styles ] -> pixels, SVG

Where several objects share a cell, tiles keep their size and each of the others is drawn in a
corner, so that no object hides another. An arrow at the edge of the window marks objects outside.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from treethink.worlds.draw.layout import Cell, Item, Window
from treethink.worlds.draw.shapes import TILES, WHOLE, Slot, slot
from treethink.worlds.looks import Colour

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
