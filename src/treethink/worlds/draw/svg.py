"""A state as SVG: the same shapes as in pixels, as lines that stay sharp at any size.

    state -> layout -> [ svg ] -> text of an SVG

The shapes are functions that say which points belong to them, and nothing else is known of them.
So their outlines are traced on a fine grid: along the edges between points inside and points
outside, from the middle of one edge to the middle of the next, which makes steps slopes.
No part of a picture has an id, so that many of them can stand on one page.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np

from treethink.errors import UnknownNameError
from treethink.state import State
from treethink.text import escaped
from treethink.worlds.draw.grouping import (
    GRID_COLOUR,
    INK_COLOUR,
    INK_WRONG,
    PAPER_COLOUR,
    arrows,
    grouped,
)
from treethink.worlds.draw.layout import Cell, Drawable, Window, caption, extent, items
from treethink.worlds.draw.pixels import CELL
from treethink.worlds.draw.shapes import SHAPES, WHOLE, Mask, Slot
from treethink.worlds.draw.text import EDGE_COLOUR, FLOOR_COLOUR, mixed
from treethink.worlds.looks import Colour

Loop = list[tuple[float, float]]
"""Points of a closed line, in cell coordinates from 0 to 1."""

_FINE = 32  # points asked on each side of a cell
_EDGE = 1 / 12  # how wide the dark edge of a shape is, of a cell
_LETTER = 0.62  # how wide a letter is, of its height; fonts of one width differ a little
_TEXT, _LINE = 12, 18  # pixels: letters, and lines of them
_LEAST_WIDTH = 8  # cells, for a caption without a picture


def svg(world: Drawable, state: State, cell: int = CELL, window: Window | None = None) -> str:
    """The state as an SVG; a cell has `cell` pixels on each side, the caption is below."""
    drawn = items(world, state)
    shown = extent(drawn) if window is None else window
    told = caption(world, state)
    wide = max(shown.width or _LEAST_WIDTH, 1) * cell
    wide = max(wide, *(round(_TEXT * (_LETTER * len(each.text) + 1)) for each in told), 0)
    high = shown.height * cell
    parts = [_board(shown, cell)]
    for (_, name, colour, part, chance), cells in grouped(drawn, shown).items():
        parts.append(_stamped(name, cells, cell, colour, part, chance))
    for turn, cells in arrows(drawn, shown).items():
        parts.append(_stamped("arrow", cells, cell, EDGE_COLOUR, turn=turn))
    for i, each in enumerate(told):
        ink = _hex(INK_WRONG if each.wrong else INK_COLOUR)
        parts.append(_written(each.text, high + (i + 0.72) * _LINE, ink))
    return _framed(parts, wide, high + len(told) * _LINE)


def _framed(parts: Iterable[str], wide: int, high: int) -> str:
    """Return the document with its own background, for light and dark pages."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}" '
        f'viewBox="0 0 {wide} {high}"><rect width="{wide}" height="{high}" '
        f'fill="{_hex(PAPER_COLOUR)}"/>{"".join(parts)}</svg>'
    )


def _board(shown: Window, cell: int) -> str:
    """Return the floor, and the lines between its cells."""
    wide, high = shown.width * cell, shown.height * cell
    if not wide or not high:
        return ""
    rows = (f"M0 {y * cell}.5h{wide}" for y in range(shown.height))
    columns = (f"M{x * cell}.5 0v{high}" for x in range(shown.width))
    floor = f'<rect width="{wide}" height="{high}" fill="{_hex(FLOOR_COLOUR)}"/>'
    return f'{floor}<path d="{"".join([*rows, *columns])}" stroke="{_hex(GRID_COLOUR)}"/>'


