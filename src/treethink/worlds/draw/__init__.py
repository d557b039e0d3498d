"""Pictures of states: as text for a terminal, and as pixels.

    world, state -> layout -> [ draw ] -> text, pixels

    ansi        one state as text
    rgb_array   one state as pixels
    compare     truth and prediction side by side, differences marked, as text or pixels
    boards      states side by side, each with a caption, as text; `boards_svg` as SVG
    legend      the meaning of the signs of a world

This package does not depend on any particular world: of a world it uses only the schema, the looks,
`place` and `frame`.
"""

from treethink.worlds.draw.boards import boards, boards_svg
from treethink.worlds.draw.compare import compare
from treethink.worlds.draw.layout import MAX_CELLS, Window, extent, items
from treethink.worlds.draw.pixels import rgb_array
from treethink.worlds.draw.shapes import SHAPES
from treethink.worlds.draw.text import ansi, legend

__all__ = [
    "ansi",
    "rgb_array",
    "compare",
    "boards",
    "boards_svg",
    "legend",
    "SHAPES",
    "MAX_CELLS",
    "Window",
    "extent",
    "items",
]
