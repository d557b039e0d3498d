"""Streams of transitions from random play, level after level.

    world -> [ stream ] -> (before, action, after), ...

The same world, seed and number of steps give every learner, test and benchmark the same
transitions. `parallel.py` plays many streams at once.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from treethink.errors import WrongTypeError, shown, whole_number
from treethink.state import State
from treethink.stream.transition import AnyTransition, Transition
from treethink.worlds import World


def transitions(world: World, steps: int, seed: int, episode: int = 50) -> Iterator[AnyTransition]:
    """Play at random: every action is equally likely, and a new level starts every `episode` steps.

    A world may play otherwise (`World.random_play`). If the world ends an episode, a new level
    starts earlier. If it states rewards or ends, the items are `Transition`s with them; otherwise
    they are (before, action, after).

    >>> from treethink.worlds import make
    >>> [action for _, action, _ in transitions(make("walls"), steps=3, seed=0)]
    ['up', 'right', 'right']
    """
    check_world_type(world, "a stream")
    steps = whole_number("steps", steps, 0)
    episode = whole_number("episode", episode, 1)
    rng = np.random.default_rng(whole_number("seed", seed, 0))
    return _play(world, steps, rng, episode)


def _play(
    world: World, steps: int, rng: np.random.Generator, episode: int
) -> Iterator[AnyTransition]:
    stated = world.states_reward or world.states_end
    while steps > 0:
        state = first_state(world, int(rng.integers(2**63)))
        for _ in range(min(episode, steps)):
            state, action = world.random_play(state, rng)
            after = world.step(state, action, rng)
            steps -= 1
            reward, ended = None, None
            if stated:
                reward = world.reward(state, action, after)
                ended = world.terminated(state, action, after)
                yield Transition(state, action, after, reward, ended)
            else:
                yield state, action, after
            if ended or world.is_over(after):
                break
            state = after


def first_state(world: World, seed: int) -> State:
    """Return the first state of a level; raise an error if a world's `reset` returns no State."""
    state: object = world.reset(seed)
    if not isinstance(state, State):
        what = f"world {world.name!r}: reset must return a State(schema, objects)"
        raise WrongTypeError(f"{what}, got {shown(state)}")
    return state


def check_world_type(world: object, who: str) -> None:
    """Raise a `WrongTypeError` unless it is a world."""
    if not isinstance(world, World):
        raise WrongTypeError(f"{who} needs a World, such as make('maze'), got {shown(world)}")
