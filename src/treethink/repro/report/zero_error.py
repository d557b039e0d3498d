"""When a network reaches zero error, and when it loses it for good.

    single errors of a run -> [ zero_error ] -> Bounds

A network may make no error for a while by chance. So it reaches zero error where the first long
stretch of observations without a single error begins: long enough for a break in the curve, which
is the paper's criterion. It keeps zero error if no error follows until the end of the run, and has
lost it after the last such stretch. Tables and judges share this rule.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from treethink.repro.report.series import Run
from treethink.repro.report.statistics import Bounds

#: The observations without a single error that make a stretch; a window of the figure.
STRETCH = 10_000


def reached(run: Run) -> Bounds:
    """Return the observation of the last error before the first long stretch.

    Without a stretch it is censored: one may begin after the last error at the earliest.
    """
    stretches = _stretches(run)
    if not stretches:
        return Bounds(_last(run), math.inf)
    begin, _ = stretches[0]
    return Bounds(begin, begin)


def lost(run: Run) -> Bounds | None:
    """Return the observation of the error after the last long stretch; None without a stretch.

    If the run ends in a stretch, it is censored.
    """
    stretches = _stretches(run)
    if not stretches:
        return None
    _, end = stretches[-1]
    return Bounds(run.observed, math.inf) if end is None else Bounds(end, end)


def reaches(run: Run) -> bool:
    """Whether there is a long stretch without an error."""
    return bool(_stretches(run))


def keeps(run: Run) -> bool:
    """Whether a run reaches zero error, and no error follows."""
    stretches = _stretches(run)
    return bool(stretches) and stretches[0][1] is None


def longest(run: Run) -> int:
    """Return the largest number of observations in a row without an error."""
    return int(np.diff(_wrong(run)).max()) - 1


def _wrong(run: Run) -> npt.NDArray[np.int64]:
    """Return the steps with an error, preceded by 0 and followed by the step after the last."""
    steps = np.asarray(run.errors[0], np.int64)
    return np.concatenate([[0], steps, [run.observed + 1]])


def _stretches(run: Run) -> list[tuple[int, int | None]]:
    """Return the errors before and after each long stretch; None if the run ends in it."""
    wrong = _wrong(run)
    stretches = []
    for first in np.flatnonzero(np.diff(wrong) > STRETCH):
        end = None if first == len(wrong) - 2 else int(wrong[first + 1])
        stretches.append((int(wrong[first]), end))
    return stretches


def _last(run: Run) -> int:
    steps = run.errors[0]
    return int(steps[-1]) if len(steps) else 0
