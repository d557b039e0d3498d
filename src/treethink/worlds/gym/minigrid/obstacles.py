"""How the balls of Dynamic-Obstacles move: the exact distribution over their next places.

    places of the balls, what is free -> [ joint_places ] -> {places: probability}

One after the other, each ball tries a place of the 3 x 3 cells around it, all equally likely, until
one is free; after `TRIES` places in vain it stays. Its own place is not free to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from treethink.worlds.draw.layout import Cell

#: The environment's own limit of 100, and the try that finds it exceeded.
TRIES = 101
#: More joint outcomes than this are not listed.
MOST_OUTCOMES = 5_000

Places = tuple[Cell, ...]


def joint_places(
    places: Sequence[Cell], is_free: Callable[[Cell], bool], size: Cell
) -> dict[Places, float] | None:
    """Return the probability of all places that the balls may take; None if they are too many.

    `is_free` tells of a cell whether there is nothing but balls; `size` is the grid's width and
    height.

    >>> row = {(1, 1), (2, 1), (3, 1)}
    >>> joint_places([(1, 1)], row.__contains__, size=(5, 3))[((2, 1),)]
    0.999993...
    """
    joint: dict[Places, float] = {tuple(places): 1.0}
    for i in range(len(places)):
        following: dict[Places, float] = {}
        for now, chance in joint.items():
            for place, part in _moves(now[i], now, is_free, size).items():
                moved = (*now[:i], place, *now[i + 1 :])
                following[moved] = following.get(moved, 0.0) + chance * part
        if len(following) > MOST_OUTCOMES:
            return None
        joint = following
    return joint


def _moves(
    ball: Cell, balls: Places, is_free: Callable[[Cell], bool], size: Cell
) -> dict[Cell, float]:
    """Return where one ball may go, with probabilities."""
    columns, rows = map(_tried, ball, size)
    near = [(x, y) for x in columns for y in rows]
    free = [each for each in near if each not in balls and is_free(each)]
    stays = (1 - len(free) / len(near)) ** TRIES
    moves = {each: (1 - stays) / len(free) for each in free}
    return {**moves, ball: stays}


def _tried(place: int, size: int) -> range:
    """Return the columns, or rows, that are tried: three of them, cut off at the far edge.

    At the near edge the environment moves them, and cuts off none.

    >>> list(_tried(2, 5)), list(_tried(4, 5)), list(_tried(0, 5))
    ([1, 2, 3], [3, 4], [0, 1, 2])
    """
    first = max(place - 1, 0)
    return range(first, min(first + 3, size))
