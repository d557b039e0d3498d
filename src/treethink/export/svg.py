"""A rule as SVG text, without matplotlib: for files, and for notebooks, which show it at once.

    content -> sizes -> layout -> [ svg ] -> text of an SVG

What stands where is decided elsewhere, the same for all pictures. A reader's font may be another
than the one that was measured, so every line of text says how long it is to be.
"""

from __future__ import annotations

from collections.abc import Iterator

from treethink.export import colours, measures
from treethink.export.content import ANSWERS, Box, boxes_of
from treethink.export.layout import Layout, Place
from treethink.rules import Rule
from treethink.text import escaped

_FONTS = "DejaVu Sans Mono, monospace"
_ANCHORS = {"left": "start", "center": "middle", "right": "end"}
_ROUND = {"header": 5, "branch": 5, "leaf": 9}  # of the corners
_BEND = 0.55  # how far, of the way down, an edge keeps its direction


def text_of(rule: Rule) -> str:
    """The whole picture."""
    boxes = boxes_of(rule)
    layout = measures.layout_of(boxes)
    wide, high = (side + 2 * measures.MARGIN for side in (layout.width, layout.height))
    parts = [*_edges(boxes, layout), *_boxes(boxes, layout)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide:.0f}" height="{high:.0f}" '
        f'viewBox="0 0 {wide:.1f} {high:.1f}"><rect width="100%" height="100%" '
        f'fill="{colours.PAPER}"/><g transform="translate({measures.MARGIN:g} '
        f'{measures.MARGIN:g})" font-family="{_FONTS}">{"".join(parts)}</g></svg>'
    )


def _edges(boxes: list[Box], layout: Layout) -> Iterator[str]:
    """From each box to those below it, with the answer that leads there."""
    for box, place in zip(boxes, layout.places, strict=True):
        answers = ANSWERS if box.kind == "branch" else ("",)
        tones = colours.EDGES if box.kind == "branch" else (colours.LINE,)
        floor = layout.bottoms[place.row]
        if place.bottom < floor and box.children:
            yield _line(f"M{place.centre:.1f} {place.bottom:.1f}V{floor:.1f}", colours.LINE)
        for child, answer, colour in zip(box.children, answers, tones, strict=False):
            to = layout.places[child]
            yield _curve(place.centre, floor, to, colour)
            if answer:
                x, y = (place.centre + to.centre) / 2, (floor + to.y) / 2
                yield _label(answer, x, y, colour)


def _curve(x: float, floor: float, to: Place, colour: str) -> str:
    """From the end of the row: above it, another box might be beside the edge."""
    end, bend = to.centre, _BEND * (to.y - floor)
    curve = f"C{x:.1f} {floor + bend:.1f} {end:.1f} {to.y - bend:.1f} {end:.1f} {to.y:.1f}"
    return _line(f"M{x:.1f} {floor:.1f}{curve}", colour)


def _line(path: str, colour: str) -> str:
    return f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.2"/>'


def _label(answer: str, x: float, y: float, colour: str) -> str:
    size = measures.SMALL
    half = len(answer) * measures.ADVANCE * size / 2 + 2
    back = _rectangle(x - half, y - size * 0.7, 2 * half, size * 1.4, 2, colours.PAPER)
    base = y + measures.RISE * size / 2
    return back + _letters(measures.Text(answer, x, base, size=size, colour=colour), 0, 0)


def _boxes(boxes: list[Box], layout: Layout) -> Iterator[str]:
    for box, place in zip(boxes, layout.places, strict=True):
        yield from _backs(box, place)
        for text in measures.texts_of(box, place.width):
            yield _letters(text, place.x, place.y)


def _backs(box: Box, place: Place) -> Iterator[str]:
    """What lies behind the text: the box, a branch's strip, a bar for each of several outcomes."""
    corner, size = _ROUND[box.kind], (place.width, place.height)
    yield _rectangle(place.x, place.y, *size, corner, colours.fill(box))
    if box.kind == "branch" and box.head:
        strip = measures.strip_of(box)
        yield _rectangle(place.x, place.y, place.width, strip, corner, colours.STRIP)
        lower = (place.x, place.y + strip / 2, place.width, strip / 2)  # has no round corners
        yield _rectangle(*lower, 0, colours.STRIP)
    if len(box.rows) > 1:
        for row, x, y in measures.bars_of(box.rows):
            at, tone = (place.x + x, place.y + y), colours.tone(row.tone, colours.BARS)
            yield _rectangle(*at, measures.BAR, measures.BAR_HEIGHT, 2, colours.TRACK)
            yield _rectangle(*at, measures.BAR * row.share, measures.BAR_HEIGHT, 2, tone)
    unseen = ' stroke-dasharray="4 3"' if box.kind == "leaf" and not box.rows else ""
    line = f' stroke="{colours.line(box)}" stroke-width="{2.4 if box.pinned else 0.9}"{unseen}'
    yield _rectangle(place.x, place.y, *size, corner, "none", line)


def _rectangle(
    x: float, y: float, width: float, height: float, corner: float, fill: str, more: str = ""
) -> str:
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
        f'rx="{min(corner, width / 2, height / 2):.1f}" fill="{fill}"{more}/>'
    )


def _letters(text: measures.Text, x: float, y: float) -> str:
    bold = ' font-weight="bold"' if text.bold else ""
    long = len(text.text) * measures.ADVANCE * text.size
    return (
        f'<text x="{x + text.x:.1f}" y="{y + text.y:.1f}" font-size="{text.size:g}" '
        f'text-anchor="{_ANCHORS[text.anchor]}" textLength="{long:.1f}" '
        f'lengthAdjust="spacingAndGlyphs" fill="{text.colour}"{bold}>{escaped(text.text)}</text>'
    )
