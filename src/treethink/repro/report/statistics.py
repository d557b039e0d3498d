"""Statistics over seeds: bands, bootstrap intervals, ratios and fits.

Every interval is a percentile bootstrap with a fixed seed, so that the same records make the same
report. Runs that did not converge are censored (`runner/convergence.py`): their numbers are
`Bounds`, and medians are taken of both ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from treethink.repro.runner.convergence import (
    Bounds,
    between,
    converged,
    last_error,
    median,
    middle,
    number,
    worst,
)

__all__ = [
    "Array", "Bounds", "Estimate", "Fit", "band", "bootstrap", "converged", "estimate", "fit",
    "last_error", "means", "median", "medians", "number", "paired", "ratio", "worst",
]  # fmt: skip

Array = npt.NDArray[np.float64]

DRAWS = 2_000
LEVEL = 0.95
_SEED = 20_260


@dataclass(frozen=True, slots=True)
class Estimate:
    """A median over seeds, and the interval in which it plausibly lies."""

    median: Bounds
    interval: Bounds
    seeds: int

    def __str__(self) -> str:
        return f"{self.median} ({between(self.interval.low, self.interval.high)})"


# ------------------------------------------------------------------- bootstrap


def bootstrap(
    rows: Array, statistic: Callable[[Array], Array], draws: int = DRAWS
) -> tuple[Array, Array]:
    """Return both ends of the interval of a statistic over resampled rows.

    `statistic` gets an array (draws, rows, ...) and reduces its second axis.
    """
    rng = np.random.default_rng(_SEED)
    picks = rng.integers(len(rows), size=(draws, len(rows)))
    values = statistic(rows[picks])
    ends = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0, method="nearest")
    return ends[0], ends[1]


def band(rows: Array, reduced: Callable[[Array], Array]) -> tuple[Array, Array, Array]:
    """Return the mean or median over seeds, and its interval, for every column.

    A row may end early in NaN.

    `reduced` is `means` or `medians`: it reduces the second axis of what it gets.
    """
    center = np.empty(rows.shape[1])
    low, high = np.empty_like(center), np.empty_like(center)
    # Columns that the same rows reached share their draws.
    reached = ~np.isnan(rows)
    for pattern in np.unique(reached, axis=1).T:
        columns = np.all(reached == pattern[:, None], axis=0)
        kept = rows[pattern][:, columns]
        center[columns] = low[columns] = high[columns] = reduced(kept[None])[0]
        if len(kept) > 1:
            low[columns], high[columns] = bootstrap(kept, reduced)
    return center, low, high


def means(rows: Array) -> Array:
    """Return the means over the second axis."""
    result: Array = rows.mean(axis=1)
    return result


def medians(rows: Array) -> Array:
    """Return the medians over the second axis; they may be infinite."""
    ordered = np.sort(rows, axis=1)
    n = rows.shape[1]
    below, above = ordered[:, (n - 1) // 2], ordered[:, n // 2]
    result: Array = np.where(below == above, below, (below + above) / 2)
    return result


def estimate(values: Sequence[Bounds]) -> Estimate:
    """Return the median of numbers, some of which may be censored, with a bootstrap interval."""
    if not values:
        raise ValueError("an estimate needs at least one value")
    lows, highs = [each.low for each in values], [each.high for each in values]
    center = middle(values)
    if len(values) == 1:
        return Estimate(center, center, 1)
    low = bootstrap(np.array(lows), medians)[0]
    high = bootstrap(np.array(highs), medians)[1]
    return Estimate(center, Bounds(float(low), float(high)), len(values))


# ------------------------------------------------------------------- ratios


def ratio(above: Bounds, below: Bounds) -> Bounds:
    """Return the ratio of two numbers, which may be censored.

    >>> print(ratio(Bounds(80, 80), Bounds(20, 20)), ratio(Bounds(90, math.inf), Bounds(3, 3)))
    4 >30
    """
    top, bottom = _at_least_one(above), _at_least_one(below)
    low = 0.0 if math.isinf(bottom.high) else top.low / bottom.high
    return Bounds(low, top.high / bottom.low)


def _at_least_one(bounds: Bounds) -> Bounds:
    """Count a run without any error as converged at its first observation."""
    return Bounds(max(bounds.low, 1.0), max(bounds.high, 1.0))


def paired(above: dict[int, float], below: dict[int, float]) -> list[Bounds]:
    """Return the ratios of measured numbers, seed by seed, for the seeds that both have."""
    common = sorted(above.keys() & below.keys())
    return [Bounds(above[s] / below[s], above[s] / below[s]) for s in common if below[s] > 0]


# ------------------------------------------------------------------- fits


@dataclass(frozen=True, slots=True)
class Fit:
    """Least squares: `coefficients`, the constant first; and the share of variance explained."""

    coefficients: tuple[float, ...]
    r_squared: float


def fit(columns: Iterable[Sequence[float] | Array], values: Sequence[float] | Array) -> Fit:
    """Fit values by a constant and the columns.

    >>> line = fit([[0, 1, 2]], [1, 3, 5])
    >>> [round(each, 6) for each in line.coefficients], round(line.r_squared, 6)
    ([1.0, 2.0], 1.0)
    """
    y = np.asarray(values, dtype=np.float64)
    x = np.column_stack([np.ones(len(y)), *(np.asarray(each, np.float64) for each in columns)])
    coefficients = np.linalg.lstsq(x, y, rcond=None)[0]
    left = float(((y - x @ coefficients) ** 2).sum())
    total = float(((y - y.mean()) ** 2).sum())
    return Fit(tuple(float(each) for each in coefficients), 1 - left / total if total > 0 else 1.0)
