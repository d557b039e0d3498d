"""A state as SVG: the same shapes as in pixels, as paths that stay sharp at any size.

    state -> layout -> [ svg ] -> text of an SVG

A shape is a function that returns which points are inside, so its outline is traced on a fine
grid, along the edges between points inside and points outside. The path connects the middles of
these edges, which turns steps into slopes. No element has an id, so that a page can contain many
pictures.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np

from treethink.errors import UnknownNameError
from treethink.state import State
from treethink.text import escaped
from treethink.worlds.draw.layout import (
    GRID_COLOUR,
    INK_COLOUR,
    INK_WRONG,
    PAPER_COLOUR,
    Cell,
    Drawable,
    Window,
    arrows,
    caption,
    extent,
    group_by_style,
    items,
)
from treethink.worlds.draw.pixels import CELL
from treethink.worlds.draw.shapes import SHAPES, WHOLE, Mask, Slot
from treethink.worlds.draw.text import EDGE_COLOUR, FLOOR_COLOUR, mix
from treethink.worlds.looks import Colour

Loop = list[tuple[float, float]]
"""Points of a closed line, in cell coordinates from 0 to 1."""

SAMPLES = 32  # points per side of a cell
_EDGE = 1 / 12  # the width of the dark edge of a shape, as a share of a cell
_LETTER = 0.62  # the width of a letter, as a share of its height; monospaced fonts differ a little
_TEXT, _LINE = 12, 18  # pixels: the height of letters and of lines
_GAP = 8  # pixels: between pictures
_SIZE = re.compile(r'width="(\d+)" height="(\d+)"')
_MIN_WIDTH = 8  # cells: the width of a caption without a picture


def svg(world: Drawable, state: State, cell: int = CELL, window: Window | None = None) -> str:
    """Return the state as an SVG; a cell has `cell` pixels on each side, the caption is below."""
    drawn_items = items(world, state)
    if window is None:
        window = extent(drawn_items)
    lines = caption(world, state)
    width = max(window.width or _MIN_WIDTH, 1) * cell
    width = max(width, *(round(_TEXT * (_LETTER * len(each.text) + 1)) for each in lines), 0)
    height = window.height * cell
    parts = [_board(window, cell)]
    for (_, name, colour, part, chance), cells in group_by_style(drawn_items, window).items():
        parts.append(_path(name, cells, cell, colour, part, chance))
    for turn, cells in arrows(drawn_items, window).items():
        parts.append(_path("arrow", cells, cell, EDGE_COLOUR, turn=turn))
    for i, each in enumerate(lines):
        ink = _hex(INK_WRONG if each.wrong else INK_COLOUR)
        parts.append(_text(each.text, height + (i + 0.72) * _LINE, ink))
    return _document(parts, width, height + len(lines) * _LINE)


def beside(pictures: Sequence[tuple[str, str]]) -> str:
    """Return pictures that `svg` made as one, side by side below their captions."""
    parts, left, height = [], _GAP, 0
    for caption_text, picture in pictures:
        size = _SIZE.search(picture)
        assert size is not None
        wide, high = int(size[1]), int(size[2])
        wide = max(wide, round(_TEXT * _LETTER * (len(caption_text) + 2)))
        parts.append(_text(caption_text, 0.72 * _LINE, _hex(INK_COLOUR), left))
        parts.append(picture.replace("<svg ", f'<svg x="{left}" y="{_LINE}" ', 1))
        left, height = left + wide + _GAP, max(height, high)
    return _document(parts, left, height + _LINE + _GAP)


def _document(parts: Iterable[str], width: int, height: int) -> str:
    """Return the document with its own background, for light and dark pages."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}"><rect width="{width}" height="{height}" '
        f'fill="{_hex(PAPER_COLOUR)}"/>{"".join(parts)}</svg>'
    )


def _board(window: Window, cell: int) -> str:
    """Return the floor and the lines between its cells."""
    width, height = window.width * cell, window.height * cell
    if not width or not height:
        return ""
    rows = (f"M0 {y * cell}.5h{width}" for y in range(window.height))
    columns = (f"M{x * cell}.5 0v{height}" for x in range(window.width))
    floor = f'<rect width="{width}" height="{height}" fill="{_hex(FLOOR_COLOUR)}"/>'
    return f'{floor}<path d="{"".join([*rows, *columns])}" stroke="{_hex(GRID_COLOUR)}"/>'


