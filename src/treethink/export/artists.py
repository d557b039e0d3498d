"""The shapes and texts of a picture, as matplotlib has them. Imported only where it is."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path as FilePath

import matplotlib
from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, get_font
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.text import Text as Letters
from matplotlib.transforms import Affine2D

from treethink.export import colours, measures
from treethink.export.content import ANSWERS, Box
from treethink.export.layout import Layout, Place

ROUND = {"header": 5.0, "branch": 5.0, "leaf": 9.0}  # of the corners
BEND = 0.55  # how far, of the way down, an edge keeps its direction
CIRCLE = 0.5523  # so Bézier's curve is a quarter of a circle


def figure_of(boxes: list[Box], layout: Layout, scale: float = 1.0) -> Figure:
    """The whole picture, so much smaller."""
    width = (layout.width + 2 * measures.MARGIN) * scale
    height = (layout.height + 2 * measures.MARGIN) * scale
    figure = Figure(figsize=(width / 72, height / 72), dpi=72, facecolor=colours.PAPER)
    inches = Affine2D().translate(measures.MARGIN, measures.MARGIN).scale(scale, -scale)
    place = inches.translate(0, height).scale(1 / 72) + figure.dpi_scale_trans
    for artist in [*_edges(boxes, layout, scale), *_boxes(boxes, layout, scale)]:
        artist.set_transform(place)
        figure.add_artist(artist)
    return figure


def _edges(boxes: list[Box], layout: Layout, scale: float) -> Iterator[Artist]:
    """One shape for each colour; then the answers."""
    lines: dict[str, list[Path]] = {}
    labels: list[Artist] = []
    for box, place in zip(boxes, layout.places, strict=True):
        floor = layout.bottoms[place.row]
        if place.bottom < floor and box.children:
            lines.setdefault(colours.LINE, []).append(_stem(place, floor))
        for child, (answer, colour) in zip(box.children, _answers(box), strict=True):
            to = layout.places[child]
            lines.setdefault(colour, []).append(_curve(place.centre, floor, to))
            if answer:
                middle = (place.centre + to.centre) / 2, (floor + to.y) / 2
                labels += _label(answer, *middle, colour, scale)
    for colour, curves in lines.items():
        path = Path.make_compound_path(*curves)
        yield PathPatch(path, fill=False, edgecolor=colour, linewidth=1.2 * scale, capstyle="round")
    yield from labels


def _answers(box: Box) -> list[tuple[str, str]]:
    """What stands at the edges below a box, and in which colour."""
    if box.kind == "branch":
        return list(zip(ANSWERS, colours.EDGES, strict=True))
    return [("", colours.LINE)] * len(box.children)


def _stem(place: Place, floor: float) -> Path:
    """Down to the lower edge of the row: only from there on nothing is beside an edge."""
    return Path([(place.centre, place.bottom), (place.centre, floor)])


def _curve(x: float, floor: float, below: Place) -> Path:
    to, bend = below.centre, BEND * (below.y - floor)
    points = [(x, floor), (x, floor + bend), (to, below.y - bend), (to, below.y)]
    return Path(points, [Path.MOVETO, *[Path.CURVE4] * 3])


def _label(answer: str, x: float, y: float, colour: str, scale: float) -> Iterator[Artist]:
    size = measures.SMALL
    half = len(answer) * measures.ADVANCE * size / 2 + 2
    back = _rounded(x - half, y - size * 0.7, 2 * half, size * 1.4, 2.0)
    yield _filled(back, colours.PAPER)
    base = y + measures.RISE * size / 2
    yield _letters(measures.Text(answer, x, base, size=size, colour=colour), 0, 0, scale)


def _boxes(boxes: list[Box], layout: Layout, scale: float) -> Iterator[Artist]:
    for box, place in zip(boxes, layout.places, strict=True):
        yield from _fills(box, place)
        yield _border(box, place, scale)
        for text in measures.texts_of(box, place.width):
            yield _letters(text, place.x, place.y, scale)


def _fills(box: Box, place: Place) -> Iterator[Artist]:
    """What lies behind the text: the box, a branch's strip, a bar for each of several outcomes."""
    corner = ROUND[box.kind]
    whole = _rounded(place.x, place.y, place.width, place.height, corner)
    yield _filled(whole, colours.fill(box))
    if box.kind == "branch" and box.head:
        strip = _rounded(place.x, place.y, place.width, measures.strip_of(box), corner, 0.0)
        yield _filled(strip, colours.STRIP)
    if len(box.rows) > 1:
        yield from _bars(box, place)


