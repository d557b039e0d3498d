"""Arithmetic on attribute values: a value is an int, or a tuple of them."""

from __future__ import annotations

from treethink.rules import Value


def plus(a: Value, b: Value) -> Value:
    """Return the sum of two values of the same length.

    >>> plus((3, 3), (1, 0)), plus(2, -2)
    ((4, 3), 0)
    """
    if isinstance(a, int) or isinstance(b, int):
        assert isinstance(a, int)
        assert isinstance(b, int)
        return a + b
    return tuple(x + y for x, y in zip(a, b, strict=True))


def minus(a: Value, b: Value) -> Value:
    """Return the difference `a - b`.

    >>> minus((3, 3), (1, 0)), minus(2, -2)
    ((2, 3), 4)
    """
    return plus(a, negative(b))


def negative(value: Value) -> Value:
    """Return the value with its sign reversed.

    >>> negative((1, -2)), negative(3)
    ((-1, 2), -3)
    """
    return -value if isinstance(value, int) else tuple(-each for each in value)


def is_zero(value: Value) -> bool:
    """Whether every component is zero.

    >>> is_zero((0, 0)), is_zero((0, 1)), is_zero(0)
    (True, False, True)
    """
    return value == 0 if isinstance(value, int) else not any(value)
