"""Pictures of states: as text for a terminal, and as pixels.

    world, state -> layout -> [ draw ] -> text, pixels

    ansi        one state as text
    rgb_array   one state as pixels
    compare     what happened beside what was predicted, differences marked; either way
    legend      what the signs of a world mean

Nothing here knows any world: its looks, `place` and `frame` are all that is asked.
"""

from treethink.worlds.draw.compare import compare
from treethink.worlds.draw.layout import MOST_CELLS, Window, extent, items
from treethink.worlds.draw.pixels import rgb_array
from treethink.worlds.draw.shapes import SHAPES
from treethink.worlds.draw.text import ansi, legend

__all__ = [
    "ansi",
    "rgb_array",
    "compare",
    "legend",
    "SHAPES",
    "MOST_CELLS",
    "Window",
    "extent",
    "items",
]
