"""Values of attributes, added and turned round: an int, or a tuple of them.

[ vectors ] -> everything here that speaks of differences
"""

from __future__ import annotations

from treethink.rules import Value


def plus(a: Value, b: Value) -> Value:
    """The sum of two values of one length.

    >>> plus((3, 3), (1, 0)), plus(2, -2)
    ((4, 3), 0)
    """
    if isinstance(a, int) or isinstance(b, int):
        assert isinstance(a, int)
        assert isinstance(b, int)
        return a + b
    return tuple(x + y for x, y in zip(a, b, strict=True))


def minus(a: Value, b: Value) -> Value:
    """What must be added to `b` to get `a`.

    >>> minus((3, 3), (1, 0)), minus(2, -2)
    ((2, 3), 4)
    """
    return plus(a, negative(b))


def negative(value: Value) -> Value:
    """The way back.

    >>> negative((1, -2)), negative(3)
    ((-1, 2), -3)
    """
    return -value if isinstance(value, int) else tuple(-each for each in value)


def is_zero(value: Value) -> bool:
    """Whether it is nothing in every direction.

    >>> is_zero((0, 0)), is_zero((0, 1)), is_zero(0)
    (True, False, True)
    """
    return value == 0 if isinstance(value, int) else not any(value)
