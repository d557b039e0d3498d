"""What all judges share: verdicts, and the rules for when there is enough data.

    data -> [ judge ] -> yes, no, partly, or not enough data; our number, seeds, the reason

A judge answers "not enough data" where a run that it needs is missing or has failed, where there
are too few seeds, or where an interval is too wide. A run of TreeThink that was stopped at a limit
counts as missing. A stopped run of QORA counts as not having learned, if it had observed several
times as many transitions as TreeThink needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from treethink.repro.report.data import Data
from treethink.repro.report.series import Run, ended
from treethink.repro.report.statistics import (
    Bounds,
    Estimate,
    converged,
    estimate,
    last_error,
    number,
    worst,
)

YES, NO, PARTLY, UNKNOWN = "yes", "no", "partly", "not enough data"
#: Two numbers are about equal if they differ by no more than this share.
TOLERANCE = 0.25
#: An interval that reaches further than this many times the median, either way, is too wide.
WIDEST = 2


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of judging a claim; `better`: our number differs, and is better."""

    answer: str
    ours: str
    seeds: str
    why: str
    better: bool = False


Judge = Callable[[Data], Verdict]


def lacking(runs: Sequence[Run], fewest: int, stopped_too: bool = True) -> str:
    """Return why these runs are not enough for a verdict; empty if they are.

    `fewest` is the least number of seeds of every label in every world.
    """
    if not runs:
        return "it was not run"
    enough = ("finished",) if stopped_too else ("finished", "stopped")
    bad = [run for run in runs if run.status not in enough]
    if not bad:
        return _too_few(runs, fewest)
    kinds = ", ".join(
        f"{sum(run.status == kind for run in bad)} {kind}"
        for kind in dict.fromkeys(run.status for run in bad)
    )
    return f"of {len(runs)} runs, {kinds}"


def lacking_by_label(groups: Mapping[str, Sequence[Run]], fewest: int) -> str:
    """Return which learners lack runs for a verdict, and why; empty if none does."""
    gaps = {label: lacking(runs, fewest) for label, runs in groups.items()}
    return ", ".join(f"{label} ({gap})" for label, gap in gaps.items() if gap)


def _too_few(runs: Sequence[Run], fewest: int) -> str:
    seeds: dict[tuple[str, str], set[int]] = {}
    for run in runs:
        seeds.setdefault((run.label, run.world), set()).add(run.seed)
    least = min(len(each) for each in seeds.values())
    if least >= fewest:
        return ""
    return f"{least} seed{'s' if least > 1 else ''} only, where {fewest} are needed"


def unknown(why: str, ours: str = "–", runs: Sequence[Run] = ()) -> Verdict:
    """Return the verdict "not enough data"."""
    return Verdict(UNKNOWN, ours, seeds_of(runs), f"Not enough data: {why}.")


def graded(good: int, total: int) -> str:
    """Return the answer for a claim that holds in so many cases: in all, in some, or in none."""
    return YES if good == total else PARTLY if good else NO


def seeds_of(runs: Iterable[Run]) -> str:
    """Return the number of seeds, as text."""
    return f"{len({run.seed for run in ended(runs)})}"


def by_seed(runs: Sequence[Run]) -> dict[int, Bounds]:
    """Return the last error of each seed."""
    return {run.seed: last_error(run) for run in ended(runs)}


def summary(runs: Sequence[Run]) -> str:
    """Return the median and the worst last error, as text."""
    values = [last_error(run) for run in ended(runs)]
    if not values:
        return "–"
    return f"{estimate(values).median} (worst {worst(values)})"


def has_learned(run: Run) -> bool:
    """Whether a run learned its world: by its examination, or by convergence without one."""
    if run.examined is None:
        return converged(run)
    return bool(run.examined["learned"])


def judged_ratio(value: Estimate, times: float, what: str, gain: bool = False) -> Verdict:
    """Judge whether a ratio is about the paper's. `what` is the beginning of a sentence.

    `gain` says that larger ratios are better.
    """
    ours, seeds = f"{value} times", str(value.seeds)
    why = f"{what} {value.median} times as long; the paper's number is {number(times)}."
    if is_unbounded(value):
        return Verdict(UNKNOWN, ours, seeds, "Not enough data: neither converged.")
    if too_wide(value, times):
        return Verdict(UNKNOWN, ours, seeds, f"Not enough data: {why_too_wide(value)}.")
    if is_about(value, times):
        return Verdict(YES, ours, seeds, why)
    if value.interval.low > times and gain:
        why = f"{why} It is better: the gain is larger."
        return Verdict(PARTLY, ours, seeds, why, better=True)
    if value.interval.low > times:
        return Verdict(PARTLY, ours, seeds, f"{why} The difference is larger.")
    if value.interval.low > 1:
        return Verdict(PARTLY, ours, seeds, f"{why} The direction is right, not the size.")
    return Verdict(NO, ours, seeds, why)


def is_unbounded(value: Estimate) -> bool:
    """Whether a ratio is censored on both sides, so that it may be anything."""
    return value.median.low <= 0 and math.isinf(value.median.high)


def is_about(value: Estimate, paper: float) -> bool:
    """Whether the median is known, and within a quarter of the paper's number."""
    low, high = (1 - TOLERANCE) * paper, (1 + TOLERANCE) * paper
    return value.median.is_known and low <= value.median.low <= high


def too_wide(value: Estimate, paper: float) -> bool:
    """Whether the interval is too wide to say if the number is about the paper's."""
    low, high = (1 - TOLERANCE) * paper, (1 + TOLERANCE) * paper
    if value.interval.high < low or value.interval.low > high:
        return False
    middle, ends = value.median, value.interval
    return ends.high > WIDEST * middle.high or ends.low * WIDEST < middle.low or not middle.is_known


def why_too_wide(value: Estimate) -> str:
    """Return why an interval is too wide."""
    if not value.median.is_known:
        return f"half of the runs ended too early to say more than {value.median}"
    return f"the median may be anything from {number(value.interval.low)} to" + (
        f" {number(value.interval.high)}"
    )
