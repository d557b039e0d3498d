"""Sizes of the boxes, and the lines, rectangles and texts of a picture, for SVG and matplotlib.

    boxes -> [ shapes ] -> layout, shapes -> svg, png

Lengths are in points and y grows downwards. All letters have the same width, `ADVANCE` times the
height of the font, so that no font has to be read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from treethink.export.boxes import BARS, GREY, INK, LINE, PAPER, STRIP, TRACK, Box, Row, tone
from treethink.export.layout import Layout, Place, tidy

ADVANCE = 0.60205  # the width of a letter of DejaVu Sans Mono, relative to its font size
RISE = 0.73  # the height of its capitals and digits
SIZE, SMALL = 10.0, 8.0  # font sizes
LINE_HEIGHT, SMALL_LINE_HEIGHT = 15.0, 11.0
PAD_X, PAD_Y = 10.0, 5.0  # between the edge of a box and its text
COLUMN = 7.0  # between the columns of a leaf
GAP_X, GAP_Y, GAP_HEADER = 22.0, 38.0, 16.0  # between boxes
MARGIN = 14.0  # around the picture
MIN_WIDTH = 46.0
BAR, BAR_HEIGHT = 26.0, 6.0  # of a share of 100%
CORNERS = {"header": 5.0, "branch": 5.0, "leaf": 9.0}  # radii
BEND = 0.55  # the share of its height over which an edge keeps its direction
EDGE_WIDTH, BORDER_WIDTH, PINNED_WIDTH = 1.2, 0.9, 2.4

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Text:
    """A line of text; y is its baseline."""

    text: str
    x: float
    y: float
    anchor: Literal["left", "center", "right"] = "center"
    size: float = SIZE
    bold: bool = False
    colour: str = INK

    @property
    def width(self) -> float:
        return _width(self.text, self.size)


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A filled rectangle with round corners; the lower two may be square."""

    x: float
    y: float
    width: float
    height: float
    corner: float
    fill: str
    square_below: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A vertical line, given by two points, or a Bézier curve, given by four."""

    points: tuple[Point, ...]
    colour: str


@dataclass(frozen=True, slots=True)
class Label:
    """The answer at an edge, on a background that covers the edge."""

    background: Rectangle
    text: Text


# ---------------------------------------------------------------------------- edges


def edges_of(boxes: Sequence[Box], layout: Layout) -> Iterator[Line | Label]:
    """Yield the edges from each box to those below it, with the answers that lead there."""
    for box, place in zip(boxes, layout.places, strict=True):
        floor = layout.bottoms[place.row]
        if place.bottom < floor and box.children:
            # Straight down to the end of the row: above it, the edge could touch another box.
            yield Line(((place.centre, place.bottom), (place.centre, floor)), LINE)
        for child, answer, colour in box.edges:
            to = layout.places[child]
            yield _curve(place.centre, floor, to, colour)
            if answer:
                yield _label(answer, (place.centre + to.centre) / 2, (floor + to.y) / 2, colour)


def _curve(x: float, floor: float, to: Place, colour: str) -> Line:
    end, bend = to.centre, BEND * (to.y - floor)
    return Line(((x, floor), (x, floor + bend), (end, to.y - bend), (end, to.y)), colour)


def _label(answer: str, x: float, y: float, colour: str) -> Label:
    half = _width(answer, SMALL) / 2 + 2
    background = Rectangle(x - half, y - SMALL * 0.7, 2 * half, SMALL * 1.4, 2.0, PAPER)
    return Label(background, Text(answer, x, y + RISE * SMALL / 2, size=SMALL, colour=colour))


# ---------------------------------------------------------------------------- boxes


def layout_of(boxes: Sequence[Box]) -> Layout:
    """Return the positions of the boxes."""
    sizes = [size_of(box) for box in boxes]
    return tidy(sizes, [box.children for box in boxes], GAP_X, GAP_Y, GAP_HEADER)


def size_of(box: Box) -> tuple[float, float]:
    """Return the width and height of a box."""
    if len(box.rows) > 1:
        width = sum(_columns(box.rows)) + 3 * COLUMN
        height = len(box.rows) * LINE_HEIGHT
    elif box.rows:
        (row,) = box.rows
        width = max(_width(row.outcome), _width(_times(row), SMALL))
        height = LINE_HEIGHT + SMALL_LINE_HEIGHT
    else:
        width = max(map(_width, box.lines))
        height = _strip_height(box) + len(box.body) * LINE_HEIGHT
    return max(width + 2 * PAD_X, MIN_WIDTH), height + 2 * PAD_Y


def _strip_height(box: Box) -> float:
    """Return the height of the head of a box."""
    extra = 4.0 if box.kind == "branch" and box.head else 0.0
    return len(box.head) * LINE_HEIGHT + extra


def fills_of(box: Box, place: Place) -> Iterator[Rectangle]:
    """Yield what lies behind the text: the box, a branch's strip, a bar for each outcome."""
    yield outline_of(box, place)
    if box.kind == "branch" and box.head:
        size, corner = (place.width, _strip_height(box)), CORNERS[box.kind]
        yield Rectangle(place.x, place.y, *size, corner, STRIP, square_below=True)
    if len(box.rows) > 1:
        x = place.x + (PAD_X + _columns(box.rows)[0] + COLUMN)
        for number, row in enumerate(box.rows):
            y = place.y + (PAD_Y + number * LINE_HEIGHT + (LINE_HEIGHT - BAR_HEIGHT) / 2)
            yield Rectangle(x, y, BAR, BAR_HEIGHT, 2.0, TRACK)
            yield Rectangle(x, y, BAR * row.share, BAR_HEIGHT, 2.0, tone(row.tone, BARS))


