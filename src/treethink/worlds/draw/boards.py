"""Several states side by side, each with a caption, such as now and next.

captioned states -> layout -> [ boards ] -> text, SVG
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from treethink.state import State
from treethink.worlds.draw import svg, text
from treethink.worlds.draw.layout import FEW_LINES, Drawable, Window, caption, extent, items


def boards(
    world: Drawable,
    captioned: Iterable[tuple[str, State]],
    colour: bool = True,
    window: Window | None = None,
    lines: int = FEW_LINES,
) -> str:
    """Return the states as text, side by side below their captions, all with the same window."""
    panels = [(title, state, items(world, state)) for title, state in captioned]
    if window is None:
        drawn = [item for _, _, own in panels for item in own]
        window = extent(drawn, frame=world.frame())
    parts = [
        [
            [text.Span(title, bold=True)],
            *text.panel(own, window),
            *text.caption_rows(
                [*caption(world, state, max_lines=lines), *text.stack_captions(own, window)]
            ),
        ]
        for title, state, own in panels
    ]
    return text.encode(text.side_by_side(parts), colour)


def boards_svg(
    world: Drawable, captioned: Sequence[tuple[str, State]], window: Window | None = None
) -> str:
    """Return the states as one SVG, side by side below their captions."""
    return svg.beside([(title, svg.svg(world, state, window=window)) for title, state in captioned])
