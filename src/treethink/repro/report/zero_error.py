"""When a network reaches zero error, and when it loses it for good.

    single errors of a run -> [ zeroes ] -> Bounds

A network may be without an error for a while by luck. So it reaches zero error where the first
long stretch of observations without a single error begins: long enough for a break in the curve,
which is what the paper goes by. It keeps it if no error follows until the end of the run, and has
lost it when no such stretch follows any more. Tables and judges share this rule.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from treethink.repro.report.series import Run
from treethink.repro.report.statistics import Bounds

#: So many observations without a single error are a stretch; the figure's windows have as many.
STRETCH = 10_000


def reached(run: Run) -> Bounds:
    """The observation of the last error before the first long stretch.

    Where there is none, one may begin after the last error at the earliest.
    """
    stretches = _stretches(run)
    if not stretches:
        return Bounds(_last(run), math.inf)
    begin, _ = stretches[0]
    return Bounds(begin, begin)


def lost(run: Run) -> Bounds | None:
    """The error after the last long stretch: later than all, if the run ends in one; None if
    there is none."""
    stretches = _stretches(run)
    if not stretches:
        return None
    _, end = stretches[-1]
    return Bounds(run.observed, math.inf) if end is None else Bounds(end, end)


def reaches(run: Run) -> bool:
    """Whether there is such a stretch."""
    return bool(_stretches(run))


def keeps(run: Run) -> bool:
    """Whether it reaches zero error, and no error follows."""
    stretches = _stretches(run)
    return bool(stretches) and stretches[0][1] is None


def longest(run: Run) -> int:
    """How many observations in a row were without an error, at most."""
    return int(np.diff(_wrong(run)).max()) - 1


def _wrong(run: Run) -> npt.NDArray[np.int64]:
    """The steps with an error, between the one before the first and the one after the last."""
    steps = np.asarray(run.errors[0], np.int64)
    return np.concatenate([[0], steps, [run.observed + 1]])


def _stretches(run: Run) -> list[tuple[int, int | None]]:
    """The errors before and after each long stretch: None after one that ends with the run."""
    wrong = _wrong(run)
    found = []
    for first in np.flatnonzero(np.diff(wrong) > STRETCH):
        end = None if first == len(wrong) - 2 else int(wrong[first + 1])
        found.append((int(wrong[first]), end))
    return found


def _last(run: Run) -> int:
    steps = run.errors[0]
    return int(steps[-1]) if len(steps) else 0
