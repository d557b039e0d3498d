"""The looks of MiniGrid's objects in our own pictures: colours as in its own.

kind, colour -> [ LOOKS ] -> a sign, a shape, a colour
"""

from __future__ import annotations

from treethink.worlds.looks import (
    BLUE,
    DIM,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    RED,
    WHITE,
    YELLOW,
    Colour,
    Look,
)

_COLOURS: dict[str, Colour] = {
    "red": RED,
    "green": GREEN,
    "blue": BLUE,
    "purple": PURPLE,
    "yellow": YELLOW,
    "grey": DIM,
}
_ITEMS = {"key": ("k", "key"), "ball": ("o", "disc"), "box": ("b", "frame")}
_DOORS = {"open": ("'", "outline"), "closed": ("+", "door"), "locked": ("X", "bar")}
_HEADINGS = {
    (1, 0): (">", "facing-right"),
    (0, 1): ("v", "facing-down"),
    (-1, 0): ("<", "facing-left"),
    (0, -1): ("^", "facing-up"),
}


def _looks() -> tuple[Look, ...]:
    """Return all looks; later ones are drawn on top."""
    looks = [
        Look("_", "floor", "square", BLUE),
        Look("#", "wall", "block", GREY),
        Look("~", "lava", "block", ORANGE),
        Look("G", "goal", "block", GREEN),
        Look("x", "target", "outline", WHITE),
    ]
    for colour, shade in _COLOURS.items():
        for state, (sign, shape) in _DOORS.items():
            looks.append(Look(sign, "door", shape, shade, {"color": colour, "state": state}))
        for kind, (sign, shape) in _ITEMS.items():
            looks.append(Look(sign, "item", shape, shade, {"kind": kind, "color": colour}))
    for heading, (sign, shape) in _HEADINGS.items():
        looks.append(Look(sign, "agent", shape, RED, {"heading": heading}))
    return tuple(looks)


LOOKS = _looks()