def _stamped(
    name: str,
    cells: Sequence[Cell],
    cell: int,
    colour: Colour,
    part: Slot = WHOLE,
    chance: float = 1.0,
    turn: int = 0,
) -> str:
    """Return one path for everything that looks the same. All but a block has a dark edge."""
    loops = [_placed(loop, part, turn) for loop in outline(name)]
    lines = "".join(_line(loop, x * cell, y * cell, cell) for x, y in cells for loop in loops)
    edge = ""
    if name != "block":
        dark = _hex(mixed(colour, 0.35, (0, 0, 0)))
        edge = f' stroke="{dark}" stroke-width="{_EDGE * cell:g}" paint-order="stroke"'
    faint = f' opacity="{chance:.3g}"' if chance < 1 else ""
    return f'<path d="{lines}" fill="{_hex(colour)}" fill-rule="evenodd"{edge}{faint}/>'


def _placed(loop: Loop, part: Slot, turn: int) -> Loop:
    """Transform a loop to its part of the cell, rotated to the left by quarter turns."""
    scale, left, top = part
    for _ in range(turn):
        loop = [(v, 1 - u) for u, v in loop]
    return [(left + scale * u, top + scale * v) for u, v in loop]


def _line(loop: Loop, x: int, y: int, cell: int) -> str:
    """Return the loop as SVG path data; all points but the first are relative."""
    points = [(round(u * cell * 100), round(v * cell * 100)) for u, v in loop]
    steps = (f"{(b[0] - a[0]) / 100:g} {(b[1] - a[1]) / 100:g}" for a, b in pairwise(points))
    return f"M{x + points[0][0] / 100:g} {y + points[0][1] / 100:g}l{' '.join(steps)}z"


def _written(text: str, y: float, ink: str) -> str:
    font = f'font-family="monospace" font-size="{_TEXT}" xml:space="preserve"'
    return f'<text x="{_TEXT / 2:g}" y="{y:g}" {font} fill="{ink}">{escaped(text)}</text>'


def _hex(colour: Colour) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)


# ------------------------------------------------------------------------ outlines


@lru_cache(maxsize=256)
def outline(name: str) -> list[Loop]:
    """Return the outlines of a shape, with holes. Do not modify the result."""
    shape = SHAPES.get(name)
    if shape is None:
        raise UnknownNameError("shape", name, SHAPES, "treethink.worlds.draw.SHAPES")
    points = (np.arange(_FINE) + 0.5) / _FINE
    u, v = np.meshgrid(points, points)
    return [_straightened(loop) for loop in _traced(np.pad(shape(u, v), 1))]


def _traced(inside: Mask) -> list[Loop]:
    """Return closed lines through the middles of all edges between inside and outside."""
    ways: defaultdict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    # For each neighbour: where the edge towards it begins and ends, with the inside to its right.
    sides = {
        (-1, 0): (0, 0, 1, 0),
        (0, 1): (1, 0, 1, 1),
        (1, 0): (1, 1, 0, 1),
        (0, -1): (0, 1, 0, 0),
    }
    for (down, across), (x0, y0, x1, y1) in sides.items():
        beyond = np.roll(inside, (-down, -across), (0, 1))
        for y, x in np.argwhere(inside & ~beyond).tolist():
            ways[x + x0, y + y0].append((x + x1, y + y1))
    loops = []
    while ways:
        corners = [next(iter(ways))]
        while corners[-1] in ways:
            ends = ways[corners[-1]]
            here, there = corners[-1], ends.pop()
            if not ends:
                del ways[here]
            corners.append(there)
        loops.append([_middle(a, b) for a, b in pairwise(corners)])
    return loops


def _middle(a: tuple[int, int], b: tuple[int, int]) -> tuple[float, float]:
    """Return the middle of an edge in cell coordinates; the mask has a margin of one point."""
    return ((a[0] + b[0]) / 2 - 1) / _FINE, ((a[1] + b[1]) / 2 - 1) / _FINE


def _straightened(loop: Loop) -> Loop:
    """Remove points on a straight line between their neighbours."""
    kept = []
    for before, here, after in zip(loop[-1:] + loop[:-1], loop, loop[1:] + loop[:1], strict=True):
        first = here[0] - before[0], here[1] - before[1]
        second = after[0] - here[0], after[1] - here[1]
        if first != second:
            kept.append(here)
    return kept
