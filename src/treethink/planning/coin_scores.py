"""The best and the worst score in `coins`, without visiting every subset of coins.

    state, steps -> distances -> [ most_places ] -> the most coins -> scores

A step into a wall scores -2, a step that picks up a coin +1, and any other -1. So an episode scores
-steps + 2 * (number of coins picked up) - (number of steps into walls).

Optimal: staying is never worse than walking into a wall. So the task is to find the largest number
of cells with coins that a walk of that many steps can enter: an orienteering problem, which
`most_places` solves.

Pessimal: nothing is worse than -2, so beside a wall it is worst to walk into it until the end. A
walk of t steps to such a cell that picks up p coins leads to -2 * steps + t + 2 * p. Removing a
loop makes the walk shorter, and it picks up no more coins. So the worst walk is a shortest path, on
which a cell with a coin costs 3 and any other cell 1. If no wall can be reached, staying is worst.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt

from treethink.errors import ResourceError
from treethink.state import State
from treethink.worlds import World
from treethink.worlds.base import Cell
from treethink.worlds.coins import Coins, CoinsT
from treethink.worlds.grid import beside


def applies_to(world: World) -> TypeGuard[Coins]:
    """Return whether it is `coins` itself, and not a subclass, which may have other rules."""
    return type(world) in (Coins, CoinsT)


def bounds(world: Coins, state: State, steps: int, most_states: int) -> tuple[int, int, int, bool]:
    """Return the pessimal, trivial and optimal score, and whether the last is exact."""
    start: Cell = world.the(state, "player").pos
    walls = {wall.pos for wall in state.of_class("wall")}
    coins = {coin.pos for coin in state.find("coin", used=0)} - walls
    most, exact = _most_coins(start, coins, walls, steps, most_states)
    if start in walls:  # in no level of ours; there, staying counts as walking into a wall
        leaves = any(each not in walls for each in beside(start))
        return -2 * steps, -2 * steps, (-1 if leaves else -2) * steps + 2 * most, exact

    def cost(cell: Cell) -> int:
        return 3 if cell in coins else 1

    distances = _distances(start, walls, steps, most_states, cost)
    to_a_wall = (distances[each] for each in distances if not walls.isdisjoint(beside(each)))
    return -2 * steps + min(to_a_wall, default=steps), -steps, -steps + 2 * most, exact


def _most_coins(
    start: Cell, coins: Set[Cell], walls: Set[Cell], steps: int, most_states: int
) -> tuple[int, bool]:
    """Return the most cells with coins that a walk can enter, and whether that is exact."""
    from_start = _distances(start, walls, steps, most_states)
    if start in coins and len(from_start) > 1:
        from_start[start] = 2  # staying picks up nothing: one must leave and come back
    near = [each for each in sorted(coins) if 0 < from_start.get(each, 0) <= steps]
    unreachable = steps + 1
    between = []
    for each in near:
        row = _distances(each, walls, steps, most_states)
        between.append([row.get(other, unreachable) for other in near])
    return most_places([from_start[each] for each in near], between, steps, most_states)


def _distances(
    start: Cell,
    walls: Set[Cell],
    most: int,
    most_cells: int,
    cost: Callable[[Cell], int] = lambda cell: 1,
) -> dict[Cell, int]:
    """Return the distances of all cells up to `most` (Dijkstra); `cost` is that of entering one."""
    distances: dict[Cell, int] = {}
    frontier = [(0, start)]
    while frontier:
        distance, cell = heapq.heappop(frontier)
        if cell in distances:
            continue
        distances[cell] = distance
        if len(distances) > most_cells:
            raise ResourceError(
                f"world 'coins': more than {most_cells:,} cells are within {most:,} steps, the"
                " most that are looked at; give fewer steps, or a level with a border"
            )
        for each in beside(cell):
            if each not in distances and each not in walls and distance + cost(each) <= most:
                heapq.heappush(frontier, (distance + cost(each), each))
    return distances


# ------------------------------------------------------------------------------------------- tours
#
# The largest number of places that a walk of limited length can visit, by the Held-Karp algorithm:
# for every set of places, and every place in it where the walk may end, it computes the fewest
# steps that visit the set and end there. Sets are built layer by layer, those of k places in the
# k-th layer, and a set that takes more than the allowed steps is dropped.
#
# A walk that passes a place visits it. So there is no need to go from i to j while a place k on a
# shortest path between them (d(i, k) + d(k, j) = d(i, j)) is unvisited: going to k first is as
# short, and visits more. In the corridors of a maze this leaves few sets; the worst case is 2^n.
#
# Measured, for 20 places: 10 ms in the paper's levels of 16 x 16, 0.2 s where these have no walls,
# and 1.4 s and 40 MB where no place lies between others, which is the worst case.

_Array = npt.NDArray[Any]

_MOST_PLACES = 64  # bits of a set
_BLOCK = 2**13  # sets that are extended together: they fit into a processor's cache


def most_places(
    first: Sequence[int], between: Sequence[Sequence[int]], steps: int, most_sets: int
) -> tuple[int, bool]:
    """Return the most places of a walk, and whether that is exact or an upper bound.

    Parameters
    ----------
    first
        The distance of each place from the start: at least 1, and at most `steps`.
    between
        The distances between places; any number above `steps` if they are too far apart.
    most_sets
        The most sets that are built. 2^n is enough for any n places, so 2,000,000 is for 20; with
        more than 64 places the result is never exact.

    The upper bound: the best walk passes through some set of the last complete layer. Each place
    that it visits later is not in that set, and costs at least its distance from the nearest other
    place or the start. So for each set, the remaining steps allow at most as many further places
    as when the cheapest come first; and the bound is the largest over all sets.

    >>> most_places([2, 3, 4], [[0, 5, 9], [5, 0, 9], [9, 9, 0]], steps=7, most_sets=100)
    (2, True)
    """
    from_start = np.array(first, np.int64)
    distances = np.array(between, np.int64).reshape(len(first), len(first))
    if len(first) > _MOST_PLACES:
        return int(np.sum(np.cumsum(np.sort(_nearest(from_start, distances))) <= steps)), False
    graph = _Graph.of(from_start, distances, steps)
    layer = graph.first_layer()
    built = 0
    while layer.sets.size:
        built += layer.sets.size
        following = graph.next_layer(layer, most_sets - built)
        if following is None:
            most = graph.bound(layer)
            return most, most == layer.places
        if not following.sets.size:
            return layer.places, True
        layer = following
    return 0, True


@dataclass(frozen=True, slots=True)
class _Layer:
    """Sets of equally many places, sorted, and the fewest steps by the last place."""

    places: int
    sets: _Array  # bit sets of places
    steps: _Array  # places x sets


@dataclass(frozen=True, slots=True)
class _Graph:
    """The distances of the places, and which places lie on a shortest path between others."""

    steps: int
    first: _Array
    between: _Array
    passed_first: _Array  # for each place, the set of places on the way from the start
    passed: _Array  # the same from place (row) to place (column)
    bits: _Array  # the set that holds only that place

    @classmethod
    def of(cls, first: _Array, between: _Array, steps: int) -> _Graph:
        n, unreachable = len(first), steps + 1
        number = np.min_scalar_type(2 * unreachable)  # the sum of two must fit
        bits = np.left_shift(1, np.arange(n, dtype=np.uint64), dtype=np.uint64)
        bits = bits.astype(np.uint32 if n <= 32 else np.uint64)
        passed = np.array([_passed(row, between, bits) for row in between])
        return cls(
            steps,
            np.minimum(first, unreachable).astype(number),
            np.minimum(between, unreachable).astype(number),
            _passed(first, between, bits),
            passed.reshape(n, n).astype(bits.dtype),
            bits,
        )

    def first_layer(self) -> _Layer:
        """Return the sets of one place that a walk may visit first."""
        places = np.flatnonzero((self.passed_first == 0) & (self.first <= self.steps))
        steps = np.full((len(self.first), len(places)), self.steps + 1, self.first.dtype)
        steps[places, np.arange(len(places))] = self.first[places]
        return _Layer(1, self.bits[places], steps)

    def next_layer(self, layer: _Layer, most_sets: int) -> _Layer | None:
        """Return all sets with one more place; None if there are more than `most_sets`."""
        n, left = len(self.first), most_sets * (layer.places + 1)
        extended: list[list[tuple[_Array, _Array]]] = [[] for _ in range(n)]
        for begin in range(0, layer.sets.size, _BLOCK):
            part = slice(begin, begin + _BLOCK)
            for place in range(n):
                extended[place].append(self._visit(place, layer.sets[part], layer.steps[:, part]))
                left -= extended[place][-1][0].size
            if left < 0:  # each set is built at most once for each of its places
                return None
        by_place = [tuple(map(np.concatenate, zip(*each, strict=True))) for each in extended]
        sets = _sorted_unique(np.concatenate([each for each, _ in by_place]))
        if sets.size > most_sets:
            return None
        steps = np.full((n, sets.size), self.steps + 1, self.first.dtype)
        for place, (own, fewest) in enumerate(by_place):
            steps[place, np.searchsorted(sets, own)] = fewest
        return _Layer(layer.places + 1, sets, steps)

    def bound(self, layer: _Layer) -> int:
        """Return an upper bound of the places of a walk through a layer; see `most_places`."""
        left = self.steps - layer.steps.min(axis=0).astype(np.int64)
        places = np.full(layer.sets.size, layer.places)
        nearest = _nearest(self.first.astype(np.int64), self.between.astype(np.int64))
        for place in np.argsort(nearest):
            visits = ((layer.sets & self.bits[place]) == 0) & (nearest[place] <= left)
            left -= visits * nearest[place]
            places += visits
        return int(places.max())

    def _visit(self, place: int, sets: _Array, steps: _Array) -> tuple[_Array, _Array]:
        """Return the sets extended by a place, and the fewest steps that end there."""
        without = np.flatnonzero((sets & self.bits[place]) == 0)
        sets = sets[without]
        fewest = steps[:, without] + self.between[:, place, None]
        fewest[(self.passed[:, place, None] & ~sets) != 0] = self.steps + 1
        best = fewest.min(axis=0, initial=self.steps + 1)
        near = np.flatnonzero(best <= self.steps)
        return sets[near] | self.bits[place], best[near]


def _passed(row: _Array, between: _Array, bits: _Array) -> _Array:
    """Return for each place the set of others on the way there; `row` are distances from a point.

    If the point is a place, it is in the sets itself. That is harmless, since it has been visited.
    """
    on_the_way = row[:, None] + between == row
    np.fill_diagonal(on_the_way, False)
    sets = np.where(on_the_way, bits[:, None], bits.dtype.type(0))
    return np.asarray(sets.sum(0, dtype=bits.dtype))


def _sorted_unique(sets: _Array) -> _Array:
    """Return the sets sorted and without duplicates; several times as fast as `np.unique`."""
    sets.sort()
    new = np.append(True, sets[1:] != sets[:-1])[: sets.size]
    return np.asarray(sets[new])


def _nearest(first: _Array, between: _Array) -> _Array:
    """Return the distance of each place from the nearest other one or the start."""
    farthest = max(first.max(initial=0), between.max(initial=0))
    others = between + np.diag(np.full(len(first), farthest))
    return np.asarray(np.minimum(first, others.min(axis=0, initial=farthest)))