def _path(
    name: str,
    cells: Sequence[Cell],
    cell: int,
    colour: Colour,
    part: Slot = WHOLE,
    chance: float = 1.0,
    turn: int = 0,
) -> str:
    """Return one path for all shapes of a style. All shapes but blocks have a dark edge."""
    loops = [_transform(loop, part, turn) for loop in outline(name)]
    lines = "".join(_path_data(loop, x * cell, y * cell, cell) for x, y in cells for loop in loops)
    edge = ""
    if name != "block":
        dark = _hex(mix(colour, 0.35, (0, 0, 0)))
        edge = f' stroke="{dark}" stroke-width="{_EDGE * cell:g}" paint-order="stroke"'
    opacity = f' opacity="{chance:.3g}"' if chance < 1 else ""
    return f'<path d="{lines}" fill="{_hex(colour)}" fill-rule="evenodd"{edge}{opacity}/>'


def _transform(loop: Loop, part: Slot, turn: int) -> Loop:
    """Transform a loop to its part of the cell, rotated to the left by quarter turns."""
    scale, left, top = part
    for _ in range(turn):
        loop = [(v, 1 - u) for u, v in loop]
    return [(left + scale * u, top + scale * v) for u, v in loop]


def _path_data(loop: Loop, x: int, y: int, cell: int) -> str:
    """Return the loop as SVG path data; all points but the first are relative."""
    points = [(round(u * cell * 100), round(v * cell * 100)) for u, v in loop]
    steps = (f"{(b[0] - a[0]) / 100:g} {(b[1] - a[1]) / 100:g}" for a, b in pairwise(points))
    return f"M{x + points[0][0] / 100:g} {y + points[0][1] / 100:g}l{' '.join(steps)}z"


def _text(text: str, y: float, ink: str, x: float = _TEXT / 2) -> str:
    font = f'font-family="monospace" font-size="{_TEXT}" xml:space="preserve"'
    return f'<text x="{x:g}" y="{y:g}" {font} fill="{ink}">{escaped(text)}</text>'


def _hex(colour: Colour) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)


# ------------------------------------------------------------------------ outlines


@lru_cache(maxsize=256)
def outline(name: str) -> list[Loop]:
    """Return the outlines of a shape, with holes. Do not modify the result."""
    shape = SHAPES.get(name)
    if shape is None:
        raise UnknownNameError("shape", name, SHAPES, "treethink.worlds.draw.SHAPES")
    points = (np.arange(SAMPLES) + 0.5) / SAMPLES
    u, v = np.meshgrid(points, points)
    return [_simplify(loop) for loop in _trace(np.pad(shape(u, v), 1))]


def _trace(inside: Mask) -> list[Loop]:
    """Return closed lines through the middles of all edges between inside and outside."""
    edges: defaultdict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    # For each neighbour: the start and end of the edge towards it, with the inside on its right.
    sides = {
        (-1, 0): (0, 0, 1, 0),
        (0, 1): (1, 0, 1, 1),
        (1, 0): (1, 1, 0, 1),
        (0, -1): (0, 1, 0, 0),
    }
    for (down, across), (x0, y0, x1, y1) in sides.items():
        neighbours = np.roll(inside, (-down, -across), (0, 1))
        for y, x in np.argwhere(inside & ~neighbours).tolist():
            edges[x + x0, y + y0].append((x + x1, y + y1))
    loops = []
    while edges:
        corners = [next(iter(edges))]
        while corners[-1] in edges:
            ends = edges[corners[-1]]
            here, there = corners[-1], ends.pop()
            if not ends:
                del edges[here]
            corners.append(there)
        loops.append([_middle(a, b) for a, b in pairwise(corners)])
    return loops


def _middle(a: tuple[int, int], b: tuple[int, int]) -> tuple[float, float]:
    """Return the middle of an edge in cell coordinates; the mask has a margin of one point."""
    return ((a[0] + b[0]) / 2 - 1) / SAMPLES, ((a[1] + b[1]) / 2 - 1) / SAMPLES


def _simplify(loop: Loop) -> Loop:
    """Remove points on a straight line between their neighbours."""
    corners = []
    for before, here, after in zip(loop[-1:] + loop[:-1], loop, loop[1:] + loop[:1], strict=True):
        first = here[0] - before[0], here[1] - before[1]
        second = after[0] - here[0], after[1] - here[1]
        if first != second:
            corners.append(here)
    return corners
