"""The best and the worst score in `coins`, without visiting every subset of coins.

    state, steps -> [ coin_scores ] -> distances -> [ tours ] -> the most coins -> scores

A step into a wall scores -2, a step that picks up a coin +1, and any other -1. So an episode scores
-steps + 2 * (number of coins picked up) - (number of steps into walls).

Optimal: staying is never worse than walking into a wall. So the task is to find the largest number
of cells with coins that a walk of that many steps can enter: see `tours.py`.

Pessimal: nothing is worse than -2, so beside a wall it is worst to walk into it until the end. A
walk of t steps to such a cell that picks up p coins leads to -2 * steps + t + 2 * p. Removing a
loop makes the walk shorter, and it picks up no more coins. So the worst walk is a shortest path, on
which a cell with a coin costs 3 and any other cell 1. If no wall can be reached, staying is worst.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Set
from typing import TypeGuard

from treethink.errors import ResourceError
from treethink.planning.tours import most_places
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
