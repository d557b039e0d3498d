"""A state as pixels: a shape for each object, and the caption below.

Shapes are drawn in the order of the looks; `grouping` says which of them together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from treethink.errors import SettingError
from treethink.errors import shown as quoted
from treethink.state import State
from treethink.worlds.draw.grouping import (
    GRID_COLOUR,
    INK_COLOUR,
    INK_WRONG,
    PAPER_COLOUR,
    arrows,
    grouped,
    relative,
)
from treethink.worlds.draw.layout import (
    MOST_CELLS,
    Cell,
    Drawable,
    Item,
    Told,
    Window,
    caption,
    extent,
    items,
)
from treethink.worlds.draw.shapes import (
    ABOVE_LINE,
    LETTER_HEIGHT,
    LETTER_WIDTH,
    Numbers,
    lettering,
    stamp,
)
from treethink.worlds.draw.text import EDGE_COLOUR, FLOOR_COLOUR, WRONG_COLOUR
from treethink.worlds.looks import Colour

Pixels = npt.NDArray[np.uint8]

CELL = 24
_LARGEST_CELL = 256
_MOST_PIXELS = 3072


def rgb_array(
    world: Drawable, state: State, cell: int = CELL, window: Window | None = None
) -> Pixels:
    """The state as an array (height, width, 3); a cell has `cell` pixels on each side.

    `window` says which cells to show: if it is None, all of them, or as many as is sensible.
    """
    most = most_cells(cell)
    drawn = items(world, state)
    shown = extent(drawn, most, world.frame()) if window is None else window
    picture = board(drawn, shown, cell)
    return finished(stacked([picture, writing(caption(world, state), picture.shape[1], cell)]))


def most_cells(cell: int) -> int:
    """Return how many cells of this size fit into a picture."""
    if isinstance(cell, bool) or not isinstance(cell, int) or not 1 <= cell <= _LARGEST_CELL:
        raise SettingError(
            f"cell must be a whole number of pixels from 1 to {_LARGEST_CELL}, got {quoted(cell)}"
        )
    return min(MOST_CELLS, _MOST_PIXELS // cell)


def board(drawn: Sequence[Item], shown: Window, cell: int, wrong: Iterable[Cell] = ()) -> Numbers:
    """Draw the cells of a window; those that are `wrong` get a red frame."""
    tiles = np.empty((shown.height, cell, shown.width, cell, 3), dtype=np.float32)
    tiles[...] = FLOOR_COLOUR
    if cell >= 8:
        tiles[:, 0] = tiles[:, :, :, 0] = GRID_COLOUR
    for (_, name, colour, part, chance), cells in grouped(drawn, shown).items():
        _press(tiles, cells, stamp(name, cell, part), colour, chance)
    for turn, cells in arrows(drawn, shown).items():
        covers, bright = (np.rot90(each, turn) for each in stamp("arrow", cell))
        _press(tiles, cells, (covers, bright), EDGE_COLOUR, 1.0)
    if outlined := [relative(each, shown) for each in wrong if each in shown]:
        _press(tiles, outlined, stamp("outline", cell), WRONG_COLOUR, 1.0)
    if not shown.width:
        return np.empty((0, 8 * cell, 3), dtype=np.float32)
    return tiles.reshape(shown.height * cell, shown.width * cell, 3)


def _press(
    tiles: Numbers,
    cells: Sequence[Cell],
    mark: tuple[Numbers, Numbers],
    colour: Colour,
    chance: float,
) -> None:
    """Draw a shape into all of its cells."""
    columns, rows = np.array(cells).T
    covers, bright = (each[:, :, None] * np.float32(chance) for each in mark)
    ink = bright * np.array(colour, dtype=np.float32)
    tiles[rows, :, columns] = tiles[rows, :, columns] * (1 - covers) + ink


# ------------------------------------------------------------------------- letters


def writing(told: Sequence[Told], width: int, cell: int) -> Numbers:
    """Draw lines of text, for below or above a board."""
    size = max(cell // 12, 1)
    height = (LETTER_HEIGHT + 1) * size
    paper = np.empty((height * len(told), width, 3), dtype=np.float32)
    paper[...] = PAPER_COLOUR
    for i, line in enumerate(told):
        _write(paper[i * height : (i + 1) * height], line, size)
    return paper


def _write(paper: Numbers, line: Told, size: int) -> None:
    """Draw text as large as fits, up to `size`; cut it if the smallest letters do not fit."""
    height, width = paper.shape[0], paper.shape[1] - 2 * size
    size = max(min(size, width // max(LETTER_WIDTH * len(line.text), 1)), 1)
    dots = np.kron(lettering(line.text), np.ones((size, size), dtype=np.bool_))[:, : max(width, 0)]
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


def finished(picture: Numbers) -> Pixels:
    """Return a picture as integers from 0 to 255."""
    return np.clip(np.rint(picture), 0, 255).astype(np.uint8)
