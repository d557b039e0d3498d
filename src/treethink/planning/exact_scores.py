"""The best and the worst score of an episode, by dynamic programming over all reachable states.

    world, state, steps -> [ explore ] -> Table -> [ expected_score ] -> a score

`explore` visits every reachable state once, and tries each of its actions once. `expected_score`
is backward induction: the value of a state, with n steps to go, is the best over actions of the
reward plus the value of the next state with n - 1 steps to go. In random worlds, it is the expected
value.

States that differ only in the score are treated as one state, which keeps their number small. As in
the engine's search, this is done if the score takes part in no facts and its outcomes are changes:
then it is assumed that nothing else depends on it.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from treethink.errors import ResourceError
from treethink.state import State
from treethink.worlds import World

_Array = npt.NDArray[Any]

_SAFE = 2**62  # below this, the sum of two numbers fits into a signed 64-bit integer


@dataclass(frozen=True, slots=True)
class Table:
    """The outcomes of every action in every reachable state. States are numbered from 0, the start.

    Outcomes are listed by state, then by action. Those of action `a` in state `s` begin at
    `begins[s * n_actions + a]`; in a deterministic world there is one for each.
    """

    n_states: int
    n_actions: int
    following: _Array
    points: _Array
    chances: _Array
    begins: _Array

    @property
    def is_deterministic(self) -> bool:
        """Whether every action has a single outcome."""
        return len(self.following) == len(self.begins)


def explore(world: World, state: State, steps: int, most_states: int) -> Table:
    """Visit all states that can be reached within that many steps, breadth first."""
    search = _Exploration(world, state, most_states)
    for _ in range(steps):
        if not search.frontier:
            break
        for each in search.take_frontier():
            search.expand(each)
    for each in search.take_frontier():  # reached by the last step: their outcomes do not matter
        search.add_unchanged(each)
    return search.table()


class _Exploration:
    """The states reached so far, by number, and the outcomes of those that were expanded."""

    def __init__(self, world: World, state: State, most_states: int):
        self._world = world
        self._most_states = most_states
        self._game = world.the(state, "game").id
        score = world.schema.attributes["score"]
        self._merges = not score.facts and score.outcomes == "delta"
        self._numbers: dict[State, int] = {}
        #: The states that are not expanded yet, in the order of their numbers.
        self.frontier: list[State] = []
        self._following, self._points = array("q"), array("q")
        self._chances, self._begins = array("d"), array("q")
        self._number(state)

    def take_frontier(self) -> list[State]:
        """Return the frontier, and start a new one."""
        frontier, self.frontier = self.frontier, []
        return frontier

    def expand(self, state: State) -> None:
        """Add all outcomes of a state. Once an episode is over, nothing changes."""
        if self._world.is_over(state):
            self.add_unchanged(state)
            return
        score = state.value(self._game, "score")
        for action in self._world.actions:
            self._begins.append(len(self._following))
            for after, chance in self._world.distribution(state, action):
                self._points.append(after.value(self._game, "score") - score)
                self._following.append(self._number(after))
                self._chances.append(chance)

    def add_unchanged(self, state: State) -> None:
        """Add outcomes of a state in which no action changes anything."""
        number = self._numbers[state]
        for _ in self._world.actions:
            self._begins.append(len(self._following))
            self._points.append(0)
            self._following.append(number)
            self._chances.append(1.0)

    def table(self) -> Table:
        """Return the table of all outcomes."""
        lists = (self._following, self._points, self._chances, self._begins)
        return Table(len(self._numbers), len(self._world.actions), *map(np.array, lists))

    def _number(self, state: State) -> int:
        """Return the number of a state, which is added if it is new."""
        if self._merges:
            state = state.replace(self._game, score=0)
        number = self._numbers.get(state)
        if number is None:
            number = len(self._numbers)
            if number >= self._most_states:
                raise ResourceError(
                    f"world {self._world.name!r}: from this state more than"
                    f" {self._most_states:,} others are within reach, the most that are"
                    " looked at; give fewer steps, a smaller level or a larger most_states"
                )
            self._numbers[state] = number
            self.frontier.append(state)
        return number


def expected_score(table: Table, steps: int, choose: Callable[[_Array], _Array]) -> int | float:
    """Return the expected score of a policy, from the first state on.

    `choose` is the policy: it gets the scores of all actions, an array of actions x states, and
    returns one score for each state. The result is an int in a deterministic world.
    """
    following, points, chances = table.following, table.points, table.chances
    if table.is_deterministic:
        # With one outcome for each, it is faster to order by action, then by state.
        following, points = (_by_action(each, table.n_actions) for each in (following, points))
        points = points.astype(_type_for(points, steps))
    values = np.zeros(table.n_states, points.dtype if table.is_deterministic else np.float64)
    for _ in range(steps):
        scores = points + values[following]
        if not table.is_deterministic:
            mean = np.add.reduceat(chances * scores, table.begins)
            scores = _by_action(mean, table.n_actions)
        values = choose(scores)
    return int(values[0]) if table.is_deterministic else float(values[0])


def _by_action(each: _Array, n_actions: int) -> _Array:
    return np.ascontiguousarray(each.reshape(-1, n_actions).T)


def _type_for(points: _Array, steps: int) -> type:
    """Return int64, or Python's integers if the score could overflow."""
    most = max(abs(int(points.min())), abs(int(points.max())))
    return np.int64 if most * max(steps, 1) < _SAFE else object
