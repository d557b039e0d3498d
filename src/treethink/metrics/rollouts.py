"""Rollouts of several steps in a model and in its world, side by side.

    model, world -> [ fidelity ] -> Fidelity: the share still right after 1, 2, ... steps

A model that is right about single steps may drift when it goes on from its own predictions, into
states that the world never has. Both start in the same state and are given the same random
actions; the model continues from the most likely state of its own prediction, the world from its
own state. In a world of chance no model can follow for long: compare with the world's own
repetition of itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from treethink.errors import whole_number
from treethink.state import State


class _Model(Protocol):
    def predict(self, state: State, action: str, /) -> Any: ...


class _World(Protocol):
    @property
    def actions(self) -> Sequence[str]: ...
    def reset(self, seed: int) -> State: ...
    def step(self, state: State, action: str, rng: np.random.Generator) -> State: ...
    def is_over(self, state: State) -> bool: ...


@dataclass(frozen=True, slots=True)
class Fidelity:
    """How many rollouts agree after 1, 2, ... steps, and how many were that long.

    A rollout ends early where the world ends the episode. `agreeing[i]` counts rollouts that agreed
    after *each* of the first i + 1 steps: one that has been wrong once does not count again.
    """

    agreeing: tuple[int, ...]
    rollouts: tuple[int, ...]

    @property
    def shares(self) -> tuple[float | None, ...]:
        """The share of agreeing rollouts after each number of steps; None if none was that long."""
        return tuple(
            right / n if n else None for right, n in zip(self.agreeing, self.rollouts, strict=True)
        )


def fidelity(
    model: _Model, world: _World, k: int = 10, rollouts: int = 100, seed: int = 0
) -> Fidelity:
    """Return how long a model and its world agree, over random play of `k` steps.

    Each rollout starts with a new level. The same seed gives the same rollouts.

    >>> from treethink.baselines import make_learner
    >>> from treethink.worlds import make
    >>> world = make("walls")
    >>> fidelity(make_learner("oracle", world), world, k=3, rollouts=5).shares
    (1.0, 1.0, 1.0)
    """
    k, rollouts = whole_number("k", k, 1), whole_number("rollouts", rollouts, 1)
    rng = np.random.default_rng(whole_number("seed", seed))
    agreeing, counted = [0] * k, [0] * k
    for _ in range(rollouts):
        steps, right = _one_rollout(model, world, k, rng)
        for i in range(steps):
            counted[i] += 1
            agreeing[i] += i < right
    return Fidelity(tuple(agreeing), tuple(counted))


def _one_rollout(model: _Model, world: _World, k: int, rng: np.random.Generator) -> tuple[int, int]:
    """Return the steps of one rollout, and how many of them agreed before the first that did not.

    After a disagreement the world goes on alone, since a rollout counts as long as it lasts.
    """
    actual = imagined = world.reset(int(rng.integers(2**63)))
    right = steps = 0
    while steps < k and not world.is_over(actual):
        action = world.actions[int(rng.integers(len(world.actions)))]
        follows = right == steps
        if follows:
            imagined = model.predict(imagined, action).mode()
        actual = world.step(actual, action, rng)
        steps += 1
        right += follows and imagined == actual
    return steps, right
