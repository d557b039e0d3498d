"""The best and the worst that can be scored in so many steps, by looking at every state.

    world, state, steps -> [ explore ] -> Table -> [ expected_score ] -> a score

Every state within reach is met once, and each of its actions is asked once. Then the steps are
gone through from the last to the first: what is left to be scored in a state, with so many
steps to go, is the best over actions of the points that come now and of what is left after
them. Where chance decides, that is an expectation.

States that differ in nothing but the score are one state here, which is what makes them few:
a score that takes part in no facts, and is learned by its changes, is taken to change nothing but
itself, as in the engine's search. In any other world they stay apart.
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

_SAFE = 2**62  # below this, a sum of two fits into signed 64-bit integers


@dataclass(frozen=True, slots=True)
class Table:
    """What every action does in every state within reach; states are numbers, the first is 0.

    Outcomes are listed by state, then by action. Those of action `a` in state `s` begin at
    `begins[s * n_actions + a]`; where nothing is left to chance there is one for each.
    """

    n_states: int
    n_actions: int
    following: _Array
    points: _Array
    chances: _Array
    begins: _Array

    @property
    def is_sure(self) -> bool:
        """Whether nothing is left to chance."""
        return len(self.following) == len(self.begins)


def explore(world: World, state: State, steps: int, most_states: int) -> Table:
    """All states that can be met within so many steps, breadth first."""
    search = _Search(world, state, most_states)
    for _ in range(steps):
        if not search.edge:
            break
        for each in search.take_edge():
            search.expand(each)
    for each in search.take_edge():  # only the last step gets here: nobody asks what follows
        search.stand_still(each)
    return search.table()


class _Search:
    """The states met so far, by number, and the outcomes of those that were expanded."""

    def __init__(self, world: World, state: State, most_states: int):
        self._world = world
        self._most_states = most_states
        self._game = world.the(state, "game").id
        score = world.schema.attributes["score"]
        self._merges = not score.facts and score.outcomes == "delta"
        self._numbers: dict[State, int] = {}
        #: The states that were met and not expanded yet, in the order of their numbers.
        self.edge: list[State] = []
        self._following, self._points = array("q"), array("q")
        self._chances, self._begins = array("d"), array("q")
        self._number(state)

    def take_edge(self) -> list[State]:
        """What was the edge; a new one begins."""
        edge, self.edge = self.edge, []
        return edge

    def expand(self, state: State) -> None:
        """Ask for all outcomes of a state. An episode that is over scores nothing any more."""
        if self._world.is_over(state):
            self.stand_still(state)
            return
        score = state.value(self._game, "score")
        for action in self._world.actions:
            self._begins.append(len(self._following))
            for after, chance in self._world.distribution(state, action):
                self._points.append(after.value(self._game, "score") - score)
                self._following.append(self._number(after))
                self._chances.append(chance)

    def stand_still(self, state: State) -> None:
        """Say that no action changes anything."""
        number = self._numbers[state]
        for _ in self._world.actions:
            self._begins.append(len(self._following))
            self._points.append(0)
            self._following.append(number)
            self._chances.append(1.0)

    def table(self) -> Table:
        """All of it as arrays."""
        lists = (self._following, self._points, self._chances, self._begins)
        return Table(len(self._numbers), len(self._world.actions), *map(np.array, lists))

    def _number(self, state: State) -> int:
        """The number of a state; a new one if it was never met."""
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
            self.edge.append(state)
        return number


def expected_score(table: Table, steps: int, choose: Callable[[_Array], _Array]) -> int | float:
    """What is scored in so many steps from the first state, by who chooses like that.

    `choose` gets the scores of all actions, an array of actions x states, and returns one
    score for each state. An int where nothing is left to chance.
    """
    following, points, chances = table.following, table.points, table.chances
    if table.is_sure:
        # One outcome for each: by action, then by state, is the faster order.
        following, points = (_by_action(each, table.n_actions) for each in (following, points))
        points = points.astype(_type_for(points, steps))
    values = np.zeros(table.n_states, points.dtype if table.is_sure else np.float64)
    for _ in range(steps):
        scores = points + values[following]
        if not table.is_sure:
            mean = np.add.reduceat(chances * scores, table.begins)
            scores = _by_action(mean, table.n_actions)
        values = choose(scores)
    return int(values[0]) if table.is_sure else float(values[0])


def _by_action(each: _Array, n_actions: int) -> _Array:
    return np.ascontiguousarray(each.reshape(-1, n_actions).T)


def _type_for(points: _Array, steps: int) -> type:
    """64-bit integers, or Python's own where so many steps could score more than those hold."""
    most = max(abs(int(points.min())), abs(int(points.max())))
    return np.int64 if most * max(steps, 1) < _SAFE else object
