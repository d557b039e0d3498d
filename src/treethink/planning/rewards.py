"""Where the rewards and ends of a plan come from.

    reward=, a world or a model -> [ rewards ] -> search

In this order: the function that the user gives, the world that is planned in, what the model has
learned, and else the change of the game's score.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from numbers import Real
from typing import Any

from treethink.errors import WrongTypeError, shown
from treethink.state import State
from treethink.worlds.base import World

#: The reward of a step, of the states before and after it.
Reward = Callable[[State, State], float]
#: Reward of a step, and whether it ends the episode (None: the model says so).
Feedback = tuple[float, bool | None]


@dataclass(frozen=True, slots=True)
class Rewards:
    """Where the rewards of a search come from.

    `for_score`: they are the changes of the game's score. `feedback` is asked about each step that
    the search imagines; without it, the engine uses what the model has learned.
    """

    for_score: bool
    feedback: Callable[[State, str, State], Feedback] | None = None


def rewards_of(model: Any, reward: Reward | None) -> Rewards:
    """Return the rewards for a plan with this model."""
    if reward is not None and not callable(reward):
        raise WrongTypeError(
            "reward must be a function of the states before and after, or None,"
            f" got {shown(reward)}"
        )
    world = _world_in(model)
    if reward is not None:
        return Rewards(False, _by_function(reward, world))
    if world is not None and world.states_reward:
        return Rewards(False, lambda *step: (world_reward(world, *step), ends(world, *step)))
    if world is not None and world.states_end:
        return Rewards(True, lambda *step: (0.0, ends(world, *step)))
    return Rewards("reward" not in getattr(model, "feedback", ()))


def _world_in(model: Any) -> World | None:
    """Return the world that is planned in, if the model is one."""
    from treethink.baselines.trivial import Oracle

    if isinstance(model, Oracle):
        return model.world
    return model if isinstance(model, World) else None


def _by_function(reward: Reward, world: World | None) -> Callable[[State, str, State], Feedback]:
    def feedback(before: State, action: str, after: State) -> Feedback:
        ended = None if world is None else ends(world, before, action, after)
        return number(reward(before, after), "reward(before, after)"), ended

    return feedback


def number(value: object, where: str) -> float:
    """Return a reward as a float; raise a `WrongTypeError` if it is no finite number."""
    with suppress(OverflowError):  # an integer that is too large for a float
        if isinstance(value, Real) and math.isfinite(value):
            return float(value)
    raise WrongTypeError(f"{where} must return a finite number, got {shown(value)}")


def world_reward(world: World, before: State, action: str, after: State) -> float:
    """Return the reward that the world states; 0 for a step of which it states none."""
    reward = world.reward(before, action, after)
    return 0.0 if reward is None else number(reward, f"{world.name}.reward")


def ends(world: World, before: State, action: str, after: State) -> bool:
    """Return whether a step ends an episode of the world."""
    return bool(world.terminated(before, action, after)) or world.is_over(after)