def _bars(box: Box, place: Place) -> Iterator[Artist]:
    for row, x, y in measures.bars_of(box.rows):
        corner = place.x + x, place.y + y
        yield _filled(_rounded(*corner, measures.BAR, measures.BAR_HEIGHT, 2.0), colours.TRACK)
        bar = _rounded(*corner, measures.BAR * row.share, measures.BAR_HEIGHT, 2.0)
        yield _filled(bar, colours.tone(row.tone, colours.BARS))


def _filled(path: Path, colour: str) -> Artist:
    return PathPatch(path, facecolor=colour, edgecolor="none")


def _border(box: Box, place: Place, scale: float) -> Artist:
    corner = ROUND[box.kind]
    path = _rounded(place.x, place.y, place.width, place.height, corner)
    unseen = box.kind == "leaf" and not box.rows
    return PathPatch(
        path,
        fill=False,
        edgecolor=colours.line(box),
        linewidth=(2.4 if box.pinned else 1.2 if box.kind == "header" else 0.9) * scale,
        linestyle=(0, (4, 3)) if unseen else "-",
    )


def _rounded(
    x: float, y: float, width: float, height: float, corner: float, lower: float | None = None
) -> Path:
    """A rectangle with round corners; the lower two may differ."""
    least = min(width, height) / 2
    up = min(corner, least)
    low = min(corner if lower is None else lower, least)
    ends = [  # corner, what comes in, what goes out, radius
        ((x + width, y), (-1, 0), (0, 1), up),
        ((x + width, y + height), (0, -1), (-1, 0), low),
        ((x, y + height), (1, 0), (0, -1), low),
        ((x, y), (0, 1), (1, 0), up),
    ]
    points, codes = [(x + up, y)], [Path.MOVETO]
    for (cx, cy), (ix, iy), (ox, oy), radius in ends:
        rest = radius * (1 - CIRCLE)
        points += [(cx + ix * radius, cy + iy * radius)]
        points += [(cx + ix * rest, cy + iy * rest), (cx + ox * rest, cy + oy * rest)]
        points += [(cx + ox * radius, cy + oy * radius)]
        codes += [Path.LINETO, *[Path.CURVE4] * 3]
    return Path([*points, (x + up, y)], [*codes, Path.CLOSEPOLY])


def _letters(text: measures.Text, x: float, y: float, scale: float) -> Artist:
    return Letters(
        x + text.x,
        y + text.y,
        text.text,
        color=text.colour,
        fontsize=text.size * scale,
        fontproperties=_font(text.bold),
        horizontalalignment=text.anchor,
        verticalalignment="baseline",
        parse_math=False,
    )


@cache
def can_write(character: str) -> bool:
    """Whether there is a glyph for it."""
    files = (_font(bold).get_file() for bold in (False, True))
    return character.isprintable() and all(
        get_font(str(file)).get_char_index(ord(character)) for file in files
    )


@cache
def _font(bold: bool) -> FontProperties:
    """The file that comes with matplotlib, not one of that name that the machine may have."""
    name = "DejaVuSansMono-Bold.ttf" if bold else "DejaVuSansMono.ttf"
    return FontProperties(fname=FilePath(matplotlib.get_data_path(), "fonts", "ttf", name))
