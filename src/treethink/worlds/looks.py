"""What objects look like: one table for the scenes, the terminal and pictures.

    object -> [ look ] -> a sign, a shape, a colour

A world lists its looks once. A scene is read with the signs, a terminal shows them, and a
picture draws the shapes.
"""

from __future__ import annotations

import colorsys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from treethink.state import Object

Colour = tuple[int, int, int]

GREY: Colour = (96, 100, 110)
DIM: Colour = (168, 172, 180)
WHITE: Colour = (236, 236, 240)
RED: Colour = (214, 69, 65)
ORANGE: Colour = (236, 140, 51)
YELLOW: Colour = (235, 195, 50)
GREEN: Colour = (72, 168, 92)
CYAN: Colour = (58, 176, 190)
BLUE: Colour = (64, 110, 214)
PURPLE: Colour = (150, 90, 200)

#: The sign of a cell with nothing in it.
FLOOR = "."
#: The sign of an object that no look fits.
UNKNOWN = "?"


@dataclass(frozen=True, slots=True)
class Look:
    """How the objects of a class look, or those of them that have certain values."""

    sign: str
    class_name: str
    shape: str
    colour: Colour
    values: Mapping[str, int] = field(default_factory=dict)

    def fits(self, each: Object) -> bool:
        """Whether the object looks like this."""
        return each.class_name == self.class_name and all(
            each.values.get(name) == value for name, value in self.values.items()
        )


def look_of(looks: Sequence[Look], each: Object) -> Look:
    """The first look that fits; the table is also the order of drawing, the last on top."""
    for look in looks:
        if look.fits(each):
            return look
    return Look(UNKNOWN, each.class_name, "diamond", RED)


def hue(i: int) -> Colour:
    """The i-th of endlessly many colours, neighbours far apart.

    >>> hue(0), hue(1)
    ((214, 68, 68), (68, 111, 214))
    """
    golden = 0.618033988749895
    red, green, blue = colorsys.hsv_to_rgb(i * golden % 1.0, 0.68, 0.84)
    return int(red * 255), int(green * 255), int(blue * 255)
