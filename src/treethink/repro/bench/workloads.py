"""Seeded workloads, and how long a model takes over them.

    world -> workload -> [ timing ] -> Timing, in microseconds

States are made outside the clock, by `World.step`, anew for every pass, so that no pass
finds work that an earlier one left done. Answers are checked as well: fast and wrong is wrong.
"""

from __future__ import annotations

import gc
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter_ns
from typing import Any

from treethink.model import TreeThink
from treethink.state import State
from treethink.stream.random_play import Transition, transitions
from treethink.worlds import World

#: Steps in each level.
EPISODE = 50


class Stream(list[Transition]):
    """Transitions, and at which of them a level starts."""

    starts: Sequence[int] = ()


#: Makes the transitions of a workload. Each call makes new states, equal to those before.
Workload = Callable[[], Stream]

#: Makes a model that has seen nothing yet.
Fresh = Callable[[], TreeThink]


@dataclass(frozen=True, slots=True)
class Timing:
    """Microseconds for one call.

    `mean` has one clock around all calls; the best of the repeated passes counts. `median`,
    `p99` and `first` (the mean of the first steps of levels) have a clock around each call,
    which itself takes up to 0.1. `engine` is the mean when timed inside the engine.
    """

    calls: int
    mean: float
    median: float
    p99: float
    first: float
    engine: float


def play(world: World, steps: int, seed: int = 0) -> Workload:
    """Random play."""

    def make() -> Stream:
        stream = Stream(transitions(world, steps, seed, EPISODE))
        stream.starts = range(0, steps, EPISODE)
        return stream

    return make


def questions(world: World, count: int, seed: int = 0) -> Workload:
    """Random play without the steps from a state that was met before: no question comes twice."""

    def make() -> Stream:
        met: set[State] = set()
        stream, starts = Stream(), []
        for step, transition in enumerate(transitions(world, 100 * count, seed, EPISODE)):
            if transition[0] in met:
                continue
            if step % EPISODE == 0:
                starts.append(len(stream))
            met.add(transition[0])
            stream.append(transition)
            if len(stream) == count:
                break
        stream.starts = starts
        return stream

    return make


def converged(world: World, steps: int = 20_000) -> TreeThink:
    """A model that has learned the world."""
    model = TreeThink(world.schema)
    model.observe_many(transitions(world, steps, seed=1_000, episode=EPISODE))
    return model


def time_observe(fresh: Fresh, workload: Workload, repeats: int = 1) -> Timing:
    """A new model observes everything."""

    def whole() -> float:
        stream, observe = workload(), fresh().observe
        with _clock() as clock:
            for before, action, after in stream:
                observe(before, action, after)
        return clock.microseconds / len(stream)

    def each() -> list[int]:
        stream, observe = workload(), fresh().observe
        times = []
        with _clock():
            for before, action, after in stream:
                start = perf_counter_ns()
                observe(before, action, after)
                times.append(perf_counter_ns() - start)
        return times

    def inside() -> float:
        return statistics.fmean(fresh()._time_observe(workload())) / 1000

    return _timing(workload(), _best(whole, repeats), each(), _best(inside, repeats))


def time_observe_many(fresh: Fresh, workload: Workload, repeats: int = 1) -> float:
    """Mean microseconds when a new model observes everything in a single call."""

    def whole() -> float:
        stream, model = workload(), fresh()
        with _clock() as clock:
            model.observe_many(stream)
        return clock.microseconds / len(stream)

    return _best(whole, repeats)


def time_both(
    fresh: Callable[[], Any], workload: Workload, repeats: int = 1
) -> tuple[float, float]:
    """Mean microseconds of `predict` (with `mode`) and of `observe`, of any learner."""

    def once() -> tuple[float, float]:
        stream, learner = workload(), fresh()
        predicting = observing = 0
        with _clock():
            for before, action, after in stream:
                start = perf_counter_ns()
                learner.predict(before, action).mode()
                predicted = perf_counter_ns()
                learner.observe(before, action, after)
                observing += perf_counter_ns() - predicted
                predicting += predicted - start
        return predicting / len(stream) / 1000, observing / len(stream) / 1000

    predicts, observes = zip(*(once() for _ in range(repeats)), strict=True)
    return min(predicts), min(observes)


def longest_observe(fresh: Fresh, workload: Workload, after: int, repeats: int = 1) -> float:
    """Microseconds of the longest single observation later than so many, inside the engine."""
    passes = [fresh()._time_observe(workload())[after:] for _ in range(repeats)]
    return max(map(min, zip(*passes, strict=True)), default=0) / 1000


def time_predict(
    model: TreeThink, workload: Workload, how: Mapping[str, str], repeats: int = 1
) -> Timing:
    """`predict(...).mode()` for every state and action of the workload."""
    predict = model.predict

    def whole() -> float:
        stream = workload()
        with _clock() as clock:
            for before, action, _ in stream:
                predict(before, action, **how).mode()
        return clock.microseconds / len(stream)

    def each() -> list[int]:
        times = []
        stream = workload()
        with _clock():
            for before, action, _ in stream:
                start = perf_counter_ns()
                predict(before, action, **how).mode()
                times.append(perf_counter_ns() - start)
        return times

    def inside() -> float:
        situations = [(before, action) for before, action, _ in workload()]
        return statistics.fmean(model._time_predict(situations, **how)) / 1000

    stream = workload()
    for before, action, after in stream:
        if predict(before, action, **how).mode() != after:
            raise AssertionError(f"a wrong prediction of {action!r} from {before!r}")
    return _timing(stream, _best(whole, repeats), each(), _best(inside, repeats))


def _best(measure: Callable[[], float], repeats: int) -> float:
    """Whatever else the machine does only ever adds, so the least is the nearest."""
    return min(measure() for _ in range(repeats))


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


def _timing(stream: Stream, mean: float, each: list[int], engine: float) -> Timing:
    return Timing(
        calls=len(stream),
        mean=mean,
        median=statistics.median(each) / 1000,
        p99=sorted(each)[len(each) * 99 // 100] / 1000,
        first=statistics.fmean(each[i] for i in stream.starts) / 1000,
        engine=engine,
    )
