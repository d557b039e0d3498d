"""What a world is: something that can be started and stepped, and that states its own truth.

    seed -> reset -> State -> step -> State -> ...

In:   a seed, then actions.
Out:  states, and for every state and action the exact distribution of what follows, so
      that a learner is scored against the truth and not against a sample of it.

A world holds no state of its own: everything that happens next depends on the state given,
the action and the random numbers given. Its dynamics are written once, as a distribution.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from treethink.errors import SettingError, StateError, UnknownNameError
from treethink.state import Object, Schema, State

Distribution = list[tuple[State, float]]


@dataclass(frozen=True, slots=True)
class Scene:
    """One sentence about a world, with an example written by hand: `after` follows surely."""

    says: str
    before: State
    action: str
    after: State


class World(ABC):
    """An environment made of objects. Its docstring is its specification.

    A subclass states its `name`, `schema` and `defaults`, and implements `reset` and
    `dynamics`. It overrides `sample` where listing every next state is too much work.
    """

    name: ClassVar[str]
    #: Options and their default values: whole numbers, none of them negative.
    defaults: ClassVar[Mapping[str, int]] = {}
    schema: Schema

    def __init__(self, **options: int):
        for each in options:
            if each not in self.defaults:
                raise UnknownNameError("option", each, self.defaults, self._where)
        self.options: dict[str, int] = {
            each: self._whole_number(each, options.get(each, default))
            for each, default in self.defaults.items()
        }

    @property
    def actions(self) -> tuple[str, ...]:
        """The schema's actions."""
        return self.schema.actions

    @abstractmethod
    def reset(self, seed: int) -> State:
        """The first state of an episode; the same seed gives the same state."""

    def step(self, state: State, action: str, rng: np.random.Generator) -> State:
        """One of the states that may follow. Leaves `state` alone."""
        self._check(state, action)
        return self.sample(state, action, rng)

    def distribution(self, state: State, action: str) -> Distribution:
        """Every state that may follow, once, with its probability."""
        self._check(state, action)
        return self.dynamics(state, action)

    def scenes(self) -> Sequence[Scene]:
        """The rules of this world as examples: what a model that learned it gets right."""
        return ()

    @abstractmethod
    def dynamics(self, state: State, action: str) -> Distribution:
        """What `distribution` returns; the state and the action have been checked."""

    def sample(self, state: State, action: str, rng: np.random.Generator) -> State:
        """What `step` returns; the state and the action have been checked."""
        states = self.dynamics(state, action)
        if len(states) == 1:
            return states[0][0]
        chosen = rng.choice(len(states), p=[probability for _, probability in states])
        return states[int(chosen)][0]

    def __repr__(self) -> str:
        options = ", ".join(f"{name}={value}" for name, value in self.options.items())
        return f"{type(self).__name__}({options})"

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), **self.options), ()

    @property
    def _where(self) -> str:
        return f"world {self.name!r}"

    def _check(self, state: State, action: str) -> None:
        if action not in self.actions:
            raise UnknownNameError("action", str(action), self.actions, self._where)
        if state.schema is not self.schema and state.schema != self.schema:
            raise StateError(f"{self._where} was given a state of another schema")

    def _the(self, state: State, class_name: str) -> Object:
        """The only object of its class."""
        objects = state.of_class(class_name)
        if len(objects) != 1:
            raise StateError(
                f"{self._where} needs exactly one {class_name}, the state has {len(objects)}"
            )
        return objects[0]

    def _generator(self, seed: int) -> np.random.Generator:
        return np.random.default_rng(self._whole_number("seed", seed))

    def _whole_number(self, name: str, value: object) -> int:
        try:
            number = None if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
        except TypeError:
            number = None
        if number is None or number < 0:
            raise SettingError(
                f"{self._where}: {name} must be a whole number, 0 or more, got {value!r}"
            )
        return number
