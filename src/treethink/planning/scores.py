"""Normalised scores: the worst, the trivial and the best score that an episode allows.

    world, state, steps -> [ score_bounds ] -> ScoreBounds -> normalised(score) in [-1, 1]

The score of an episode is the change of the `score` of the world's `game`. To compare episodes of
different levels, the paper uses a scale of three scores: -1 is *pessimal* (the lowest possible
score), 0 is *trivial* (`stay` at every step), and 1 is *optimal*. All three are computed exactly.

For any world they are computed by visiting all reachable states. `coin_scores.py` computes them
for `coins`, where every subset of coins makes new states, which are too many.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from treethink.errors import ResourceError, SettingError, WrongTypeError, shown, whole_number
from treethink.planning import coin_scores
from treethink.state import State
from treethink.stream.random_play import check_world_type
from treethink.worlds import World

_IDLE = "stay"
_MOST_STEPS = 100_000


@dataclass(frozen=True, slots=True)
class ScoreBounds:
    """The three scores that define the scale of an episode.

    Parameters
    ----------
    pessimal, trivial, optimal
        Ints in a deterministic world; otherwise floats, which are expectations.
    exact
        False: `optimal` is a proven upper bound, which may not be reachable.
    by_chance
        Whether the world is random. Then an episode may score more or less than expected.

    Examples
    --------
    >>> bounds = ScoreBounds(pessimal=-20, trivial=-10, optimal=6)
    >>> bounds.normalised(-10), bounds.normalised(-2), bounds.normalised(-15)
    (0.0, 0.5, -0.5)
    """

    pessimal: int | float
    trivial: int | float
    optimal: int | float
    exact: bool = True
    by_chance: bool = False

    @property
    def worth_playing(self) -> bool:
        """Whether the optimal score is better than the trivial one."""
        return self.optimal > self.trivial

    def normalised(self, score: int | float) -> float:
        """Return a score on the scale: -1 pessimal, 0 trivial, 1 optimal, linear in between.

        In a random world, scores above the expected optimum give 1, and those below the expected
        pessimum give -1.
        """
        if isinstance(score, bool) or not isinstance(score, Real) or score != score:
            raise WrongTypeError(f"a score must be a number, got {shown(score)}")
        if not self.by_chance and not self.pessimal <= score <= self.optimal:
            raise SettingError(
                f"a score of this episode lies from {self.pessimal} (pessimal) to"
                f" {self.optimal} (optimal), got {shown(score)}"
            )
        if score == self.trivial:
            return 0.0
        side, end = (1.0, self.optimal) if score > self.trivial else (-1.0, self.pessimal)
        if end == self.trivial:  # only in a random world
            return side
        return side * min(float((score - self.trivial) / (end - self.trivial)), 1.0)


def score_bounds(
    world: World, state: State, steps: int, *, most_states: int = 2_000_000
) -> ScoreBounds:
    """Return the pessimal, trivial and optimal score of an episode from `state` on.

    Parameters
    ----------
    world
        A world with a `game` that has a `score`, and with an action `stay`. It must be able to
        step from any state.
    state
        Where the episode starts. Earlier scores do not count.
    steps
        The length of the episode, at most 100,000.
    most_states
        The number of states that are visited before a `ResourceError` is raised; in `coins`, the
        number of sets of coins before the optimal score is only bounded.

    Examples
    --------
    >>> from treethink.worlds import make
    >>> world = make("maze")
    >>> score_bounds(world, world.reset(0), steps=10)
    ScoreBounds(pessimal=-20, trivial=-10, optimal=4, exact=True, by_chance=False)
    """
    steps, most_states = _check(world, steps, most_states)
    world.distribution(state, _IDLE)  # raises for a state of another schema, or without a game
    if coin_scores.applies_to(world):
        pessimal, trivial, optimal, exact = coin_scores.bounds(world, state, steps, most_states)
        return ScoreBounds(pessimal, trivial, optimal, exact)
    table = explore(world, state, steps, most_states)
    idle = world.actions.index(_IDLE)
    return ScoreBounds(
        pessimal=expected_score(table, steps, lambda scores: scores.min(axis=0)),
        trivial=expected_score(table, steps, lambda scores: scores[idle]),
        optimal=expected_score(table, steps, lambda scores: scores.max(axis=0)),
        by_chance=not table.is_deterministic,
    )


def _check(world: World, steps: int, most_states: int) -> tuple[int, int]:
    """Return both numbers as ints; raise an error if the world has no such scores."""
    check_world_type(world, "score_bounds")
    where = f"world {world.name!r}"
    schema = world.schema
    if "score" not in schema.classes.get("game", ()) or schema.attributes["score"].length != 1:
        raise SettingError(
            f"{where} keeps no score: it needs a class 'game' with a 'score' of one number, and"
            f" its classes are {', '.join(map(repr, schema.classes))}"
        )
    if _IDLE not in world.actions:
        raise SettingError(
            f"{where} has no action {_IDLE!r}, which the trivial score needs"
            f" (doing nothing); its actions are {', '.join(map(repr, world.actions))}"
        )
    if not world.pure:
        raise SettingError(
            f"{where} cannot predict from arbitrary states, so its score bounds cannot be"
            " computed before it is played"
        )
    steps = whole_number("steps", steps)
    if steps > _MOST_STEPS:
        raise SettingError(f"steps must be at most {_MOST_STEPS:,}, got {shown(steps)}")
    return steps, whole_number("most_states", most_states, 1)


# ------------------------------------------------------------------------------------ exact scores
#
# `explore` visits every reachable state once, and tries each of its actions once. `expected_score`
# is backward induction: the value of a state, with n steps to go, is the best over actions of the
# reward plus the value of the next state with n - 1 steps to go. In random worlds, it is the
# expected value.
#
# States that differ only in the score are treated as one state, which keeps their number small. As
# in the engine's search, this is done if the score takes part in no facts and its outcomes are
# changes: then it is assumed that nothing else depends on it.

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
        self._merges = not score.facts and score.outcomes != "value"
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
