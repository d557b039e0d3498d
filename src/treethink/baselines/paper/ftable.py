"""The paper's FTable and ConfidenceInterval: how well a test predicts the outputs.

The tables of all tests of a node are in one NumPy array, so that all scores are computed together.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_MOST_OBSERVATIONS = 2**31  # observations of a table: sums of squares of counts must fit 64 bits


class ConfidenceInterval(NamedTuple):
    """The ends of an interval between 0 and 1, or arrays of ends of several intervals."""

    lower: Any
    upper: Any


def isBetterThan(a: ConfidenceInterval, b: ConfidenceInterval) -> bool:
    """Return whether interval `a` lies above interval `b`, without overlapping it."""
    return bool(a.lower > b.upper)


def z_of(alpha: float) -> float:
    """Return the half-width of a two-sided interval of that level, in standard deviations."""
    return -NormalDist().inv_cdf(alpha / 2)


def wilson(successes: Floats, n: Floats, z: float) -> ConfidenceInterval:
    """Return the Wilson score interval; the number of successes need not be an integer."""
    p = np.minimum(successes / n, 1.0)
    middle = p + z**2 / (2 * n)
    radius = z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    return ConfidenceInterval(
        (middle - radius) / (1 + z**2 / n), (middle + radius) / (1 + z**2 / n)
    )


class FTable:
    """Joint distributions of inputs x (0: false, 1: true) and outputs y: one for each test.

    Callers number the outputs, from 0. A table is added with each test, and counts from then on.
    """

    def __init__(self, tables: int = 0):
        self.tables = tables
        self._counts = np.zeros((2, 2, max(16, tables)), dtype=np.int64)  # x, y, table

    @classmethod
    def from_counts(cls, counts: object, outputs: int) -> Self:
        """Return tables with these counts, given as lists."""
        array = np.array(counts)
        if array.ndim != 3 or array.shape[0] != 2 or array.shape[1] < 2:
            raise ValueError("the counts of a table must be numbers for each input and output")
        if array.size and (
            array.dtype != np.int64 or array.min() < 0 or array.max() > _MOST_OBSERVATIONS
        ):
            raise ValueError(
                f"the counts of a table must be whole numbers from 0 to {_MOST_OBSERVATIONS:,}"
            )
        if array.size and array.sum(axis=(0, 1)).max() > _MOST_OBSERVATIONS:
            raise ValueError(f"a table counts more than {_MOST_OBSERVATIONS:,} observations")
        if array[:, outputs:].any():
            raise ValueError(f"a table counts more outputs than the {outputs} that there are")
        table = cls(array.shape[2])
        table._counts = array.astype(np.int64)
        return table

    @property
    def nbytes(self) -> int:
        """Bytes of all counts."""
        return self._counts.nbytes

    @property
    def counts(self) -> NDArray[np.int64]:
        """The number of observations of (x, y) for each table: counts[x, y, table]."""
        return self._counts[:, :, : self.tables]

    def append(self) -> None:
        """Add an empty table."""
        self.tables += 1
        self._grow(self._counts.shape[1], self.tables)

    def observe(self, inputs: NDArray[np.bool_], output: int) -> None:
        """Record that each test gave its input, and that `output` followed."""
        self._grow(output + 1, self.tables)
        self.counts[1, output] += inputs
        self.counts[0, output] += ~inputs

    def getConditionalDistribution(self, x: int, table: int = 0) -> NDArray[np.int64]:
        """Return the counts of outputs for an input; divided by their sum, they are P(y | x)."""
        return self.counts[x, :, table]

    def getScoreInterval(self, z: float, table: int | None = None) -> ConfidenceInterval:
        """Return the interval of S, the sum over x and y of P(y | x) · P(x, y).

        N·S of N observations count as successes. If n(x, y) is the number of observations of
        (x, y), N·S is the sum over x of the sum over y of n(x, y)², divided by n(x).
        """
        counts = self.counts if table is None else self.counts[:, :, table]
        n_x = counts.sum(axis=1)
        squares = (counts**2).sum(axis=1)
        successes = (squares / np.maximum(n_x, 1)).sum(axis=0)
        return wilson(successes, n_x.sum(axis=0).astype(np.float64), z)

    def _grow(self, outputs: int, tables: int) -> None:
        _, y, t = self._counts.shape
        if outputs > y or tables > t:
            more = ((0, 0), (0, max(0, outputs - y)), (0, max(16, t) if tables > t else 0))
            self._counts = np.pad(self._counts, more)
