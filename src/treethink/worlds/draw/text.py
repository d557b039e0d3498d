"""A state as text: a cell is two columns wide, which is about a square in a terminal.

The first column contains the sign of the topmost object. The second is an underscore if there are
objects below it, otherwise a space. With colours, the background has the colour of the object
below. A line under the picture lists such cells in signs, `P on G`, so that text without colours
contains the same information.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from treethink.attributes import PlainValue
from treethink.outcome_text import value_text
from treethink.state import Object, State
from treethink.text import printable
from treethink.worlds.draw.layout import (
    MAX_LINES,
    CaptionLine,
    Cell,
    Drawable,
    Item,
    Window,
    caption,
    extent,
    items,
    outside,
)
from treethink.worlds.looks import FLOOR, Colour, Look, with_default_looks

FLOOR_COLOUR: Colour = (30, 32, 38)
EDGE_COLOUR: Colour = (236, 140, 51)
WRONG_COLOUR: Colour = (176, 32, 40)
_FLOOR_SIGN: Colour = (78, 82, 92)
_WHITE: Colour = (255, 255, 255)
_MAX_STACKS = 4
_MAX_ENTRIES = 60


@dataclass(frozen=True, slots=True)
class Span:
    """Text in one style; a colour of None is the terminal's default."""

    text: str
    colour: Colour | None = None
    background: Colour | None = None
    bold: bool = False


Line = list[Span]


def ansi(
    world: Drawable,
    state: State,
    colour: bool = True,
    window: Window | None = None,
    lines: int = MAX_LINES,
) -> str:
    """Return the state as text, with or without colours, and a caption below.

    `window` selects the cells to show. By default it shows all of them, up to a maximum size.
    `lines` is the maximum number of lines about objects without a place.
    """
    drawn_items = items(world, state)
    if window is None:
        window = extent(drawn_items, frame=world.frame())
    below = [
        *caption(world, state, max_lines=lines),
        *stack_captions(drawn_items, window),
        *outside(world, state, drawn_items, window),
    ]
    return encode([*panel(drawn_items, window), *caption_rows(below)], colour)


def panel(drawn_items: Sequence[Item], window: Window, wrong: Collection[Cell] = ()) -> list[Line]:
    """Return the cells of a window, line by line; `wrong` cells are marked.

    Arrows in an extra row or column point to objects outside of the window.
    """
    stacks: defaultdict[Cell, list[Item]] = defaultdict(list)
    arrows: dict[Cell, Span] = {}
    for item in drawn_items:
        if item.cell in window:
            stacks[item.cell].append(item)
        else:
            arrows[window.nearest(item.cell)] = _arrow(item.cell, window)
    if not window.width:
        return []
    columns = [*(x for x, _ in arrows), window.left, window.left + window.width - 1]
    rows = [*(y for _, y in arrows), window.top, window.top + window.height - 1]
    return [
        [
            _cell(stacks.get((x, y), ()), (x, y) in wrong)
            if (x, y) in window
            else arrows.get((x, y), Span("  "))
            for x in range(min(columns), max(columns) + 1)
        ]
        for y in range(min(rows), max(rows) + 1)
    ]


def _cell(stack: Sequence[Item], wrong: bool) -> Span:
    text = _sign(stack[-1]) if stack else FLOOR
    text += "!" if wrong else "_" if len(stack) > 1 else " "
    if wrong:
        return Span(text, _WHITE, WRONG_COLOUR, bold=True)
    if not stack:
        return Span(text, _FLOOR_SIGN, FLOOR_COLOUR)
    look = stack[-1].look
    if len(stack) > 1:
        return Span(text, look.colour, mix(stack[-2].look.colour, 0.4), bold=True)
    if look.shape == "block":
        return Span(text, mix(look.colour, 0.55), look.colour)
    return Span(text, look.colour, FLOOR_COLOUR, bold=True)


def _sign(item: Item) -> str:
    return item.look.sign[:1] or " "


def stack_captions(drawn_items: Sequence[Item], window: Window) -> list[CaptionLine]:
    """Return a line about cells with several objects, topmost first: `P on G`."""
    stacks: defaultdict[Cell, list[Item]] = defaultdict(list)
    for item in drawn_items:
        if item.cell in window:
            stacks[item.cell].append(item)
    cells = sorted((y, x) for (x, y), stack in stacks.items() if len(stack) > 1)
    texts = [" on ".join(map(_sign, reversed(stacks[x, y]))) for y, x in cells[:_MAX_STACKS]]
    more = len(cells) - len(texts)
    return [CaptionLine(", ".join(texts) + (f" and {more} more" if more else ""))] if texts else []


