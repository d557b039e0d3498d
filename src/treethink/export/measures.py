"""How large the boxes are, and where in them their text stands. All in points, y downwards.

Every letter is `ADVANCE` times as wide as its font is high, so that no font has to be read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from treethink.export import colours
from treethink.export.content import Box, Row
from treethink.export.layout import Layout, tidy

ADVANCE = 0.60205  # of DejaVu Sans Mono
RISE = 0.73  # of its capitals and digits
SIZE, SMALL = 10.0, 8.0  # of the fonts
LINE, SMALL_LINE = 15.0, 11.0  # from one line to the next
PAD_X, PAD_Y = 10.0, 5.0
COLUMN = 7.0  # between the columns of a leaf
GAP_X, GAP_Y, GAP_HEADER = 22.0, 38.0, 16.0  # between boxes
MARGIN = 14.0
LEAST_WIDTH = 46.0
BAR, BAR_HEIGHT = 26.0, 6.0  # of a share, if it is all


@dataclass(frozen=True, slots=True)
class Text:
    """A line of text in a box, from the box's upper left corner; y is where the letters stand."""

    text: str
    x: float
    y: float
    anchor: Literal["left", "center", "right"] = "center"
    size: float = SIZE
    bold: bool = False
    colour: str = colours.INK


def layout_of(boxes: Sequence[Box]) -> Layout:
    """Where they stand."""
    sizes = [size_of(box) for box in boxes]
    return tidy(sizes, [box.children for box in boxes], GAP_X, GAP_Y, GAP_HEADER)


def size_of(box: Box) -> tuple[float, float]:
    """Width and height of a box."""
    if len(box.rows) > 1:
        width = sum(_columns(box.rows)) + 3 * COLUMN
        height = len(box.rows) * LINE
    elif box.rows:
        (row,) = box.rows
        width = max(_width(row.outcome), _width(_times(row), SMALL))
        height = LINE + SMALL_LINE
    else:
        width = max(map(_width, box.lines))
        height = strip_of(box) + len(box.body) * LINE
    return max(width + 2 * PAD_X, LEAST_WIDTH), height + 2 * PAD_Y


def strip_of(box: Box) -> float:
    """The height of what stands above a box's body."""
    extra = 4.0 if box.kind == "branch" and box.head else 0.0
    return len(box.head) * LINE + extra


def texts_of(box: Box, width: float) -> Iterator[Text]:
    """Everything that a box of that width says."""
    if len(box.rows) > 1:
        yield from _table(box.rows)
    elif box.rows:
        (row,) = box.rows
        yield Text(row.outcome, width / 2, _base(PAD_Y), bold=True)
        y = _base(PAD_Y + LINE, SMALL, SMALL_LINE)
        yield Text(_times(row), width / 2, y, size=SMALL, colour=colours.GREY)
    else:
        # In a strip, variables have as much room above as below.
        top = PAD_Y - 2.0 if box.kind == "branch" else PAD_Y
        bold = box.kind == "header"
        for number, line in enumerate(box.head):
            yield Text(line, width / 2, _base(top + number * LINE), bold=bold)
        for number, line in enumerate(box.body):
            y = _base(PAD_Y + strip_of(box) + number * LINE)
            colour = colours.INK if box.kind != "leaf" else colours.GREY
            yield Text(line, width / 2, y, colour=colour)


def _table(rows: Sequence[Row]) -> Iterator[Text]:
    outcomes, bars, shares, counts = _columns(rows)
    share = PAD_X + outcomes + bars + shares + 2 * COLUMN
    for number, row in enumerate(rows):
        y = _base(PAD_Y + number * LINE)
        yield Text(row.outcome, PAD_X, y, "left", bold=row.tone is not None)
        yield Text(row.percent, share, y, "right")
        yield Text(_times(row), share + COLUMN + counts, y, "right", SMALL, colour=colours.GREY)


def bars_of(rows: Sequence[Row]) -> Iterator[tuple[Row, float, float]]:
    """Where the bars of several outcomes begin: left, and top."""
    x = PAD_X + _columns(rows)[0] + COLUMN
    for number, row in enumerate(rows):
        yield row, x, PAD_Y + number * LINE + (LINE - BAR_HEIGHT) / 2


def _columns(rows: Sequence[Row]) -> tuple[float, float, float, float]:
    """Widths of the outcomes, of the bars of their shares, of the shares and of the counts."""
    return (
        max(_width(row.outcome) for row in rows),
        BAR,
        max(_width(row.percent) for row in rows),
        max(_width(_times(row), SMALL) for row in rows),
    )


def _times(row: Row) -> str:
    return f"× {row.count:,}"


def _width(text: str, size: float = SIZE) -> float:
    return len(text) * ADVANCE * size


def _base(top: float, size: float = SIZE, line: float = LINE) -> float:
    """Where letters stand in a line that begins at the top."""
    return top + (line + RISE * size) / 2
