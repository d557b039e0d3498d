"""A state as text: a cell is two columns wide, which in a terminal is about a square.

The first column has the sign of what lies on top. The second is a space; where something lies
under it, a line. With colours that is the background too, and a line below the picture says it
in signs: `P on G`. So without colours nothing that matters is lost.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from treethink.state import Object, State
from treethink.worlds.draw.layout import (
    MOST_LINES,
    Cell,
    Drawable,
    Item,
    Told,
    Window,
    caption,
    extent,
    items,
    outside,
)
from treethink.worlds.looks import FLOOR, Colour, Look, completed

FLOOR_COLOUR: Colour = (30, 32, 38)
EDGE_COLOUR: Colour = (236, 140, 51)
WRONG_COLOUR: Colour = (176, 32, 40)
_FLOOR_SIGN: Colour = (78, 82, 92)
_WHITE: Colour = (255, 255, 255)
_MOST_PILES = 4
_MOST_SIGNS = 60


@dataclass(frozen=True, slots=True)
class Span:
    """Text in one style; None is the terminal's own colour."""

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
    lines: int = MOST_LINES,
) -> str:
    """Return the state as text, with or without colours, and a caption below.

    `window` says which cells to show: if it is None, all of them, or as many as is sensible.
    Of what has no place, at most so many `lines` tell.
    """
    drawn = items(world, state)
    shown = extent(drawn, frame=world.frame()) if window is None else window
    told = caption(world, state, most=lines)
    told += [*piles(drawn, shown), *outside(world, state, drawn, shown)]
    return encoded([*panel(drawn, shown), *captions(told)], colour)


def panel(drawn: Sequence[Item], shown: Window, wrong: Collection[Cell] = ()) -> list[Line]:
    """Return the cells of a window, line by line; those that are `wrong` are marked.

    On the sides where something lies outside it gets an edge with arrows that point there.
    """
    stacks: defaultdict[Cell, list[Item]] = defaultdict(list)
    arrows: dict[Cell, Span] = {}
    for item in drawn:
        if item.cell in shown:
            stacks[item.cell].append(item)
        else:
            arrows[shown.nearest(item.cell)] = _arrow(item.cell, shown)
    if not shown.width:
        return []
    columns = [*(x for x, _ in arrows), shown.left, shown.left + shown.width - 1]
    rows = [*(y for _, y in arrows), shown.top, shown.top + shown.height - 1]
    return [
        [
            _cell(stacks.get((x, y), ()), (x, y) in wrong)
            if (x, y) in shown
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
        return Span(text, look.colour, mixed(stack[-2].look.colour, 0.4), bold=True)
    if look.shape == "block":
        return Span(text, mixed(look.colour, 0.55), look.colour)
    return Span(text, look.colour, FLOOR_COLOUR, bold=True)


def _sign(item: Item) -> str:
    return item.look.sign[:1] or " "


def piles(drawn: Sequence[Item], shown: Window) -> list[Told]:
    """Return a line about cells with several things, from the top down: `P on G`."""
    stacks: defaultdict[Cell, list[Item]] = defaultdict(list)
    for item in drawn:
        if item.cell in shown:
            stacks[item.cell].append(item)
    cells = sorted((y, x) for (x, y), stack in stacks.items() if len(stack) > 1)
    said = [" on ".join(map(_sign, reversed(stacks[x, y]))) for y, x in cells[:_MOST_PILES]]
    more = len(cells) - len(said)
    return [Told(", ".join(said) + (f" and {more} more" if more else ""))] if said else []


def _arrow(cell: Cell, shown: Window) -> Span:
    x, y = shown.nearest(cell)
    if shown.left <= x < shown.left + shown.width:
        sign = "^" if y < shown.top else "v"
    else:
        sign = "<" if x < shown.left else ">"
    return Span(f"{sign} ", EDGE_COLOUR, bold=True)


def captions(told: Iterable[Told]) -> list[Line]:
    """Return the lines of a caption; those about wrong predictions are marked."""
    return [
        [Span(f"{each.text} !", _WHITE, WRONG_COLOUR, bold=True) if each.wrong else Span(each.text)]
        for each in told
    ]


# -------------------------------------------------------------------------- signs


def legend(world: Drawable) -> str:
    """Return the meaning of the signs, in order from the top.

    >>> from treethink.worlds import make
    >>> legend(make("coins"))
    'P player, C coin (used 0), c coin (used 1), # wall'
    """
    return ", ".join(meanings(world))


def meanings(world: Drawable) -> list[str]:
    """Return the entries of the legend; the last counts the rest if there are too many."""
    looks = [
        look
        for look in completed(world.looks, world.schema.classes)
        if look.class_name in world.schema.classes and _has_place(world, look)
    ]
    said = []
    for name in dict.fromkeys(look.class_name for look in reversed(looks)):
        alike = [look for look in looks if look.class_name == name]
        said += [_meaning(look) for look in sorted(alike, key=lambda each: [*each.values.values()])]
    more = len(said) - _MOST_SIGNS
    return [*said[:_MOST_SIGNS], f"and {more} more"] if more > 0 else said


def _meaning(look: Look) -> str:
    values = ", ".join(f"{name} {value}" for name, value in look.values.items())
    return f"{look.sign} {look.class_name}" + (f" ({values})" if values else "")


def _has_place(world: Drawable, look: Look) -> bool:
    """Return whether objects with this look have a place, tested with one of zeros."""
    schema, values = world.schema, dict[str, int | tuple[int, ...]](look.values)
    for name in schema.classes[look.class_name]:
        length = schema.attributes[name].length
        values.setdefault(name, 0 if length == 1 else (0,) * length)
    try:
        return world.place(Object(0, look.class_name, **values)) is not None
    except (ArithmeticError, LookupError, ValueError):  # of other values than its own
        return True


# ------------------------------------------------------------------------- as codes


def mixed(colour: Colour, share: float, other: Colour = FLOOR_COLOUR) -> Colour:
    """Mix two colours; `share` is that of the first."""
    red, green, blue = (
        round(share * a + (1 - share) * b) for a, b in zip(colour, other, strict=True)
    )
    return red, green, blue


def width_of(line: Line) -> int:
    """Return the number of columns of a line."""
    return sum(len(span.text) for span in line)


def encoded(lines: Iterable[Line], colour: bool) -> str:
    """Return the lines as one text, with or without escape codes for 24-bit colours."""
    if not colour:
        return "\n".join("".join(span.text for span in line).rstrip() for line in lines)
    return "\n".join(_with_codes(line) for line in lines)


def _with_codes(line: Line) -> str:
    text, now = "", ""
    for span in line:
        codes = _codes(span)
        if codes != now:
            text += ("\x1b[0m" if now else "") + (f"\x1b[{codes}m" if codes else "")
            now = codes
        text += span.text
    return text + ("\x1b[0m" if now else "")


def _codes(span: Span) -> str:
    codes = ["1"] if span.bold else []
    for kind, colour in (("38", span.colour), ("48", span.background)):
        if colour is not None:
            codes.append(f"{kind};2;{colour[0]};{colour[1]};{colour[2]}")
    return ";".join(codes)