def _arrow(cell: Cell, window: Window) -> Span:
    x, y = window.nearest(cell)
    if window.left <= x < window.left + window.width:
        sign = "^" if y < window.top else "v"
    else:
        sign = "<" if x < window.left else ">"
    return Span(f"{sign} ", EDGE_COLOUR, bold=True)


def caption_rows(caption_lines: Iterable[CaptionLine]) -> list[Line]:
    """Return the lines of a caption; those about wrong predictions are marked."""
    return [
        [Span(f"{each.text} !", _WHITE, WRONG_COLOUR, bold=True) if each.wrong else Span(each.text)]
        for each in caption_lines
    ]


def side_by_side(panels: Iterable[Sequence[Line]], gap: int = 4) -> list[Line]:
    """Return the lines of panels beside each other, with empty columns between them."""
    rows: list[Line] = []
    width = 0
    for part in panels:
        rows += [[] for _ in range(len(part) - len(rows))]
        for row, line in zip(rows, part, strict=False):
            row += [Span(" " * (width - width_of(row)))] if width > width_of(row) else []
            row += line
        width = max(map(width_of, rows), default=0) + gap
    return rows


# -------------------------------------------------------------------------- signs


def legend(world: Drawable) -> str:
    """Return the meaning of the signs, topmost first.

    >>> from treethink.worlds import make
    >>> legend(make("coins"))
    'P player, C coin (used 0), c coin (used 1), # wall'
    """
    return ", ".join(legend_entries(world))


def legend_entries(world: Drawable) -> list[str]:
    """Return the entries of the legend; if there are too many, the last counts the rest."""
    looks = [
        look
        for look in with_default_looks(world.looks, world.schema.classes)
        if look.class_name in world.schema.classes and _has_place(world, look)
    ]
    entries: list[str] = []
    for name in dict.fromkeys(look.class_name for look in reversed(looks)):
        own = [look for look in looks if look.class_name == name]
        own.sort(key=lambda look: [*look.values.values()])
        entries += map(_meaning, own)
    more = len(entries) - _MAX_ENTRIES
    return [*entries[:_MAX_ENTRIES], f"and {more} more"] if more > 0 else entries


def _meaning(look: Look) -> str:
    values = ", ".join(f"{name} {value_text(value)}" for name, value in look.values.items())
    return f"{look.sign} {look.class_name}" + (f" ({values})" if values else "")


def _has_place(world: Drawable, look: Look) -> bool:
    """Return whether objects with this look have a place, tested with an object of zeros."""
    schema, values = world.schema, dict[str, PlainValue](look.values)
    for name in schema.classes[look.class_name]:
        length = schema.attributes[name].length
        values.setdefault(name, 0 if length == 1 else (0,) * length)
    try:
        return world.place(Object(0, look.class_name, **values)) is not None
    except (ArithmeticError, LookupError, ValueError):  # `place` may reject zeros
        return True


# ------------------------------------------------------------------- escape codes


def mix(colour: Colour, share: float, other: Colour = FLOOR_COLOUR) -> Colour:
    """Mix two colours; `share` is the proportion of the first."""
    red, green, blue = (
        round(share * a + (1 - share) * b) for a, b in zip(colour, other, strict=True)
    )
    return red, green, blue


def width_of(line: Line) -> int:
    """Return the number of columns of a line."""
    return sum(len(span.text) for span in line)


def encode(lines: Iterable[Line], colour: bool) -> str:
    """Return the lines as one text, with or without escape codes for 24-bit colours."""
    if not colour:
        return "\n".join("".join(printable(span.text) for span in line).rstrip() for line in lines)
    return "\n".join(_with_codes(line) for line in lines)


def _with_codes(line: Line) -> str:
    text, current = "", ""
    for span in line:
        codes = _codes(span)
        if codes != current:
            text += ("\x1b[0m" if current else "") + (f"\x1b[{codes}m" if codes else "")
            current = codes
        text += printable(span.text)
    return text + ("\x1b[0m" if current else "")


def _codes(span: Span) -> str:
    codes = ["1"] if span.bold else []
    for kind, colour in (("38", span.colour), ("48", span.background)):
        if colour is not None:
            codes.append(f"{kind};2;{colour[0]};{colour[1]};{colour[2]}")
    return ";".join(codes)