def outline_of(box: Box, place: Place) -> Rectangle:
    """Return the rectangle of the box itself."""
    return Rectangle(place.x, place.y, place.width, place.height, CORNERS[box.kind], box.fill)


def texts_of(box: Box, place: Place) -> Iterator[Text]:
    """Yield all text of a box."""
    x, y, middle = place.x, place.y, place.x + place.width / 2
    if len(box.rows) > 1:
        yield from _table(box.rows, x, y)
    elif box.rows:
        (row,) = box.rows
        yield Text(row.outcome, middle, y + _baseline(PAD_Y), bold=True)
        below = y + _baseline(PAD_Y + LINE_HEIGHT, SMALL, SMALL_LINE_HEIGHT)
        yield Text(_times(row), middle, below, size=SMALL, colour=GREY)
    else:
        # The text of a strip is centred in it.
        top = PAD_Y - 2.0 if box.kind == "branch" else PAD_Y
        bold = box.kind == "header"
        for number, line in enumerate(box.head):
            yield Text(line, middle, y + _baseline(top + number * LINE_HEIGHT), bold=bold)
        for number, line in enumerate(box.body):
            base = y + _baseline(PAD_Y + _strip_height(box) + number * LINE_HEIGHT)
            colour = INK if box.kind != "leaf" else GREY
            yield Text(line, middle, base, colour=colour)


def _table(rows: Sequence[Row], x: float, y: float) -> Iterator[Text]:
    outcomes, bars, shares, counts = _columns(rows)
    share = PAD_X + outcomes + bars + shares + 2 * COLUMN
    for number, row in enumerate(rows):
        base = y + _baseline(PAD_Y + number * LINE_HEIGHT)
        yield Text(row.outcome, x + PAD_X, base, "left", bold=row.tone is not None)
        yield Text(row.percent, x + share, base, "right")
        yield Text(_times(row), x + (share + COLUMN + counts), base, "right", SMALL, colour=GREY)


def _columns(rows: Sequence[Row]) -> tuple[float, float, float, float]:
    """Return the widths of the columns: outcomes, bars, shares and counts."""
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


def _baseline(top: float, size: float = SIZE, height: float = LINE_HEIGHT) -> float:
    """Return the baseline of a line of text that begins at the top."""
    return top + (height + RISE * size) / 2
