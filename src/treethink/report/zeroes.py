"""When a network reaches zero error, and when it loses it again.

    single errors of a run -> [ zeroes ] -> Bounds

A network may be without an error for a while by luck. So it reaches zero error where the first
long stretch of observations without a single error begins, and keeps it if no error follows until
the end of the run. Tables and judges share this rule.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from treethink.report.series import Run
from treethink.report.statistics import Bounds

#: So many observations without a single error are no luck.
STRETCH = 50_000


def reached(run: Run) -> Bounds:
    """The observation of the last error before the first long stretch.

    Where there is none, one may begin after the last error at the earliest.
    """
    begin, _ = _stretch(run)
    return Bounds(_last(run), math.inf) if begin is None else Bounds(begin, begin)


def lost(run: Run) -> Bounds | None:
    """The first error after that stretch: later than all, if it is kept; None if never reached."""
    begin, end = _stretch(run)
    if begin is None:
        return None
    return Bounds(run.observed, math.inf) if end is None else Bounds(end, end)


def reaches(run: Run) -> bool:
    """Whether there is such a stretch."""
    return _stretch(run)[0] is not None


def keeps(run: Run) -> bool:
    """Whether it reaches zero error, and no error follows."""
    begin, end = _stretch(run)
    return begin is not None and end is None


def longest(run: Run) -> int:
    """How many observations in a row were without an error, at most."""
    return int(np.diff(_wrong(run)).max()) - 1


def _wrong(run: Run) -> npt.NDArray[np.int64]:
    """The steps with an error, between the one before the first and the one after the last."""
    steps = np.asarray(run.errors[0], np.int64)
    return np.concatenate([[0], steps, [run.observed + 1]])


def _stretch(run: Run) -> tuple[int | None, int | None]:
    """The errors before and after the first long stretch: None where there is none."""
    wrong = _wrong(run)
    long = np.flatnonzero(np.diff(wrong) > STRETCH)
    if not len(long):
        return None, None
    first = int(long[0])
    end = None if first == len(wrong) - 2 else int(wrong[first + 1])
    return int(wrong[first]), end


def _last(run: Run) -> int:
    steps = run.errors[0]
    return int(steps[-1]) if len(steps) else 0
