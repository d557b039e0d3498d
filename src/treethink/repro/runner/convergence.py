"""When a run was done with its errors, as far as that is known.

    entries, runs -> [ settled ] -> Bounds

A run that still errs at its end says only that its last error lies later. Such a number is
censored: it has two ends (`Bounds`), is known to lie above what was observed, and is never left
out. Tables and reports share this rule.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

#: A run that errs within the last tenth of its steps has not converged.
CONVERGED_BY = 0.9


class Ended(Protocol):
    """What is asked of a run."""

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
    """A number that lies between `low` and `high`; both are the same where it is known.

    >>> print(Bounds(3, 3), Bounds(60_000, math.inf), Bounds(2.5, 4))
    3 >60,000 2.5 to 4
    """

    low: float
    high: float

    @property
    def is_known(self) -> bool:
        """Whether both ends are one."""
        return self.low == self.high and math.isfinite(self.high)

    def __str__(self) -> str:
        if self.is_known:
            return number(self.low)
        if math.isinf(self.high):
            return f">{number(self.low)}" if self.low > 0 else "unknown"
        return f"<{number(self.high)}" if self.low <= 0 else between(self.low, self.high)


def last_error(run: Ended) -> Bounds:
    """The observation of the last error; where the run has not converged, after all of it."""
    if converged(run):
        return Bounds(run.last_error or 0, run.last_error or 0)
    return Bounds(run.observed, math.inf)


def converged(run: Ended) -> bool:
    """Whether a run ended, and well after its last error."""
    return run.status == "finished" and (run.last_error or 0) <= CONVERGED_BY * run.steps


def middle(values: Sequence[Bounds]) -> Bounds:
    """The median of numbers of which some are only bounded.

    >>> print(middle([Bounds(5, 5), Bounds(6, 6), Bounds(400, math.inf)]))
    6
    """
    return Bounds(median([each.low for each in values]), median([each.high for each in values]))


def worst(values: Sequence[Bounds]) -> Bounds:
    """The latest of them: at least the greatest of the low ends, at most that of the high ones."""
    return Bounds(max(each.low for each in values), max(each.high for each in values))


def median(values: Sequence[float]) -> float:
    """The middle one; of an even number the mean of two, unless one of them is infinite."""
    ordered = sorted(values)
    below, above = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    return below if below == above else (below + above) / 2


def number(value: float) -> str:
    """As people write it.

    >>> [number(each) for each in (12345.6, 34.62, 0.0123, 2.0, math.inf)]
    ['12,346', '34.6', '0.0123', '2', '∞']
    """
    if not math.isfinite(value):
        return "∞" if value > 0 else "unknown"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def between(low: float, high: float) -> str:
    """From one number to another, for people."""
    return f"{number(low)} to {number(high)}"


def counted(count: float, what: str) -> str:
    """So many of them, for people.

    >>> counted(1, "run"), counted(2_000_000, "run"), counted(1.0, "megabyte")
    ('1 run', '2,000,000 runs', '1 megabyte')
    """
    amount = f"{count:,}" if isinstance(count, int) else f"{count:,g}"
    return f"{amount} {what}{'' if count == 1 else 's'}"
