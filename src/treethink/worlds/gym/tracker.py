"""Stable ids for the objects of a source that has none.

    things of one moment -> [ Tracker ] -> Objects, with the ids of the moment before

A source such as a picture, a grid of codes or a list of obstacles says what there is, and not which
is which. The tracker pairs the things of a class with those of the moment before such that they
move, in total, as little as possible. Things that are as they were keep their ids, lower ids first
where several are alike; other ties are broken in a fixed way. What moves further than to its
neighbour's old place is so confused with the neighbour: let the source number its objects where it
can.
"""

from __future__ import annotations

from collections import deque
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
        now = [_as_object(i, each) for i, each in enumerate(things)]
        _check_attributes([*self._known, *now])
        if self._known:
            _check_counts(self._known, now)
            now = [
                paired
                for name in dict.fromkeys(each.class_name for each in self._known)
                for paired in _paired(_of_class(self._known, name), _of_class(now, name))
            ]
        self._known = sorted(now, key=lambda each: each.id)
        return list(self._known)


def is_thing(thing: Any) -> bool:
    """Return whether it is a pair of a class and its values."""
    is_pair = isinstance(thing, tuple | list) and len(thing) == 2
    return is_pair and isinstance(thing[0], str) and isinstance(thing[1], Mapping)


def _as_object(id_: int, thing: Any) -> Object:
    """Return a thing as an object, which also makes plain values of its arrays."""
    if not is_thing(thing) or not all(isinstance(each, str) for each in thing[1]):
        raise WrongTypeError(
            f'a thing is a pair such as ("crab", {{"pos": (0, 0)}}), got {shown(thing)}'
        )
    return Object(id_, thing[0], **thing[1])


def _of_class(objects: Iterable[Object], name: str) -> list[Object]:
    return [each for each in objects if each.class_name == name]


def _check_attributes(objects: Iterable[Object]) -> None:
    """Raise an error if things of one class have different attributes."""
    firsts: dict[str, Object] = {}
    for each in objects:
        first = firsts.setdefault(each.class_name, each)
        if each.values.keys() != first.values.keys():
            raise StateError(
                f"things of class {each.class_name!r} must all have the same attributes, got"
                f" {sorted(first.values)} and {sorted(each.values)}: {shown(dict(first.values))}"
                f" and {shown(dict(each.values))}"
            )


def _check_counts(known: Sequence[Object], now: Sequence[Object]) -> None:
    """Raise an error if there are more or fewer things of a class than before."""
    for name in sorted({each.class_name for each in [*known, *now]}):
        before, after = len(_of_class(known, name)), len(_of_class(now, name))
        if before != after:
            raise StateError(
                f"there were {before} of class {name!r} and now there are {after}: objects must"
                " stay; tell one that has vanished with an attribute, such as gone, or at a place"
                " outside"
            )


def _paired(old: Sequence[Object], new: Sequence[Object]) -> list[Object]:
    """Return the new objects of a class with the ids of the old ones that they are paired with.

    What is as it was costs nothing, so some cheapest pairing keeps it; only the rest is searched.
    """
    alike: dict[frozenset[tuple[str, Any]], deque[Object]] = {}
    for each in new:
        alike.setdefault(_key(each), deque()).append(each)
    pairs, moved = [], []
    for each in old:
        if same := alike.get(_key(each)):
            pairs.append((each, same.popleft()))
        else:
            moved.append(each)
    taken = {each.id for _, each in pairs}
    rest = [each for each in new if each.id not in taken]
    costs = [[_distance(one, other) for other in rest] for one in moved]
    pairs += [(one, rest[i]) for one, i in zip(moved, cheapest_pairing(costs), strict=True)]
    return [Object(one.id, one.class_name, **other.values) for one, other in pairs]


def _key(each: Object) -> frozenset[tuple[str, Any]]:
    return frozenset(each.values.items())


def _distance(old: Object, new: Object) -> int:
    """Return how far two objects are from each other: the sum over the numbers of their values."""
    total = 0
    for name, value in new.values.items():
        before = old.values[name]
        a = before if isinstance(before, tuple) else (before,)
        b = value if isinstance(value, tuple) else (value,)
        for x, y in zip(a, b, strict=False):
            if isinstance(x, str | bool) or isinstance(y, str | bool):
                total += _OTHER_VALUE * (x != y)
            else:
                total += abs(x - y)
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
