"""How a claim is held against records.

    data -> [ judge ] -> yes, no, partly, or not enough data; our number, seeds, a sentence

A judge never guesses: where a run that it needs is missing or has failed, it says so. A run of
TreeThink that was stopped at a limit is such a run too. One of QORA that was stopped counts as
not having learned if it had seen as many observations as TreeThink needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from treethink.report.data import Data
from treethink.report.series import Run, ended
from treethink.report.statistics import (
    Bounds,
    Estimate,
    converged,
    estimate,
    last_error,
    number,
)

YES, NO, PARTLY, UNKNOWN = "yes", "no", "partly", "not enough data"
#: Errors of fewer than this are rounding.
NO_ERROR = 1e-9


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the data say of a claim."""

    answer: str
    ours: str
    seeds: str
    why: str


Judge = Callable[[Data], Verdict]


def lacking(runs: Sequence[Run], stopped_too: bool = True) -> str:
    """What keeps these runs from being enough; empty if nothing does."""
    if not runs:
        return "it was not run"
    enough = ("finished",) if stopped_too else ("finished", "stopped")
    bad = [run for run in runs if run.status not in enough]
    if not bad:
        return ""
    kinds = ", ".join(
        f"{sum(run.status == kind for run in bad)} {kind}"
        for kind in dict.fromkeys(run.status for run in bad)
    )
    return f"of {len(runs)} runs, {kinds}"


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
    worst = max(values, key=lambda each: (each.high, each.low))
    return f"{estimate(values).median} (worst {worst})"


def has_learned(run: Run) -> bool:
    """In section 5's sense where it was examined; else whether it converged."""
    if run.examined is None:
        return converged(run)
    return bool(run.examined["learned"])


def judged_ratio(found: Estimate, times: float, what: str) -> Verdict:
    """Whether a ratio is about the paper's. `what` is the beginning of a sentence."""
    ours, seeds = f"{found} times", str(found.seeds)
    said = f"{what} {found.median} times as long; the paper's number is {number(times)}."
    if is_about(found, times):
        return Verdict(YES, ours, seeds, said)
    if says_nothing(found):
        return Verdict(UNKNOWN, ours, seeds, "Not enough data: neither converged.")
    if found.interval.low > times:
        return Verdict(PARTLY, ours, seeds, f"{said} The difference is larger.")
    if found.interval.low > 1:
        size = "not the size" if found.median.is_known else "the runs were too short for the size"
        return Verdict(PARTLY, ours, seeds, f"{said} The direction is right, {size}.")
    return Verdict(NO, ours, seeds, said)


def says_nothing(found: Estimate) -> bool:
    """Whether a ratio may be anything."""
    return found.median.low <= 0 and math.isinf(found.median.high)


def is_about(found: Estimate, paper: float) -> bool:
    """Within a quarter of the paper's number, or its interval has it; a mere bound is not."""
    middle = found.median
    if not middle.is_known:
        return False
    return found.interval.low <= paper <= found.interval.high or (
        0.75 * paper <= middle.low <= 1.25 * paper
    )
