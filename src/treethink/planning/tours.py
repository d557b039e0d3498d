"""How many of some places can be visited by a walk of so many steps.

    distances, steps -> [ most_places ] -> how many, and whether that is exact

By Held and Karp: for every set of places, and every place of it where the walk may stand, the
fewest steps that visit the set and end there. Sets are met layer by layer, those of k places
in the k-th, and a set that takes more steps than there are is dropped.

A walk that passes a place visits it. So nobody goes from i to j while a place k on a shortest
way between them (d(i, k) + d(k, j) = d(i, j)) was not visited: to go to k first is as short, and
visits more. Among the corridors of a maze this leaves few of all sets; the worst case is 2^n.

Measured, for 20 places: 10 ms in the paper's levels of 16 x 16, 0.2 s where these have no walls,
and 1.4 s and 40 MB where no place lies between others, which is the worst case.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

_Array = npt.NDArray[Any]

_MOST_PLACES = 64  # bits of a set
_AT_ONCE = 2**13  # sets: such parts of a layer fit into a processor's cache


def most_places(
    first: Sequence[int], apart: Sequence[Sequence[int]], steps: int, most_sets: int
) -> tuple[int, bool]:
    """The most places of a walk, and whether that is exact or only an upper bound.

    Parameters
    ----------
    first
        How far each place is from the start: at least 1, and at most `steps`.
    apart
        How far places are from each other; what is too far may be any number above `steps`.
    most_sets
        How many sets are looked at. 2^n is enough for any n places, so 2,000,000 is for 20;
        with more than 64 places it is never exact.

    The bound: the best walk goes through some set of the last layer that was looked at. Each
    place that it visits later is none of that set, and takes at least as many steps as it is
    away from the nearest other place or the start. So it visits no more of them than the steps
    that are left allow if the cheapest come first; and the bound is the most over all sets.

    >>> most_places([2, 3, 4], [[0, 5, 9], [5, 0, 9], [9, 9, 0]], steps=7, most_sets=100)
    (2, True)
    """
    from_start = np.array(first, np.int64)
    between = np.array(apart, np.int64).reshape(len(first), len(first))
    if len(first) > _MOST_PLACES:
        return int(np.sum(np.cumsum(np.sort(_nearest(from_start, between))) <= steps)), False
    ways = _Ways.of(from_start, between, steps)
    layer = ways.first_layer()
    met = 0
    while layer.sets.size:
        met += layer.sets.size
        grown = ways.next_layer(layer, most_sets - met)
        if grown is None:
            most = ways.bound(layer)
            return most, most == layer.places
        if not grown.sets.size:
            return layer.places, True
        layer = grown
    return 0, True


@dataclass(frozen=True, slots=True)
class _Layer:
    """Sets of equally many places, in order, and the fewest steps by the place at the end."""

    places: int
    sets: _Array  # numbers whose bits are places
    steps: _Array  # places x sets


@dataclass(frozen=True, slots=True)
class _Ways:
    """How far the places are, and which of them lie on the way."""

    steps: int
    first: _Array
    apart: _Array
    passed_first: _Array  # for each place, the set of those on the way from the start
    passed: _Array  # from place (row) to place (column)
    bits: _Array  # the set of each place alone

    @classmethod
    def of(cls, first: _Array, apart: _Array, steps: int) -> _Ways:
        n, far = len(first), steps + 1
        number = np.min_scalar_type(2 * far)  # the sum of two must fit
        bits = np.left_shift(1, np.arange(n, dtype=np.uint64), dtype=np.uint64)
        bits = bits.astype(np.uint32 if n <= 32 else np.uint64)
        passed = np.array([_passed(row, apart, bits) for row in apart])
        return cls(
            steps,
            np.minimum(first, far).astype(number),
            np.minimum(apart, far).astype(number),
            _passed(first, apart, bits),
            passed.reshape(n, n).astype(bits.dtype),
            bits,
        )

    def first_layer(self) -> _Layer:
        """The places that a walk may visit first."""
        may = np.flatnonzero((self.passed_first == 0) & (self.first <= self.steps))
        steps = np.full((len(self.first), len(may)), self.steps + 1, self.first.dtype)
        steps[may, np.arange(len(may))] = self.first[may]
        return _Layer(1, self.bits[may], steps)

    def next_layer(self, layer: _Layer, most_sets: int) -> _Layer | None:
        """All that one place more makes of a layer; None: more sets than that."""
        n, left = len(self.first), most_sets * (layer.places + 1)
        found: list[list[tuple[_Array, _Array]]] = [[] for _ in range(n)]
        for begin in range(0, layer.sets.size, _AT_ONCE):
            part = slice(begin, begin + _AT_ONCE)
            for place in range(n):
                found[place].append(self._visit(place, layer.sets[part], layer.steps[:, part]))
                left -= found[place][-1][0].size
            if left < 0:  # each set was found at most once for each of its places
                return None
        by_place = [tuple(map(np.concatenate, zip(*each, strict=True))) for each in found]
        sets = _each_once(np.concatenate([each for each, _ in by_place]))
        if sets.size > most_sets:
            return None
        steps = np.full((n, sets.size), self.steps + 1, self.first.dtype)
        for place, (mine, fewest) in enumerate(by_place):
            steps[place, np.searchsorted(sets, mine)] = fewest
        return _Layer(layer.places + 1, sets, steps)

    def bound(self, layer: _Layer) -> int:
        """The most places of a walk that goes through a layer; see `most_places`."""
        left = self.steps - layer.steps.min(axis=0).astype(np.int64)
        places = np.full(layer.sets.size, layer.places)
        nearest = _nearest(self.first.astype(np.int64), self.apart.astype(np.int64))
        for place in np.argsort(nearest):
            visits = ((layer.sets & self.bits[place]) == 0) & (nearest[place] <= left)
            left -= visits * nearest[place]
            places += visits
        return int(places.max())

    def _visit(self, place: int, sets: _Array, steps: _Array) -> tuple[_Array, _Array]:
        """The sets that go on to a place, with it, and the fewest steps to there."""
        without = np.flatnonzero((sets & self.bits[place]) == 0)
        sets = sets[without]
        fewest = steps[:, without] + self.apart[:, place, None]
        fewest[(self.passed[:, place, None] & ~sets) != 0] = self.steps + 1
        best = fewest.min(axis=0, initial=self.steps + 1)
        near = np.flatnonzero(best <= self.steps)
        return sets[near] | self.bits[place], best[near]


def _passed(row: _Array, apart: _Array, bits: _Array) -> _Array:
    """For each place the set of others on the way there, from where `row` is.

    Where that is a place, it is one of them. It was visited, so it does no harm.
    """
    on_the_way = row[:, None] + apart == row
    np.fill_diagonal(on_the_way, False)
    sets = np.where(on_the_way, bits[:, None], bits.dtype.type(0))
    return np.asarray(sets.sum(0, dtype=bits.dtype))


def _each_once(sets: _Array) -> _Array:
    """In order; several times as fast as `np.unique`."""
    sets.sort()
    new = np.append(True, sets[1:] != sets[:-1])[: sets.size]
    return np.asarray(sets[new])


def _nearest(first: _Array, apart: _Array) -> _Array:
    """How far each place is from the nearest other one, or from the start."""
    farthest = max(first.max(initial=0), apart.max(initial=0))
    others = apart + np.diag(np.full(len(first), farthest))
    return np.asarray(np.minimum(first, others.min(axis=0, initial=farthest)))
