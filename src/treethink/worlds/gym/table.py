"""`TableWorld`: a Gymnasium environment with a table of its dynamics.

    P[number][action] = [(probability, next number, reward, terminated), ...]

Gymnasium's toy text environments number their states and have such a table. Every number is
converted into a State once; after that the environment is no longer used, and the world is pure.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from treethink.errors import SettingError, StateError
from treethink.state import State
from treethink.worlds.base import Bounds, Cell, World
from treethink.worlds.draw import Window, extent, items
from treethink.worlds.gym.adapter import Actions, GymWorld, Make, ToState, gymnasium
from treethink.worlds.scene import Distribution, Scene, Thing, populate, read_scenes

#: A possible outcome: (probability, number of the next state, points).
Row = list[tuple[float, int, int]]


class TableWorld(GymWorld):
    """An environment with a table `P` of its dynamics and the number `s` of its state.

    The parameters are those of `GymWorld`. `to_state` is called once for every number, with
    the environment's `s` set to it, and must return a different state each time.

    `step` and `distribution` accept any state of the table, with any score, and follow `P`.
    `reset` returns any state that an episode can reach and that does not end it, with equal
    probability. An episode is over in the states that the table marks as terminated.
    """

    pure = True

    def _adapt(
        self,
        make_env: Make | Sequence[Make],
        to_state: ToState,
        actions: Actions = None,
        reward_scale: int = 1,
    ) -> None:
        super()._adapt(make_env, to_state, actions, reward_scale)
        env = self._env.unwrapped
        if len(self._envs) > 1:
            raise SettingError(f"{self._where}: a TableWorld has one environment, got several")
        if not isinstance(getattr(env, "P", None), Mapping):
            raise SettingError(f"{self._where}: {env} has no table P; a GymWorld needs none")
        self._env.reset(seed=0)
        self._states = [self._state_of(number) for number in range(len(env.P))]
        self._numbers = {state: number for number, state in enumerate(self._states)}
        self._check_states()
        self._rows = [
            {name: self._row(env.P[number][code]) for name, code in self._codes.items()}
            for number in range(len(env.P))
        ]
        self._rewards = self._rewards_of(env.P)
        self._ends = {
            int(entry[1])
            for by_action in env.P.values()
            for entries in by_action.values()
            for entry in entries
            if entry[3]
        }
        self._starts = self._starting_numbers(getattr(env, "initial_state_distrib", None))
        if not self._starts:
            raise SettingError(f"{self._where}: every episode of {env} is over when it starts")

    def reset(self, seed: int) -> State:
        return self._states[self._starts[self.generator(seed).integers(len(self._starts))]]

    def dynamics(self, state: State, action: str) -> Distribution:
        number, score = self._find(state)
        return [
            (self._with_score(next_number, score + points), probability)
            for probability, next_number, points in self._rows[number][action]
        ]

    def sample(self, state: State, action: str, rng: np.random.Generator) -> State:
        number, score = self._find(state)
        row = self._rows[number][action]
        rest = rng.random() if len(row) > 1 else 0.0
        i = 0
        while i < len(row) - 1 and rest >= row[i][0]:
            rest -= row[i][0]
            i += 1
        _, next_number, points = row[i]
        return self._with_score(next_number, score + points)

    truth = World.truth

    def is_over(self, state: State) -> bool:
        self._check_state(state)
        return self._find(state)[0] in self._ends

    def reward(self, before: State, action: str, after: State) -> float | None:
        """Return the reward in the table; None if a step has several possible ones."""
        rewards = self._rewards[self._find(before)[0], action, self._find(after)[0]]
        return rewards[0] if len(rewards) == 1 else None

    def terminated(self, before: State, action: str, after: State) -> bool | None:
        """Return whether the episode is over in the state after."""
        return self.is_over(after)

    def _rewards_of(self, table: Any) -> dict[tuple[int, str, int], list[float]]:
        """Return the different rewards of each step that the table has."""
        rewards: defaultdict[tuple[int, str, int], list[float]] = defaultdict(list)
        for number in range(len(table)):
            for name, code in self._codes.items():
                for probability, next_number, reward, _ in table[number][code]:
                    known = rewards[number, name, int(next_number)]
                    if probability > 0 and float(reward) not in known:
                        known.append(float(reward))
        return rewards

    def bounds(self) -> Bounds:
        """Return the ranges of the values in the table; the score is unbounded."""
        return self._bounds

    @cached_property
    def _bounds(self) -> Bounds:
        values_by_attribute: defaultdict[tuple[str, str], set[Any]] = defaultdict(set)
        for state in self._states:
            for each in state:
                for name, value in state.schema.numbers(each).items():
                    values_by_attribute[each.class_name, name].add(value)
        if self._is_scored:
            del values_by_attribute["game", "score"]
        return {key: _range(values) for key, values in values_by_attribute.items()}

    def frame(self) -> Window | None:
        return self._frame

    @cached_property
    def _frame(self) -> Window:
        return extent(item for state in self._states for item in items(self, state))

    def _state_of(self, number: int) -> State:
        self._env.unwrapped.s = number
        return self._read()

    def _check_states(self) -> None:
        for number, state in enumerate(self._states):
            if self._numbers[state] != number:
                raise SettingError(
                    f"{self._where}: to_state does not tell {number} and"
                    f" {self._numbers[state]} apart: {state!r}"
                )
            if state.ids != self._states[0].ids:
                raise SettingError(
                    f"{self._where}: to_state returns other objects for {number} than for 0"
                )

    def _row(self, entries: Iterable[tuple[float, int, float, bool]]) -> Row:
        """Return each outcome once, with its total probability; Gymnasium may repeat it."""
        row: dict[tuple[int, int], float] = {}
        for probability, next_number, reward, _ in entries:
            if probability > 0:
                key = int(next_number), self._points(reward)
                row[key] = row.get(key, 0.0) + float(probability)
        return [(probability, *key) for key, probability in row.items()]

    def _starting_numbers(self, initial: Any) -> list[int]:
        """Return the numbers of the states that an episode can reach and continue from."""
        first = range(len(self._states)) if initial is None else np.flatnonzero(initial).tolist()
        reached, edge = set(first), list(first)
        while edge:
            number = edge.pop()
            new = {n for row in self._rows[number].values() for _, n, _ in row} - reached
            if number not in self._ends:
                reached |= new
                edge += new
        return sorted(reached - self._ends)

    def _find(self, state: State) -> tuple[int, int]:
        """Return the state's number and its score."""
        score = 0
        if self._is_scored:
            game = self.the(state, "game")
            score, state = game.score, state.replace(game.id, score=0)
        number = self._numbers.get(state)
        if number is None:
            raise StateError(f"{self._where}: no entry of the table is {state!r}")
        return number, score

    def _with_score(self, number: int, score: int) -> State:
        state = self._states[number]
        return state.replace(state.of_class("game")[0].id, score=score) if score else state


