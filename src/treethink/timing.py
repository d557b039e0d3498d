"""Seeded workloads, and how long a model takes over them.

    world -> workload -> [ timing ] -> Timing, in microseconds

States are made outside the clock, by `World.step`, anew for every pass, so that no pass
finds work that an earlier one left done. Answers are checked as well: fast and wrong is wrong.
"""

from __future__ import annotations

import gc
import statistics
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from time import perf_counter_ns

from treethink.learner import TreeThink
from treethink.state import Schema, State
from treethink.stream import Transition, transitions
from treethink.worlds import World

#: Steps in each level.
EPISODE = 50

#: Makes the transitions of a workload. Each call makes new states, equal to those before.
Workload = Callable[[], list[Transition]]


@dataclass(frozen=True, slots=True)
class Timing:
    """Microseconds for one call.

    `mean` has one clock around all calls. `median`, `p99` and `first` (the mean of the first
    steps of levels) have a clock around each call, which itself takes up to 0.1. `engine`
    is the mean of the same work when timed inside the engine.
    """

    calls: int
    mean: float
    median: float
    p99: float
    first: float
    engine: float | None


def play(world: World, steps: int, seed: int = 0, episode: int = EPISODE) -> Workload:
    """Random play."""
    return lambda: list(transitions(world, steps, seed, episode))


def questions(world: World, count: int, seed: int = 0) -> Workload:
    """Random play from different states: a prediction is never asked for twice."""

    def make() -> list[Transition]:
        seen: set[State] = set()

        def is_new(transition: Transition) -> bool:
            before = len(seen)
            seen.add(transition[0])
            return len(seen) > before

        stream = transitions(world, 100 * count, seed, EPISODE)
        return list(islice(filter(is_new, stream), count))

    return make


def converged(world: World, steps: int = 20_000) -> TreeThink:
    """A model that has learned the world."""
    model = TreeThink(world.schema)
    model.observe_many(transitions(world, steps, seed=1_000, episode=EPISODE))
    return model


def time_observe(schema: Schema, workload: Workload, repeats: int = 1) -> Timing:
    """A new model observes everything."""
    means = []
    for _ in range(repeats):
        stream, observe = workload(), TreeThink(schema).observe
        with _clock() as clock:
            for before, action, after in stream:
                observe(before, action, after)
        means.append(clock.microseconds / len(stream))

    stream, observe = workload(), TreeThink(schema).observe
    each = []
    with _clock():
        for before, action, after in stream:
            start = perf_counter_ns()
            observe(before, action, after)
            each.append(perf_counter_ns() - start)

    stream = workload()
    inside = TreeThink(schema)._time_observe(stream)
    return _timing(stream, statistics.median(means), each, inside)


def time_observe_many(schema: Schema, workload: Workload, repeats: int = 1) -> float:
    """Mean microseconds when a new model observes everything in a single call."""
    means = []
    for _ in range(repeats):
        stream, model = workload(), TreeThink(schema)
        with _clock() as clock:
            model.observe_many(stream)
        means.append(clock.microseconds / len(stream))
    return statistics.median(means)


def time_predict(
    model: TreeThink, workload: Workload, how: Mapping[str, str], repeats: int = 1
) -> Timing:
    """`predict(...).mode()` for every state and action of the workload."""
    predict = model.predict
    means = []
    for _ in range(repeats):
        stream = workload()
        with _clock() as clock:
            for before, action, _ in stream:
                predict(before, action, **how).mode()
        means.append(clock.microseconds / len(stream))

    stream = workload()
    each = []
    with _clock():
        for before, action, _ in stream:
            start = perf_counter_ns()
            predict(before, action, **how).mode()
            each.append(perf_counter_ns() - start)

    stream = workload()
    inside = model._time_predict([(before, action) for before, action, _ in stream], **how)
    for before, action, after in stream:
        if predict(before, action, **how).mode() != after:
            raise AssertionError(f"a wrong prediction of {action!r} from {before!r}")
    return _timing(stream, statistics.median(means), each, inside)


class _Clock:
    microseconds = 0.0


@contextmanager
def _clock() -> Iterator[_Clock]:
    """Time what is inside, without pauses of the garbage collector."""
    clock = _Clock()
    collecting = gc.isenabled()
    gc.collect()
    gc.disable()
    start = perf_counter_ns()
    try:
        yield clock
    finally:
        clock.microseconds = (perf_counter_ns() - start) / 1000
        if collecting:
            gc.enable()


def _timing(
    stream: list[Transition], mean: float, each: list[int], inside: list[int] | None
) -> Timing:
    # A level begins where a state is not the one that the step before led to.
    starts = [i for i, now in enumerate(stream) if i == 0 or stream[i - 1][2] is not now[0]]
    return Timing(
        calls=len(stream),
        mean=mean,
        median=statistics.median(each) / 1000,
        p99=sorted(each)[len(each) * 99 // 100] / 1000,
        first=statistics.fmean(each[i] for i in starts) / 1000,
        engine=statistics.fmean(inside) / 1000 if inside else None,
    )
