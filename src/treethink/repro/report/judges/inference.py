"""Judges of claims about the two savings of prediction."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from treethink.repro.report.data import Data
from treethink.repro.report.judges.common import (
    NO,
    PARTLY,
    YES,
    Judge,
    Verdict,
    judged_ratio,
    lacking,
    seeds_of,
    unknown,
)
from treethink.repro.report.series import Run, ended, time_of
from treethink.repro.report.statistics import Bounds, estimate, paired, ratio


def times_of(data: Data, figure: str, label: str, world: str, column: str) -> dict[int, float]:
    """Return the time of each seed."""
    runs = ended(data.runs(figure, label, world))
    times = {run.seed: time_of(run, column) for run in runs}
    return {seed: value for seed, value in times.items() if not math.isnan(value)}


def speed_up(data: Data, world: str, column: str, fast: str) -> list[Bounds]:
    """Return how many times faster than `none` it is, seed by seed."""
    slow = times_of(data, "inference", "none", world, column)
    return paired(slow, times_of(data, "inference", fast, world, column))


def faster(world: str, column: str, times: float) -> Judge:
    """Judge whether both savings together make prediction about `times` times faster."""

    def judge(data: Data) -> Verdict:
        runs = [run for name in ("none", "both") for run in data.runs("inference", name, world)]
        ratios = speed_up(data, world, column, "both")
        if gap := lacking(runs, data.fewest) or ("" if ratios else "nothing was timed"):
            return unknown(gap, "–", runs)
        return judged_ratio(estimate(ratios), times, "Without them, a prediction takes", gain=True)

    return judge


def grows_with_objects(data: Data) -> Verdict:
    """Judge whether the speed-up is larger in the larger world, seed by seed."""
    runs = [run for name in ("none", "both") for run in data.runs("inference", name, "maze")]
    small = speed_up(data, "maze", "predict_us", "both")
    large = speed_up(data, "maze", "transfer_us", "both")
    if gap := lacking(runs, data.fewest) or ("" if small and large else "nothing was timed"):
        return unknown(gap, "–", runs)
    growth = estimate([ratio(b, a) for a, b in zip(small, large, strict=True)])
    ours = f"{estimate(small).median} at 8 x 8, {estimate(large).median} at 32 x 32"
    answer = YES if growth.interval.low > 1 else NO
    why = f"The speed-up at 32 x 32 is {growth} times that at 8 x 8."
    return Verdict(answer, ours, str(growth.seeds), why)


def eval_alone_gains_little(data: Data) -> Verdict:
    """Judge whether stopping at the first binding alone gains under 1%."""
    runs = [run for name in ("none", "eval") for run in data.runs("inference", name)]
    gains: dict[str, float] = {}
    for world, column, name in INFERENCE_ROWS:
        ratios = speed_up(data, world, column, "eval")
        if ratios:
            gains[name] = 1 - 1 / estimate(ratios).median.low
    ours = ", ".join(f"{name} {gain:+.1%}" for name, gain in gains.items()) or "–"
    if gap := lacking(runs, data.fewest) or (
        "" if len(gains) == len(INFERENCE_ROWS) else "not all were timed"
    ):
        return unknown(gap, ours, runs)
    small = sum(gain < 0.01 for gain in gains.values())
    answer = YES if small == len(gains) else PARTLY if small else NO
    return Verdict(
        answer, ours, seeds_of(runs), f"Under 1% in {small} of {len(gains)} worlds (median gain)."
    )


#: World of the runs, column with the time, name in the paper's table.
INFERENCE_ROWS = (
    ("maze", "predict_us", "maze"),
    ("maze", "transfer_us", "maze-t"),
    ("switches", "predict_us", "switches"),
    ("keys", "predict_us", "keys"),
)


def learn_identically(data: Data) -> Verdict:
    """Judge whether the four settings made exactly the same errors."""
    runs = data.runs("inference")
    if gap := lacking(runs, data.fewest):
        return unknown(gap, "–", runs)
    groups: dict[tuple[str, int], list[Run]] = {}
    for run in runs:
        groups.setdefault((run.world, run.seed), []).append(run)
    if any(len(group) < 4 for group in groups.values()):
        return unknown("not all four settings ran", "–", runs)
    different = [key for key, group in groups.items() if not _same_errors(group)]
    ours = f"{len(groups) - len(different)} of {len(groups)} streams"
    if not different:
        return Verdict(YES, ours, seeds_of(runs), "Step by step, the errors are equal.")
    names = ", ".join(f"{world} seed {seed}" for world, seed in different[:5])
    answer = PARTLY if len(different) < len(groups) else NO
    return Verdict(answer, ours, seeds_of(runs), f"They differ in {names}.")


def _same_errors(group: Sequence[Run]) -> bool:
    (steps, errors), *others = (run.errors for run in group)
    return all(np.array_equal(steps, s) and np.array_equal(errors, e) for s, e in others)