class ToyText(TableWorld):
    """An environment of Gymnasium itself, which is created from options only."""

    def __init__(self, **options: int):
        World.__init__(self, **options)
        gymnasium()
        self._adapt(self.make_env, self.to_state)

    @abstractmethod
    def make_env(self) -> Any:
        """Return the environment for the options."""

    @abstractmethod
    def to_state(self, env: Any) -> State:
        """Return the current state of the environment, with score 0."""

    __repr__ = World.__repr__

    def scenes(self) -> Sequence[Scene]:
        """Return scenes for default options; they show whole states, as the table does."""
        if self.options != dict(self.defaults):
            return ()
        return read_scenes(self.name, self.schema, self.looks)

    def _populate_sorted(self, things: Iterable[Thing]) -> State:
        """Return a state with ids by class, then in the given order, like those of scenes."""
        game: Thing = ("game", {"score": 0})
        return populate(self.schema, sorted([*things, game], key=lambda thing: thing[0]))


def _range(values: set[Any]) -> tuple[Any, Any]:
    """Return the minimum and the maximum, elementwise for vectors."""
    if not isinstance(next(iter(values)), tuple):
        return min(values), max(values)
    columns = list(zip(*values, strict=True))
    return tuple(map(min, columns)), tuple(map(max, columns))


def border(width: int, height: int) -> list[Cell]:
    """Return the cells around a rectangle whose first cell is (1, 1), in reading order.

    >>> border(1, 1)
    [(0, 0), (1, 0), (2, 0), (0, 1), (2, 1), (0, 2), (1, 2), (2, 2)]
    """
    return [
        (x, y)
        for y in range(height + 2)
        for x in range(width + 2)
        if not (1 <= x <= width and 1 <= y <= height)
    ]
