"""How long models and searches take over a workload.

    workload -> [ timing ] -> Timing, in microseconds; Speed, in simulations a second

States are made outside the clock, anew for every pass. Predictions are checked as well.
"""

from __future__ import annotations

import gc
import statistics
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter, perf_counter_ns
from typing import Any

from treethink.model import TreeThink
from treethink.planning.search import Search, SearchSettings
from treethink.repro.bench.workloads import Fresh, Stream, Workload
from treethink.worlds import World


@dataclass(frozen=True, slots=True)
class Timing:
    """Microseconds for one call.

    `mean` is measured with one clock around all calls; the best of the repeated passes counts.
    `median`, `p99` and `first` (the mean of the first steps of levels) have a clock around each
    call, which itself takes up to 0.1. `engine` is the mean when timed inside the engine.
    """

    calls: int
    mean: float
    median: float
    p99: float
    first: float
    engine: float


def time_observe(fresh: Fresh, workload: Workload, repeats: int = 1) -> Timing:
    """Time `observe` of a new model."""

    def whole() -> float:
        stream, observe = workload(), fresh().observe
        with _clock() as clock:
            for before, action, after, *_ in stream:
                observe(before, action, after)
        return clock.microseconds / len(stream)

    def each() -> list[int]:
        stream, observe = workload(), fresh().observe
        times = []
        with _clock():
            for before, action, after, *_ in stream:
                start = perf_counter_ns()
                observe(before, action, after)
                times.append(perf_counter_ns() - start)
        return times

    def inside() -> float:
        return statistics.fmean(fresh()._time_observe(workload())) / 1000

    return _timing(workload(), _best(whole, repeats), each(), _best(inside, repeats))


def time_observe_many(fresh: Fresh, workload: Workload, repeats: int = 1) -> float:
    """Return the mean microseconds of `observe_many` of a new model, for one transition."""

    def whole() -> float:
        stream, model = workload(), fresh()
        with _clock() as clock:
            model.observe_many(stream)
        return clock.microseconds / len(stream)

    return _best(whole, repeats)


def time_both(
    fresh: Callable[[], Any], workload: Workload, repeats: int = 1
) -> tuple[float, float]:
    """Return the mean microseconds of `predict` (with `mode`) and of `observe` of a learner."""

    def once() -> tuple[float, float]:
        stream, learner = workload(), fresh()
        predicting = observing = 0
        with _clock():
            for before, action, after, *_ in stream:
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
    """Return the microseconds of the longest observation after the first `after`, in the engine."""
    passes = [fresh()._time_observe(workload())[after:] for _ in range(repeats)]
    return max(map(min, zip(*passes, strict=True)), default=0) / 1000


def time_predict(
    model: TreeThink, workload: Workload, how: Mapping[str, str], repeats: int = 1
) -> Timing:
    """Time `predict(...).mode()` for every state and action of the workload."""
    predict = model.predict

    def whole() -> float:
        stream = workload()
        with _clock() as clock:
            for before, action, *_ in stream:
                predict(before, action, **how).mode()
        return clock.microseconds / len(stream)

    def each() -> list[int]:
        times = []
        stream = workload()
        with _clock():
            for before, action, *_ in stream:
                start = perf_counter_ns()
                predict(before, action, **how).mode()
                times.append(perf_counter_ns() - start)
        return times

    def inside() -> float:
        situations = [(before, action) for before, action, *_ in workload()]
        return statistics.fmean(model._time_predict(situations, **how)) / 1000

    stream = workload()
    for before, action, after, *_ in stream:
        if predict(before, action, **how).mode() != after:
            raise AssertionError(f"a wrong prediction of {action!r} from {before!r}")
    return _timing(stream, _best(whole, repeats), each(), _best(inside, repeats))


def best_seconds(call: Callable[[], object], repeats: int) -> float:
    """Return the seconds that a call takes, the best of several passes."""
    times = []
    for _ in range(repeats):
        start = perf_counter()
        call()
        times.append(perf_counter() - start)
    return min(times)


def _best(measure: Callable[[], float], repeats: int) -> float:
    """Return the least of several measurements; other load on the machine only adds to it."""
    return min(measure() for _ in range(repeats))


class _Clock:
    microseconds = 0.0


@contextmanager
def _clock() -> Iterator[_Clock]:
    """Time the `with` block, with the garbage collector paused."""
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


# ------------------------------------------------------------------------------- searches


@dataclass(frozen=True, slots=True)
class Speed:
    """The cost of plans in several levels together; the best of several passes."""

    simulations: int
    steps: int
    seconds: float

    @property
    def rate(self) -> float:
        """Simulations a second."""
        return self.simulations / self.seconds

    @property
    def microseconds(self) -> float:
        """The time of one simulation."""
        return 1e6 * self.seconds / self.simulations

    @property
    def depth(self) -> float:
        """The mean number of steps of a simulation."""
        return self.steps / self.simulations


def time_plans(
    model: Any, world: World, settings: SearchSettings, plans: int, repeats: int = 1
) -> Speed:
    """Plan once in each of `plans` levels, anew in each pass."""
    passes = []
    for _ in range(repeats):
        states = [world.reset(seed) for seed in range(plans)]
        searches = [Search(model, settings, seed) for seed in range(plans)]
        start = perf_counter()
        results = [each.plan(state) for each, state in zip(searches, states, strict=True)]
        seconds = perf_counter() - start
        done = sum(each.simulations for each in results)
        passes.append(Speed(done, sum(each.steps for each in searches), seconds))
    return min(passes, key=lambda each: each.seconds)
