"""A rule as PNG or PDF, drawn by matplotlib. Only this module needs it; `files` imports it late.

    boxes -> layout, shapes -> [ png ] -> bytes

Text is drawn in the monospaced font that comes with matplotlib, so a box fits its text, and the
picture looks the same everywhere. The same rule gives the same bytes with the same version of
matplotlib. The settings of matplotlib have no influence, and are left as they were.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from functools import cache
from pathlib import Path as FilePath
from typing import Any

import matplotlib.style
from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, get_font
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.text import Text as TextArtist
from matplotlib.transforms import Affine2D

from treethink.errors import SettingError
from treethink.export import shapes
from treethink.export.boxes import PAPER, Box, boxes_of
from treethink.export.layout import Layout, Place
from treethink.export.shapes import MARGIN, Label, Line, Rectangle, Text
from treethink.fork_lock import ForkLock
from treethink.rules import Rule

DPI, MIN_DPI = 200, 40  # of a PNG; with fewer dots it could not be read
MAX_PIXELS, MAX_SIDE = 40_000_000, 30_000  # pixels of a PNG
MAX_PAGE = 14_400.0  # points: the longest side of a PDF
_HEADER_WIDTH = 1.2  # of the border
_QUARTER_CIRCLE = 0.5523  # control points of a Bézier curve, relative to the radius
_SETTINGS: dict[str, Any] = {"pdf.fonttype": 42}
_METADATA: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
_settings_lock = ForkLock()  # matplotlib's settings are shared by all threads


def picture(rule: Rule, kind: str) -> bytes:
    """Return the content of a file of that kind, `png` or `pdf`."""
    boxes = boxes_of(rule, can_write)
    layout = shapes.layout_of(boxes)
    width, height = layout.width + 2 * MARGIN, layout.height + 2 * MARGIN
    dpi = resolution(width, height) if kind == "png" else 72
    scale = min(1.0, MAX_PAGE / max(width, height)) if kind == "pdf" else 1.0
    metadata = {"Title": " ".join(boxes[0].head), **_METADATA[kind]}
    content = io.BytesIO()
    with _settings_lock, matplotlib.style.context(["default", _SETTINGS]):
        figure = _figure(boxes, layout, scale)
        figure.savefig(content, format=kind, dpi=dpi, metadata=metadata)
    return content.getvalue()


def resolution(width: float, height: float) -> int:
    """Return the dots per inch of a PNG of that many points; an error if they are too few.

    >>> resolution(600, 400)
    200
    >>> resolution(20_000, 1_000)
    101
    """
    inches = (width / 72, height / 72)
    dpi = min(DPI, MAX_SIDE / max(inches), (MAX_PIXELS / (inches[0] * inches[1])) ** 0.5)
    if dpi < MIN_DPI:
        raise SettingError(
            f"the picture is too large for a PNG that one could read: {inches[0]:.0f} x"
            f" {inches[1]:.0f} inches; draw it as .svg or .pdf"
        )
    return int(dpi)


def _figure(boxes: list[Box], layout: Layout, scale: float) -> Figure:
    width = (layout.width + 2 * MARGIN) * scale
    height = (layout.height + 2 * MARGIN) * scale
    figure = Figure(figsize=(width / 72, height / 72), dpi=72, facecolor=PAPER)
    points = Affine2D().translate(MARGIN, MARGIN).scale(scale, -scale)
    transform = points.translate(0, height).scale(1 / 72) + figure.dpi_scale_trans
    for artist in [*_edges(boxes, layout, scale), *_boxes(boxes, layout, scale)]:
        artist.set_transform(transform)
        figure.add_artist(artist)
    return figure


def _edges(boxes: list[Box], layout: Layout, scale: float) -> Iterator[Artist]:
    """Yield one path for each colour, then the labels."""
    lines: dict[str, list[Path]] = {}
    labels: list[Artist] = []
    for shape in shapes.edges_of(boxes, layout):
        if isinstance(shape, Label):
            labels += [_filled(shape.background), _text(shape.text, scale)]
        else:
            lines.setdefault(shape.colour, []).append(_path(shape))
    for colour, paths in lines.items():
        path = Path.make_compound_path(*paths)
        width = shapes.EDGE_WIDTH * scale
        yield PathPatch(path, fill=False, edgecolor=colour, linewidth=width, capstyle="round")
    yield from labels


def _path(line: Line) -> Path:
    curved = len(line.points) == 4
    return Path(line.points, [Path.MOVETO, *[Path.CURVE4] * 3] if curved else None)


def _boxes(boxes: list[Box], layout: Layout, scale: float) -> Iterator[Artist]:
    for box, place in zip(boxes, layout.places, strict=True):
        yield from map(_filled, shapes.fills_of(box, place))
        yield _border(box, place, scale)
        for text in shapes.texts_of(box, place):
            yield _text(text, scale)


def _filled(rectangle: Rectangle) -> Artist:
    return PathPatch(_rounded(rectangle), facecolor=rectangle.fill, edgecolor="none")


def _border(box: Box, place: Place, scale: float) -> Artist:
    width = _HEADER_WIDTH if box.kind == "header" else shapes.BORDER_WIDTH
    return PathPatch(
        _rounded(shapes.outline_of(box, place)),
        fill=False,
        edgecolor=box.line,
        linewidth=(shapes.PINNED_WIDTH if box.pinned else width) * scale,
        linestyle=(0, (4, 3)) if box.unseen else "-",
    )


def _rounded(each: Rectangle) -> Path:
    """Return the outline of a rectangle with round corners."""
    x, y, width, height = each.x, each.y, each.width, each.height
    largest = min(width, height) / 2
    upper = min(each.corner, largest)
    lower = 0.0 if each.square_below else upper
    corners = [  # position, direction back along the edge before and on along the next one, radius
        ((x + width, y), (-1, 0), (0, 1), upper),
        ((x + width, y + height), (0, -1), (-1, 0), lower),
        ((x, y + height), (1, 0), (0, -1), lower),
        ((x, y), (0, 1), (1, 0), upper),
    ]
    points, codes = [(x + upper, y)], [Path.MOVETO]
    for (cx, cy), (ix, iy), (ox, oy), radius in corners:
        rest = radius * (1 - _QUARTER_CIRCLE)
        points += [(cx + ix * radius, cy + iy * radius)]
        points += [(cx + ix * rest, cy + iy * rest), (cx + ox * rest, cy + oy * rest)]
        points += [(cx + ox * radius, cy + oy * radius)]
        codes += [Path.LINETO, *[Path.CURVE4] * 3]
    return Path([*points, (x + upper, y)], [*codes, Path.CLOSEPOLY])


def _text(text: Text, scale: float) -> Artist:
    return TextArtist(
        text.x,
        text.y,
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
    """Whether the font has a glyph for the character."""
    files = (_font(bold).get_file() for bold in (False, True))
    return character.isprintable() and all(
        get_font(str(file)).get_char_index(ord(character)) for file in files
    )


@cache
def _font(bold: bool) -> FontProperties:
    """Return the font file that comes with matplotlib, not one of that name on the machine."""
    name = "DejaVuSansMono-Bold.ttf" if bold else "DejaVuSansMono.ttf"
    return FontProperties(fname=FilePath(matplotlib.get_data_path(), "fonts", "ttf", name))
