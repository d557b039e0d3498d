"""Positions and steps in words: left, right, up and down.

An attribute is taken for a position if its values have two components and the last word of its
name is one of those below: `pos`, `position`, `xy`, also `start_pos`. The first component grows to
the right and the second downwards, as on a screen: up is (0, -1).
"""

import re

from treethink.rules import Value

__all__ = ["is_position", "place", "steps"]

_NAMES = {
    "at", "cell", "coord", "coordinate", "coordinates", "coords", "loc", "location", "place",
    "point", "pos", "position", "square", "tile", "where", "xy",
}  # fmt: skip


def is_position(attribute: str, value: Value) -> bool:
    """Whether the attribute, which has `value` as one of its values, is a position.

    >>> is_position("pos", (3, 4)), is_position("start_pos", (3, 4)), is_position("hat", (3, 4))
    (True, True, False)
    >>> is_position("pos", 3)
    False
    """
    last = re.split(r"[-_ .]", attribute.lower())[-1]
    return isinstance(value, tuple) and len(value) == 2 and last in _NAMES


def steps(by: tuple[int, ...]) -> str:
    """Return a step in words.

    >>> steps((1, 0)), steps((0, -2)), steps((-1, 3))
    ('1 right', '2 up', '1 left and 3 down')
    """
    directions = (("left", "right"), ("up", "down"))
    parts = [f"{abs(n)} {words[n > 0]}" for n, words in zip(by, directions, strict=True) if n]
    return " and ".join(parts)


def place(by: tuple[int, ...], of: str) -> str:
    """Return the position of something that lies `by` away from `of`.

    >>> place((1, 0), "it"), place((0, -1), "it"), place((0, 2), "that door")
    ('directly to the right of it', 'directly above it', '2 below that door')
    >>> place((0, 0), "it"), place((2, -1), "it")
    ('where it is', '2 right and 1 up from it')
    """
    if not any(by):
        return f"where {of} is"
    if all(by):
        return f"{steps(by)} from {of}"
    words = ("to the left of", "to the right of") if by[0] else ("above", "below")
    direction = words[sum(by) > 0]
    distance = "directly" if abs(sum(by)) == 1 else str(abs(sum(by)))
    return f"{distance} {direction} {of}"
