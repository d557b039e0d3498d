"""Rewards and ends of transitions as values that are predicted, and that are right or wrong.

    prediction -> [ feedback ] -> a distribution over rewards, or over whether the episode ends
    world, transition -> [ feedback ] -> the true distribution

Both belong to a transition and to no object: where other values have an object's id, theirs is
None. A reward that is not known is taken to be 0, and an end not to come, as in plans.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from treethink.metrics import Distribution, Truth
from treethink.state import State
from treethink.stream.transition import Transition
from treethink.worlds import World

#: Distributions by name: "reward", "terminated".
FeedbackTruth = Mapping[str, Distribution]


def learned_feedback(model: object) -> tuple[str, ...]:
    """Return what a model has learned besides states; models that cannot learn it have nothing."""
    return tuple(getattr(model, "feedback", ()))


def predicted_feedback(prediction: Any, name: str) -> tuple[Distribution, int]:
    """Return the distribution that a model predicts, and the observations behind it."""
    known = getattr(prediction, "_feedback_support", None)  # predictions of others do not have it
    support = 0 if known is None else known(name)
    if name == "reward":
        return prediction.rewards() or {0.0: 1.0}, support
    end = prediction.terminated() or 0.0
    chances: Distribution = {True: end, False: 1 - end}
    return {value: chance for value, chance in chances.items() if chance}, support


def true_feedback(
    names: tuple[str, ...], step: Transition, truth: Truth, world: World | None = None
) -> dict[str, Distribution]:
    """Return the true distributions, as far as the world or else the transition states them.

    `truth` is what follows: a distribution of states, or the state that did follow.

    >>> from treethink.worlds import make
    >>> state = make("walls").reset(0)
    >>> step = Transition(state, "up", state, reward=2)
    >>> true_feedback(("reward", "terminated"), step, state)
    {'reward': {2.0: 1.0}}
    """
    true: dict[str, Distribution] = {}
    for name in names:
        stated = None if world is None else _stated(world, name, step, truth)
        given = step.reward if name == "reward" else step.terminated
        if stated is not None:
            true[name] = stated
        elif given is not None:
            true[name] = {_value(name, given): 1.0}
    return true


def _stated(world: World, name: str, step: Transition, truth: Truth) -> Distribution | None:
    """Return what the world states about all states that may follow; None if it does not."""
    state = world.reward if name == "reward" else world.terminated
    distribution: dict[Any, float] = {}
    for after, chance in [(truth, 1.0)] if isinstance(truth, State) else truth:
        value = state(step.before, step.action, after)
        if value is None:
            return None
        value = _value(name, value)
        distribution[value] = distribution.get(value, 0.0) + chance
    return distribution


def _value(name: str, value: float) -> Any:
    return float(value) if name == "reward" else bool(value)
