"""The elements of pictures: a card, text, arrows, bars, and pictures within pictures.

The card has its own background, so that a picture looks the same on light and dark pages. Text
stays text. Lengths are pixels, y grows downwards, and every function returns pieces of SVG.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from treethink.export.boxes import PAPER  # the background of trees too
from treethink.text import escaped

WIDTH = 720.0
EDGE, INK, GREY, LINE = "#d9d5cc", "#2b3038", "#6b717b", "#c3c7cd"
YES, NO = "#2f7d4f", "#b0483c"
#: Colours of the variables X0, X1 and X2.
TONES = ("#c2570c", "#1668b8", "#7a3fb0")
MONO = "ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace"
SANS = "system-ui, -apple-system, Segoe UI, Helvetica, Arial, DejaVu Sans, sans-serif"
SIZE = 13.0


def card(title: str, height: float, parts: Iterable[str]) -> str:
    """Return the whole picture. The title is for screen readers."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:.0f} {height:.0f}" '
        f'width="{WIDTH:.0f}" height="{height:.0f}" role="img" font-family="{SANS}" '
        f'font-size="{SIZE:g}">\n<title>{escaped(title)}</title>\n'
        f'<rect x="1" y="1" width="{WIDTH - 2:.0f}" height="{height - 2:.0f}" rx="12" '
        f'fill="{PAPER}" stroke="{EDGE}"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def text(
    x: float,
    y: float,
    line: str,
    colour: str = INK,
    *,
    size: float = SIZE,
    anchor: str = "start",
    bold: bool = False,
    mono: bool = False,
) -> str:
    """Return one line of text; `mono` is for formulas."""
    look = ' font-weight="600"' if bold else ""
    look += f' font-family="{MONO}" xml:space="preserve"' if mono else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" font-size="{size:g}" '
        f'text-anchor="{anchor}"{look}>{_variables(line)}</text>'
    )


def lines(x: float, y: float, rows: Sequence[str], colour: str = INK, **look: object) -> list[str]:
    """Return several lines, one below the other."""
    return [text(x, y + 18 * i, each, colour, **look) for i, each in enumerate(rows)]  # type: ignore[arg-type]


def _variables(line: str) -> str:
    """Give each variable the colour that its objects have in the level."""
    return re.sub(
        r"\bX([0-2])\b",
        lambda match: f'<tspan fill="{TONES[int(match[1])]}" font-weight="600">{match[0]}</tspan>',
        escaped(line),
    )


def box(
    x: float,
    y: float,
    width: float,
    height: float,
    fill: str = "#ffffff",
    stroke: str = EDGE,
    corner: float = 6,
) -> str:
    """Return a rectangle with rounded corners."""
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{corner:g}" '
        f'fill="{fill}" stroke="{stroke}"/>'
    )


def line(
    points: Iterable[tuple[float, float]], colour: str, width: float = 1.5, dash: str = ""
) -> str:
    """Return a line through the points."""
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="{width:g}" '
        f'stroke-linejoin="round" stroke-linecap="round"{dashes}/>'
    )


def arrow(start: tuple[float, float], end: tuple[float, float], colour: str = GREY) -> str:
    """Return a straight arrow with its head at the end."""
    (x, y), (to_x, to_y) = start, end
    length = max(((to_x - x) ** 2 + (to_y - y) ** 2) ** 0.5, 1e-9)
    u, v = (to_x - x) / length, (to_y - y) / length
    head = [
        (to_x - 8 * u - 5 * v, to_y - 8 * v + 5 * u),
        end,
        (to_x - 8 * u + 5 * v, to_y - 8 * v - 5 * u),
    ]
    return line([start, end], colour, 2) + line(head, colour, 2)


def size_of(svg: str) -> tuple[float, float]:
    """Return the width and height of an SVG."""
    wide, high = (re.search(rf'<svg[^>]* {side}="([\d.]+)"', svg) for side in ("width", "height"))
    assert wide is not None and high is not None
    return float(wide[1]), float(high[1])


def placed(svg: str, x: float, y: float, scale: float = 1.0) -> str:
    """Return an SVG as a part of another, with its upper left corner at (x, y)."""
    wide, high = size_of(svg)
    end = svg.index(">")
    view = re.search(r'viewBox="[^"]*"', svg[:end])
    assert view is not None
    opened = (
        f'<svg x="{x:.1f}" y="{y:.1f}" width="{wide * scale:.1f}" height="{high * scale:.1f}" '
        f"{view[0]}>"
    )
    return opened + svg[end + 1 :].rstrip()
