"""The looks of objects, shared by scenes, terminal and pictures.

    object -> [ look ] -> a sign, a shape, a colour

A world lists its looks once. Scenes and terminals use the signs, pictures use the shapes. Classes
without a look get one from `with_default_looks`.
"""

from __future__ import annotations

import colorsys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from string import ascii_letters, ascii_uppercase, digits, punctuation

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

#: The sign of an empty cell.
FLOOR = "."
#: The sign of an object without a look.
UNKNOWN = "?"

_DEFAULT_SHAPES = ("disc", "diamond", "square", "ring", "star", "cross")


@dataclass(frozen=True, slots=True)
class Look:
    """The look of the objects of a class, or of those with certain values."""

    sign: str
    class_name: str
    shape: str
    colour: Colour
    values: Mapping[str, int | str | tuple[int, ...]] = field(default_factory=dict)

    def fits(self, each: Object) -> bool:
        """Return whether the object has this look."""
        return each.class_name == self.class_name and all(
            each.values.get(name) == value for name, value in self.values.items()
        )


def look_of(looks: Sequence[Look], each: Object) -> Look:
    """Return the first look that fits the object."""
    for look in looks:
        if look.fits(each):
            return look
    return Look(UNKNOWN, each.class_name, "diamond", RED)


def with_default_looks(looks: Sequence[Look], classes: Collection[str]) -> tuple[Look, ...]:
    """Return the looks in drawing order, including a default one for every class without a look.

    Default looks are drawn below the others, and those of later classes below those of earlier
    ones, since schemas usually list acting objects first. The default sign is the first unused
    letter of the class name; shape and colour depend on its position in the schema. A `wall` is
    a grey block.

    >>> [look.sign for look in with_default_looks((), ["boat", "buoy", "boot", "wall"])]
    ['#', 'O', 'U', 'B']
    """
    known = {look.class_name for look in looks}
    used_signs = {FLOOR, UNKNOWN, *(look.sign for look in looks)}
    defaults = []
    for i, name in enumerate(classes):
        if name not in known:
            defaults.append(_default_look(name, i, used_signs))
            used_signs.add(defaults[-1].sign)
    return (*reversed(defaults), *looks)


def _default_look(name: str, i: int, used_signs: Collection[str]) -> Look:
    if name == "wall" and "#" not in used_signs:
        return Look("#", name, "block", GREY)
    letters = [each for each in name.upper() if each in ascii_uppercase]
    candidates = [*letters, *ascii_uppercase, *ascii_letters, *digits, *punctuation]
    sign = next((each for each in candidates if each not in used_signs), UNKNOWN)
    return Look(sign, name, _DEFAULT_SHAPES[i % len(_DEFAULT_SHAPES)], hue(i))


def hue(i: int) -> Colour:
    """Return the i-th colour of an endless sequence, in which neighbours differ clearly.

    >>> hue(0), hue(1)
    ((214, 68, 68), (68, 111, 214))
    """
    golden = 0.618033988749895
    red, green, blue = colorsys.hsv_to_rgb(i * golden % 1.0, 0.68, 0.84)
    return int(red * 255), int(green * 255), int(blue * 255)
