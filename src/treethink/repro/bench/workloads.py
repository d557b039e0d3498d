"""Seeded workloads: what `treethink bench` and the benchmarks in `benchmarks/` measure.

    world -> [ workload ] -> transitions, or levels with actions -> timing

A workload is a function that makes its states anew at every call, outside the clock, so that no
pass finds states with cached work of an earlier one. Every workload is defined once: here, or in
`adapters.py` if its states are built anew at every step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from treethink.model import TreeThink
from treethink.state import Schema, State
from treethink.stream.random_play import transitions
from treethink.stream.transition import AnyTransition
from treethink.worlds import World, make

#: Steps in each level.
EPISODE = 50
#: Levels of a walk.
LEVELS = 20


# ------------------------------------------------------------------------ worlds and models


def maze_8() -> World:
    """Return the maze of the paper, 8 x 8."""
    return make("maze", width=8, height=8)


def maze_32() -> World:
    """Return a large maze, 32 x 32 with 50 goals."""
    return make("maze", width=32, height=32, goals=50)


def maze_10_000_objects() -> World:
    """Return a maze with 10,004 objects: a border of 708 walls, and 9,292 walls inside."""
    return make("maze", width=178, height=178)


#: The ablation of the paper, by its names: options of `predict`.
PREDICT_OPTIONS = {
    "none": {"facts": "full", "bindings": "all"},
    "eval": {"facts": "full", "bindings": "first"},
    "query": {"facts": "demand", "bindings": "all"},
    "both": {"facts": "demand", "bindings": "first"},
}

PAPERS = "paper's settings"
#: How models learn: by intervals and without a memory, or by evidence and with one.
MODELS: dict[str, Callable[[Schema], TreeThink]] = {
    PAPERS: TreeThink.paper,
    "defaults": TreeThink,
}

#: Makes a model that has observed nothing yet.
Fresh = Callable[[], TreeThink]


def fresh_models(world: World) -> dict[str, Fresh]:
    """Return functions that make new models of a world, by how they learn."""
    return {how: partial(model, world.schema) for how, model in MODELS.items()}


def converged(world: World, steps: int = 20_000) -> TreeThink:
    """Return a model that has learned the world."""
    model = TreeThink(world.schema)
    model.observe_many(transitions(world, steps, seed=1_000, episode=EPISODE))
    return model


# ---------------------------------------------------------------------------- random play


class Stream(list[AnyTransition]):
    """Transitions; `starts` are the positions at which a level starts."""

    starts: Sequence[int] = ()


#: Makes the transitions of a workload. Each call makes new states, equal to those before.
Workload = Callable[[], Stream]


def play(world: World, steps: int, seed: int = 0) -> Workload:
    """Return random play."""

    def make() -> Stream:
        stream = Stream(transitions(world, steps, seed, EPISODE))
        stream.starts = range(0, steps, EPISODE)
        return stream

    return make


def questions(world: World, count: int, seed: int = 0) -> Workload:
    """Return random play without the steps from a state that came before: all are distinct."""

    def make() -> Stream:
        seen: set[State] = set()
        stream, starts = Stream(), []
        for step, transition in enumerate(transitions(world, 100 * count, seed, EPISODE)):
            if transition[0] in seen:
                continue
            if step % EPISODE == 0:
                starts.append(len(stream))
            seen.add(transition[0])
            stream.append(transition)
            if len(stream) == count:
                break
        stream.starts = starts
        return stream

    return make


# ------------------------------------------------------------------------ walks in a world

#: The start of a level, and the actions to take there.
Walk = tuple[State, list[str]]


def walks(world: World) -> list[Walk]:
    """Return new levels, and random actions for each."""
    rng = np.random.default_rng(0)
    choices = rng.integers(len(world.actions), size=(LEVELS, EPISODE)).tolist()
    return [
        (world.reset(seed), [world.actions[i] for i in chosen])
        for seed, chosen in enumerate(choices)
    ]


def walk(world: World, planned: list[Walk]) -> list[State]:
    """Take the actions; return the last state of each walk."""
    step, rng, ends = world.step, np.random.default_rng(0), []
    for state, actions in planned:
        for action in actions:
            state = step(state, action, rng)
        ends.append(state)
    return ends


def check_walk(world: World, ends: list[State]) -> None:
    """Raise an error unless every step of the walks is possible, and they end in these states."""
    rng = np.random.default_rng(0)
    for (state, actions), end in zip(walks(world), ends, strict=True):
        for action in actions:
            after = world.step(state, action, rng)
            if after not in dict(world.distribution(state, action)):
                raise AssertionError(f"{world!r}: {action!r} in {state!r} gave {after!r}")
            state = after
        if state != end:
            raise AssertionError(f"{world!r}: the same walk ended in {state!r} and in {end!r}")
