"""A state as pixels: a shape for each object, and the caption below.

Shapes are drawn in the order of the looks; those of one style are drawn together
(`group_by_style`).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from treethink.errors import SettingError, shown
from treethink.state import State
from treethink.worlds.draw.layout import (
    GRID_COLOUR,
    INK_COLOUR,
    INK_WRONG,
    MAX_CELLS,
    PAPER_COLOUR,
    CaptionLine,
    Cell,
    Drawable,
    Item,
    Window,
    arrows,
    caption,
    extent,
    group_by_style,
    items,
    relative,
)
from treethink.worlds.draw.shapes import (
    ABOVE_LINE,
    LETTER_HEIGHT,
    LETTER_WIDTH,
    Numbers,
    stamp,
    text_mask,
)
from treethink.worlds.draw.text import EDGE_COLOUR, FLOOR_COLOUR, WRONG_COLOUR
from treethink.worlds.looks import Colour

Pixels = npt.NDArray[np.uint8]

CELL = 24
_MAX_CELL = 256
_MAX_PIXELS = 3072


def rgb_array(
    world: Drawable, state: State, cell: int = CELL, window: Window | None = None
) -> Pixels:
    """Return the state as an array (height, width, 3); a cell has `cell` pixels on each side.

    `window` selects the cells to show. By default it shows all of them, up to a maximum size.
    """
    limit = max_cells(cell)
    drawn_items = items(world, state)
    if window is None:
        window = extent(drawn_items, limit, world.frame())
    picture = board(drawn_items, window, cell)
    return to_uint8(stacked([picture, text_block(caption(world, state), picture.shape[1], cell)]))


def max_cells(cell: int) -> int:
    """Return the maximum number of columns, and of rows, of cells of this size."""
    if isinstance(cell, bool) or not isinstance(cell, int) or not 1 <= cell <= _MAX_CELL:
        raise SettingError(
            f"cell must be a whole number of pixels from 1 to {_MAX_CELL}, got {shown(cell)}"
        )
    return min(MAX_CELLS, _MAX_PIXELS // cell)


def board(
    drawn_items: Sequence[Item], window: Window, cell: int, wrong: Iterable[Cell] = ()
) -> Numbers:
    """Draw the cells of a window; `wrong` ones get a red outline."""
    tiles = np.empty((window.height, cell, window.width, cell, 3), dtype=np.float32)
    tiles[...] = FLOOR_COLOUR
    if cell >= 8:
        tiles[:, 0] = tiles[:, :, :, 0] = GRID_COLOUR
    for (_, name, colour, part, chance), cells in group_by_style(drawn_items, window).items():
        _draw_stamp(tiles, cells, stamp(name, cell, part), colour, chance)
    for turn, cells in arrows(drawn_items, window).items():
        coverage, brightness = (np.rot90(each, turn) for each in stamp("arrow", cell))
        _draw_stamp(tiles, cells, (coverage, brightness), EDGE_COLOUR, 1.0)
    if not window.width:
        return np.empty((0, 8 * cell, 3), dtype=np.float32)
    picture = tiles.reshape(window.height * cell, window.width * cell, 3)
    outline_cells(picture, window, cell, wrong, WRONG_COLOUR)
    return picture


def outline_cells(
    picture: Numbers, window: Window, cell: int, cells: Iterable[Cell], colour: Colour
) -> None:
    """Draw an outline around each cell that the window shows, into the picture of a `board`."""
    tiles = picture.reshape(window.height, cell, window.width, cell, 3)  # a view, not a copy
    for each in cells:
        if each in window:
            _draw_stamp(tiles, [relative(each, window)], stamp("outline", cell), colour, 1.0)


def _draw_stamp(
    tiles: Numbers,
    cells: Sequence[Cell],
    shape: tuple[Numbers, Numbers],
    colour: Colour,
    chance: float,
) -> None:
    """Draw a shape into all of its cells; `chance` is its opacity."""
    columns, rows = np.array(cells).T
    coverage, brightness = (each[:, :, None] * np.float32(chance) for each in shape)
    ink = brightness * np.array(colour, dtype=np.float32)
    tiles[rows, :, columns] = tiles[rows, :, columns] * (1 - coverage) + ink


# ------------------------------------------------------------------------- letters


def text_block(lines: Sequence[CaptionLine], width: int, cell: int) -> Numbers:
    """Draw lines of text, to be put below or above a board."""
    size = max(cell // 12, 1)
    height = (LETTER_HEIGHT + 1) * size
    paper = np.empty((height * len(lines), width, 3), dtype=np.float32)
    paper[...] = PAPER_COLOUR
    for i, line in enumerate(lines):
        _write(paper[i * height : (i + 1) * height], line, size)
    return paper


def _write(paper: Numbers, line: CaptionLine, size: int) -> None:
    """Draw text as large as fits, up to `size`; cut it if the smallest letters do not fit."""
    height, width = paper.shape[0], paper.shape[1] - 2 * size
    size = max(min(size, width // max(LETTER_WIDTH * len(line.text), 1)), 1)
    dots = np.kron(text_mask(line.text), np.ones((size, size), dtype=np.bool_))[:, : max(width, 0)]
    top = min((height - ABOVE_LINE * size) // 2, height - dots.shape[0])
    spot = paper[top : top + dots.shape[0], 2 * size : 2 * size + dots.shape[1]]
    spot[dots[:, : spot.shape[1]]] = INK_WRONG if line.wrong else INK_COLOUR


def stacked(parts: Sequence[Numbers]) -> Numbers:
    """Stack pictures vertically."""
    return np.concatenate(parts, axis=0)


def beside(parts: Sequence[Numbers], gap: int) -> Numbers:
    """Put pictures side by side with a gap; shorter ones are padded below."""
    height = max(part.shape[0] for part in parts)
    columns: list[Numbers] = []
    for part in parts:
        if columns:
            columns.append(_paper(height, gap))
        columns.append(stacked([part, _paper(height - part.shape[0], part.shape[1])]))
    return np.concatenate(columns, axis=1)


def _paper(height: int, width: int) -> Numbers:
    paper = np.empty((height, width, 3), dtype=np.float32)
    paper[...] = PAPER_COLOUR
    return paper


def to_uint8(picture: Numbers) -> Pixels:
    """Return a picture as integers from 0 to 255."""
    return np.clip(np.rint(picture), 0, 255).astype(np.uint8)


# Former names of these functions.
finished = to_uint8
writing = text_block

# ---------------------------------------------------------------------------- PNG

_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def png(pixels: Pixels) -> bytes:
    """Encode pixels as a PNG: a header, and rows compressed by zlib."""
    height, width = pixels.shape[:2]
    rows = np.zeros((height, 1 + 3 * width), dtype=np.uint8)  # a row begins with its filter, 0
    rows[:, 1:] = pixels.reshape(height, 3 * width)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b"")]
    return _PNG_SIGNATURE + b"".join(_chunk(*each) for each in chunks)


def _chunk(kind: bytes, content: bytes) -> bytes:
    checksum = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", checksum)
