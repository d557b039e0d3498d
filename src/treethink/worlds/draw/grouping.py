"""Grouping of items that are drawn alike, and colours, shared by pixels and SVG.

    items, window -> [ grouping ] -> pixels, SVG

Where several objects share a cell, tiles keep their size and the others get a corner each, so that
nothing hides anything. What lies outside of the window is told by an arrow at its edge.
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


def grouped(drawn: Sequence[Item], shown: Window) -> dict[Style, list[Cell]]:
    """Return the cells of everything that is drawn in the same way, in drawing order."""
    loose: defaultdict[Cell, list[int]] = defaultdict(list)  # ids of what is no tile
    visible = [item for item in drawn if item.cell in shown]
    for item in visible:
        if item.look.shape not in TILES and item.id not in loose[item.cell]:
            loose[item.cell].append(item.id)
    groups: defaultdict[Style, list[Cell]] = defaultdict(list)
    for item in visible:
        part = WHOLE
        if item.look.shape not in TILES:
            sharing = loose[item.cell]
            part = slot(sharing.index(item.id), len(sharing))
        # Unlikely things remain visible.
        chance = item.chance if item.chance == 1.0 else 0.2 + 0.8 * item.chance
        style = (item.order, item.look.shape, item.look.colour, part, chance)
        groups[style].append(relative(item.cell, shown))
    return groups


def relative(cell: Cell, shown: Window) -> Cell:
    """Return a cell relative to the window's upper left corner."""
    return cell[0] - shown.left, cell[1] - shown.top


def arrows(drawn: Sequence[Item], shown: Window) -> dict[int, list[Cell]]:
    """Return the edge cells with something beyond them, by quarter turns from the right."""
    found: defaultdict[int, set[Cell]] = defaultdict(set)
    for item in drawn:
        if item.cell not in shown:
            x, y = relative(shown.nearest(item.cell), shown)
            across = -1 if x < 0 else 1 if x == shown.width else 0
            turn = {1: 0, -1: 2}.get(across, 1 if y < 0 else 3)
            found[turn].add((min(max(x, 0), shown.width - 1), min(max(y, 0), shown.height - 1)))
    return {turn: sorted(cells) for turn, cells in found.items()}
