"""A rule as SVG text, without matplotlib: for files, and for notebooks.

    boxes -> layout, shapes -> [ svg ] -> text

The reader's font may differ from the one that was measured, so every text states its length.
"""

from __future__ import annotations

from collections.abc import Iterator

from treethink.export import shapes
from treethink.export.boxes import PAPER, Box, boxes_of
from treethink.export.layout import Layout, Place
from treethink.export.shapes import MARGIN, Label, Line, Rectangle, Text
from treethink.rules import Rule
from treethink.text import escaped

_FONTS = "DejaVu Sans Mono, monospace"
_ANCHORS = {"left": "start", "center": "middle", "right": "end"}


def text_of(rule: Rule) -> str:
    """Return the whole picture."""
    boxes = boxes_of(rule)
    layout = shapes.layout_of(boxes)
    wide, high = (side + 2 * MARGIN for side in (layout.width, layout.height))
    parts = [*map(_edge, shapes.edges_of(boxes, layout)), *_boxes(boxes, layout)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide:.0f}" height="{high:.0f}" '
        f'viewBox="0 0 {wide:.1f} {high:.1f}"><rect width="100%" height="100%" '
        f'fill="{PAPER}"/><g transform="translate({MARGIN:g} '
        f'{MARGIN:g})" font-family="{_FONTS}">{"".join(parts)}</g></svg>'
    )


def _edge(shape: Line | Label) -> str:
    if isinstance(shape, Label):
        return _rectangle(shape.background) + _text(shape.text)
    (x, y), *others = shape.points
    path = f"M{x:.1f} {y:.1f}"
    if len(others) == 1:
        path += f"V{others[0][1]:.1f}"
    else:
        path += "C" + " ".join(f"{u:.1f} {v:.1f}" for u, v in others)
    width = shapes.EDGE_WIDTH
    return f'<path d="{path}" fill="none" stroke="{shape.colour}" stroke-width="{width:g}"/>'


def _boxes(boxes: list[Box], layout: Layout) -> Iterator[str]:
    for box, place in zip(boxes, layout.places, strict=True):
        yield from map(_rectangle, shapes.fills_of(box, place))
        yield _border(box, place)
        yield from map(_text, shapes.texts_of(box, place))


def _border(box: Box, place: Place) -> str:
    dashes = ' stroke-dasharray="4 3"' if box.unseen else ""
    width = shapes.PINNED_WIDTH if box.pinned else shapes.BORDER_WIDTH
    stroke = f' stroke="{box.line}" stroke-width="{width:g}"{dashes}'
    corner = shapes.CORNERS[box.kind]
    return _rect(place.x, place.y, place.width, place.height, corner, "none", stroke)


def _rectangle(each: Rectangle) -> str:
    whole = _rect(each.x, each.y, each.width, each.height, each.corner, each.fill)
    if not each.square_below:
        return whole
    half = each.height / 2
    return whole + _rect(each.x, each.y + half, each.width, half, 0, each.fill)


def _rect(
    x: float, y: float, width: float, height: float, corner: float, fill: str, more: str = ""
) -> str:
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
        f'rx="{min(corner, width / 2, height / 2):.1f}" fill="{fill}"{more}/>'
    )


def _text(text: Text) -> str:
    bold = ' font-weight="bold"' if text.bold else ""
    return (
        f'<text x="{text.x:.1f}" y="{text.y:.1f}" font-size="{text.size:g}" '
        f'text-anchor="{_ANCHORS[text.anchor]}" textLength="{text.width:.1f}" '
        f'lengthAdjust="spacingAndGlyphs" fill="{text.colour}"{bold}>{escaped(text.text)}</text>'
    )
