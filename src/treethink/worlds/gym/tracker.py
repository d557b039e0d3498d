"""Stable ids for the objects of a source that has none.

    things of one moment -> [ Tracker ] -> Objects, with the ids of the moment before

A source such as a picture, a grid of codes or a list of obstacles says what there is, and not which
is which. The tracker pairs the things of a class with those of the moment before such that they
move, in total, as little as possible; among equal pairings it takes the one in which lower ids have
the earlier things. What moves further than to its neighbour's old place is so confused with the
neighbour: let the source number its objects where it can.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from treethink.errors import StateError, WrongTypeError, shown
from treethink.state import Object
from treethink.worlds.scene import Thing

#: What another name or flag costs, in cells: as much as a move across any grid.
_OTHER_VALUE = 1_000


class Tracker:
    """Gives things their ids: new ones after `start`, and then the nearest of the same class.

    Examples
    --------
    >>> tracker = Tracker()
    >>> tracker.track([("crab", {"pos": (0, 0)}), ("crab", {"pos": (5, 0)})])
    [Object(0, 'crab', pos=(0, 0)), Object(1, 'crab', pos=(5, 0))]
    >>> tracker.track([("crab", {"pos": (4, 0)}), ("crab", {"pos": (0, 1)})])
    [Object(0, 'crab', pos=(0, 1)), Object(1, 'crab', pos=(4, 0))]
    """

    def __init__(self) -> None:
        self._known: list[Object] = []

    def start(self) -> None:
        """Forget all things: an episode begins."""
        self._known = []

    def track(self, things: Iterable[Thing]) -> list[Object]:
        """Return the things as objects, in the order of their ids."""
        now = [_checked(each) for each in things]
        if not self._known:
            self._known = [Object(i, name, **values) for i, (name, values) in enumerate(now)]
            return list(self._known)
        _check_counts(self._known, now)
        objects: list[Object] = []
        for name in dict.fromkeys(each.class_name for each in self._known):
            old = [each for each in self._known if each.class_name == name]
            new = [values for own, values in now if own == name]
            costs = [[_distance(each.values, values) for values in new] for each in old]
            pairs = zip(old, cheapest_pairing(costs), strict=True)
            objects += [Object(each.id, name, **new[which]) for each, which in pairs]
        self._known = sorted(objects, key=lambda each: each.id)
        return list(self._known)


def is_thing(thing: Any) -> bool:
    """Return whether it is a pair of a class and its values."""
    is_pair = isinstance(thing, tuple | list) and len(thing) == 2
    return is_pair and isinstance(thing[0], str) and isinstance(thing[1], Mapping)


def _checked(thing: Any) -> Thing:
    if not is_thing(thing):
        raise WrongTypeError(
            f'a thing is a pair such as ("crab", {{"pos": (0, 0)}}), got {shown(thing)}'
        )
    return thing[0], thing[1]


def _check_counts(known: Sequence[Object], now: Sequence[Thing]) -> None:
    """Raise an error if there are more or fewer things of a class than before."""
    for name in sorted({each.class_name for each in known} | {name for name, _ in now}):
        before = sum(each.class_name == name for each in known)
        after = sum(each == name for each, _ in now)
        if before != after:
            raise StateError(
                f"there were {before} of class {name!r} and now there are {after}: objects must"
                " stay; tell one that has vanished with an attribute, such as gone, or at a place"
                " outside"
            )


def _distance(old: Mapping[str, Any], new: Mapping[str, Any]) -> int:
    """Return how far two things are from each other: the sum over the numbers of their values."""
    total = 0
    for name, value in new.items():
        a = old[name] if isinstance(old[name], tuple) else (old[name],)
        b = value if isinstance(value, Sequence) and not isinstance(value, str) else (value,)
        for x, y in zip(a, b, strict=False):
            named = isinstance(x, str | bool) or isinstance(y, str | bool)
            total += _OTHER_VALUE * (x != y) if named else abs(int(x) - int(y))
    return total


def cheapest_pairing(costs: Sequence[Sequence[int]]) -> list[int]:
    """Return for each row a column of its own, such that the sum of their costs is the least.

    This is the Hungarian method: rows are added one by one along cheapest alternating paths.

    >>> cheapest_pairing([[1, 2], [1, 9]])
    [1, 0]
    """
    n = len(costs)
    row_price, column_price = [0] * (n + 1), [0] * (n + 1)
    row_of = [n] * (n + 1)  # by column; n: none
    for row in range(n):
        row_of[n], column = row, n
        least, back, used = [1 << 62] * n, [n] * n, [False] * (n + 1)
        while row_of[column] != n:
            used[column] = True
            here, step, following = row_of[column], 1 << 62, n
            for each in range(n):
                if not used[each]:
                    reduced = costs[here][each] - row_price[here] - column_price[each]
                    if reduced < least[each]:
                        least[each], back[each] = reduced, column
                    if least[each] < step:
                        step, following = least[each], each
            for each in range(n + 1):
                if used[each]:
                    row_price[row_of[each]] += step
                    column_price[each] -= step
                elif each < n:
                    least[each] -= step
            column = following
        while column != n:
            row_of[column], column = row_of[back[column]], back[column]
    pairing = [0] * n
    for column in range(n):
        pairing[row_of[column]] = column
    return pairing
