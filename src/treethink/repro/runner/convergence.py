"""The convergence step of a run: its last error, right-censored if it never converged.

    entries, runs -> [ convergence ] -> Bounds

A run that still errs near its end has its last error at some later step. Such a number is
censored: it is kept as `Bounds`, from the number of observed steps to infinity, and never left
out. Tables and reports share this rule.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

#: A run that errs within the last tenth of its steps has not converged.
CONVERGED_BY = 0.9


class EndedRun(Protocol):
    """What convergence needs to know of a run."""

    @property
    def status(self) -> str: ...
    @property
    def steps(self) -> int: ...
    @property
    def observed(self) -> int: ...
    @property
    def last_error(self) -> int | None: ...


@dataclass(frozen=True, slots=True)
class Bounds:
    """A number between `low` and `high`; both are the same where it is known.

    >>> print(Bounds(3, 3), Bounds(60_000, math.inf), Bounds(2.5, 4))
    3 >60,000 2.5 to 4
    """

    low: float
    high: float

    @property
    def is_known(self) -> bool:
        """Whether `low` and `high` are the same finite number."""
        return self.low == self.high and math.isfinite(self.high)

    def __str__(self) -> str:
        if self.is_known:
            return number(self.low)
        if math.isinf(self.high):
            return f">{number(self.low)}" if self.low > 0 else "unknown"
        return f"<{number(self.high)}" if self.low <= 0 else between(self.low, self.high)


def last_error(run: EndedRun) -> Bounds:
    """Return the step of the last error; if the run has not converged, later than all steps."""
    if converged(run):
        return Bounds(run.last_error or 0, run.last_error or 0)
    return Bounds(run.observed, math.inf)


def converged(run: EndedRun) -> bool:
    """Whether a run finished without an error in its last tenth."""
    return run.status == "finished" and (run.last_error or 0) <= CONVERGED_BY * run.steps


def middle(values: Sequence[Bounds]) -> Bounds:
    """Return the median of numbers, some of which may be censored.

    >>> print(middle([Bounds(5, 5), Bounds(6, 6), Bounds(400, math.inf)]))
    6
    """
    return Bounds(median([each.low for each in values]), median([each.high for each in values]))


def worst(values: Sequence[Bounds]) -> Bounds:
    """Return the largest of numbers, some of which may be censored."""
    return Bounds(max(each.low for each in values), max(each.high for each in values))


def median(values: Sequence[float]) -> float:
    """Return the median; of an even number of values the mean of the middle two."""
    ordered = sorted(values)
    below, above = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    return below if below == above else (below + above) / 2


def number(value: float) -> str:
    """Return a number as text, with three digits or none after the point.

    >>> [number(each) for each in (12345.6, 34.62, 0.0123, 2.0, math.inf)]
    ['12,346', '34.6', '0.0123', '2', '∞']
    """
    if not math.isfinite(value):
        return "∞" if value > 0 else "unknown"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def between(low: float, high: float) -> str:
    """Return a range as text."""
    return f"{number(low)} to {number(high)}"


def counted(count: float, what: str) -> str:
    """Return a count with its noun.

    >>> counted(1, "run"), counted(2_000_000, "run"), counted(1.0, "megabyte")
    ('1 run', '2,000,000 runs', '1 megabyte')
    """
    amount = f"{count:,}" if isinstance(count, int) else f"{count:,g}"
    return f"{amount} {what}{'' if count == 1 else 's'}"
