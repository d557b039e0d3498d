"""How a claim is held against records.

    data -> [ judge ] -> yes, no, partly, or not enough data; our number, seeds, a sentence

A judge never guesses: where a run that it needs is missing or has failed, where there are too few
seeds, or where an interval is too wide, it says so. A run of TreeThink that was stopped at a
limit is such a run too. One of QORA that was stopped counts as not having learned if it had seen
several times as many observations as TreeThink needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
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
#: A number is about another if it is off by no more than this share.
TOLERANCE = 0.25
#: An interval that reaches further than this many times the median, either way, is too wide.
WIDEST = 2


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the data say of a claim; `better`: our number is off, for the better."""

    answer: str
    ours: str
    seeds: str
    why: str
    better: bool = False


Judge = Callable[[Data], Verdict]


def lacking(runs: Sequence[Run], fewest: int, stopped_too: bool = True) -> str:
    """What keeps these runs from being enough; empty if nothing does.

    `fewest` is how many seeds there must be of every label in every world.
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


def _too_few(runs: Sequence[Run], fewest: int) -> str:
    seeds: dict[tuple[str, str], set[int]] = {}
    for run in runs:
        seeds.setdefault((run.label, run.world), set()).add(run.seed)
    least = min(len(each) for each in seeds.values())
    if least >= fewest:
        return ""
    return f"{least} seed{'s' if least > 1 else ''} only, where {fewest} are needed"


def unknown(why: str, ours: str = "–", runs: Sequence[Run] = ()) -> Verdict:
    """Not enough data, and why."""
    return Verdict(UNKNOWN, ours, seeds_of(runs), f"Not enough data: {why}.")


def seeds_of(runs: Iterable[Run]) -> str:
    """How many seeds there are."""
    return f"{len({run.seed for run in ended(runs)})}"


def by_seed(runs: Sequence[Run]) -> dict[int, Bounds]:
    """The last error of each seed."""
    return {run.seed: last_error(run) for run in ended(runs)}


def summary(runs: Sequence[Run]) -> str:
    """The last error: median and worst."""
    values = [last_error(run) for run in ended(runs)]
    if not values:
        return "–"
    return f"{estimate(values).median} (worst {worst(values)})"


def has_learned(run: Run) -> bool:
    """In section 5's sense where it was examined; else whether it converged."""
    if run.examined is None:
        return converged(run)
    return bool(run.examined["learned"])


def judged_ratio(found: Estimate, times: float, what: str, gain: bool = False) -> Verdict:
    """Whether a ratio is about the paper's. `what` is the beginning of a sentence.

    `gain` says that the larger it is, the better.
    """
    ours, seeds = f"{found} times", str(found.seeds)
    said = f"{what} {found.median} times as long; the paper's number is {number(times)}."
    if says_nothing(found):
        return Verdict(UNKNOWN, ours, seeds, "Not enough data: neither converged.")
    if too_wide(found, times):
        return Verdict(UNKNOWN, ours, seeds, f"Not enough data: {wide(found)}.")
    if is_about(found, times):
        return Verdict(YES, ours, seeds, said)
    if found.interval.low > times and gain:
        said = f"{said} It is better: the gain is larger."
        return Verdict(PARTLY, ours, seeds, said, better=True)
    if found.interval.low > times:
        return Verdict(PARTLY, ours, seeds, f"{said} The difference is larger.")
    if found.interval.low > 1:
        return Verdict(PARTLY, ours, seeds, f"{said} The direction is right, not the size.")
    return Verdict(NO, ours, seeds, said)


def says_nothing(found: Estimate) -> bool:
    """Whether a ratio may be anything."""
    return found.median.low <= 0 and math.isinf(found.median.high)


def is_about(found: Estimate, paper: float) -> bool:
    """Whether the median is within a quarter of the paper's number; a mere bound is not."""
    low, high = (1 - TOLERANCE) * paper, (1 + TOLERANCE) * paper
    return found.median.is_known and low <= found.median.low <= high


def too_wide(found: Estimate, paper: float) -> bool:
    """Whether the interval says neither that the number is about the paper's nor that it is not."""
    low, high = (1 - TOLERANCE) * paper, (1 + TOLERANCE) * paper
    if found.interval.high < low or found.interval.low > high:
        return False
    middle, ends = found.median, found.interval
    return ends.high > WIDEST * middle.high or ends.low * WIDEST < middle.low or not middle.is_known


def wide(found: Estimate) -> str:
    """Why it is too wide."""
    if not found.median.is_known:
        return f"half of the runs ended too early to say more than {found.median}"
    return f"the median may be anything from {number(found.interval.low)} to" + (
        f" {number(found.interval.high)}"
    )
