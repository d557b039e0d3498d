"""Transitions to learn from: random play in one level after another.

    world -> [ stream ] -> (before, action, after), ...

The one reason it exists: every learner, test and benchmark that names the same world, seed
and number of steps meets the very same transitions.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from treethink.errors import SettingError
from treethink.state import State
from treethink.worlds import World

Transition = tuple[State, str, State]


def transitions(world: World, steps: int, seed: int, episode: int = 50) -> Iterator[Transition]:
    """Play at random: a new level every `episode` steps, every action equally likely.

    >>> from treethink.worlds import make
    >>> [action for _, action, _ in transitions(make("walls"), steps=3, seed=0)]
    ['up', 'right', 'right']
    """
    for name, value, least in (("steps", steps, 0), ("seed", seed, 0), ("episode", episode, 1)):
        if value < least:
            raise SettingError(f"{name} must be at least {least}, got {value}")
    return _play(world, steps, np.random.default_rng(seed), episode)


def _play(world: World, steps: int, rng: np.random.Generator, episode: int) -> Iterator[Transition]:
    for first in range(0, steps, episode):
        state = world.reset(int(rng.integers(2**63)))
        for _ in range(min(episode, steps - first)):
            action = world.actions[rng.integers(len(world.actions))]
            after = world.step(state, action, rng)
            yield state, action, after
            state = after
