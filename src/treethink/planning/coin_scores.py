"""The best and the worst score in `coins`, without looking at every subset of coins.

    state, steps -> [ coins ] -> distances -> [ tours ] -> the most coins -> scores

A step scores -2 into a wall, +1 if it picks up a coin, and -1 otherwise. So an episode scores
-steps + 2 * (times that coins were picked up) - (steps into walls).

Optimal. Who stays instead of walking into a wall loses nothing, so what is left to find is the
most cells with coins that a walk of so many steps enters: see `tours.py`.

Pessimal. Nothing is worse than -2, so who is beside a wall had best walk into it until the end.
A walk of t steps to such a cell that picks up p coins leads to -2 * steps + t + 2 * p. Without
its detours, from a cell back to that cell, it is shorter and picks up no more; so it is a
shortest path, where a cell with a coin counts 3 and any other 1. Who has no wall within reach
stays.
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


def knows(world: World) -> TypeGuard[Coins]:
    """Whether it is `coins` itself, and not something that may play by other rules."""
    return type(world) in (Coins, CoinsT)


def bounds(world: Coins, state: State, steps: int, most_states: int) -> tuple[int, int, int, bool]:
    """The pessimal, trivial and optimal score, and whether the last is exact."""
    start: Cell = world.the(state, "player").pos
    walls = {wall.pos for wall in state.of_class("wall")}
    coins = {coin.pos for coin in state.find("coin", used=0)} - walls
    most, exact = _most_coins(start, coins, walls, steps, most_states)
    if start in walls:  # which no level has: there, to stay is to walk into a wall
        leaves = any(each not in walls for each in beside(start))
        return -2 * steps, -2 * steps, (-1 if leaves else -2) * steps + 2 * most, exact

    def price(cell: Cell) -> int:
        return 3 if cell in coins else 1

    away = _distances(start, walls, steps, most_states, price)
    to_a_wall = (away[each] for each in away if not walls.isdisjoint(beside(each)))
    return -2 * steps + min(to_a_wall, default=steps), -steps, -steps + 2 * most, exact


def _most_coins(
    start: Cell, coins: Set[Cell], walls: Set[Cell], steps: int, most_states: int
) -> tuple[int, bool]:
    """The most cells with coins that a walk of so many steps enters; whether that is exact."""
    away = _distances(start, walls, steps, most_states)
    if start in coins and len(away) > 1:
        away[start] = 2  # staying picks up nothing: one must leave, and come back
    near = [each for each in sorted(coins) if 0 < away.get(each, 0) <= steps]
    far = steps + 1
    apart = []
    for each in near:
        row = _distances(each, walls, steps, most_states)
        apart.append([row.get(other, far) for other in near])
    return most_places([away[each] for each in near], apart, steps, most_states)


def _distances(
    start: Cell,
    walls: Set[Cell],
    most: int,
    most_cells: int,
    price: Callable[[Cell], int] = lambda cell: 1,
) -> dict[Cell, int]:
    """How far all cells are that are not farther than `most`; `price`: of entering a cell."""
    away: dict[Cell, int] = {}
    edge = [(0, start)]
    while edge:
        distance, cell = heapq.heappop(edge)
        if cell in away:
            continue
        away[cell] = distance
        if len(away) > most_cells:
            raise ResourceError(
                f"world 'coins': more than {most_cells:,} cells are within {most:,} steps, the"
                " most that are looked at; give fewer steps, or a level with a border"
            )
        for each in beside(cell):
            if each not in away and each not in walls and distance + price(each) <= most:
                heapq.heappush(edge, (distance + price(each), each))
    return away
