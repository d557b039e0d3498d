"""How much better a partition explains outcomes than no partition, in bits.

    outcomes of cases, by leaf -> [ evidence ] -> log Bayes factors of tests and partitions

It is the score that decides splits (cpp/learning/evidence.cpp): the log probability of the
outcomes, each predicted from those before it (KT estimator), or predicted surely where there is
only one. Leaves are scored one by one and added up, so a hypothesis counts for nothing if the
tests above the leaves explain as much. Cases of one transition that agree count as fewer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Integers = NDArray[np.int64]
Bools = NDArray[np.bool_]


@lru_cache(maxsize=1)
def _log_gamma_half(size: int) -> Numbers:
    """Return ln Gamma(n / 2) for n = 0, 1, ..., size; the first is not used."""
    return np.array([0.0, *(math.lgamma(n / 2) for n in range(1, size + 1))])


_TABLE = 1 << 15


def _log_kt(counts: Integers) -> Numbers:
    """Return the log probability of outcomes that were counted along the last axis."""
    kinds, table = counts.shape[-1], _log_gamma_half(_TABLE)
    total = counts.sum(axis=-1)
    each = table[2 * counts + 1].sum(axis=-1) - kinds * table[1]
    result: Numbers = each + table[kinds] - table[2 * total + kinds]
    return result


def _cells(counts: Integers) -> Numbers:
    """Return the best log probability of each cell: surely one outcome, or any."""
    pure = (counts > 0).sum(axis=-1) == 1
    best: Numbers = np.where(pure, -math.log(counts.shape[-1]), _log_kt(counts))
    return np.where(counts.sum(axis=-1) == 0, 0.0, best)


def log_without(counts: Integers) -> float:
    """Return the log probability of a leaf's outcomes without a test."""
    return float(_cells(counts)) - math.log(2)


def log_with_test(held: Integers, failed: Integers) -> Numbers:
    """Return the log probabilities with each of many yes-no tests."""
    both = _cells(held) + _cells(failed) - math.log(6)
    if held.shape[-1] == 2:
        sure = ((held > 0).sum(axis=-1) == 1) & ((failed > 0).sum(axis=-1) == 1)
        both = np.where(sure, -2 * math.log(2), both)
    one_sided = (held.sum(axis=-1) == 0) | (failed.sum(axis=-1) == 0)
    return np.where(one_sided, _cells(held + failed) - math.log(2), both)


def log_with_cells(counts: Integers) -> Numbers:
    """Return the log probability with a partition into cells, along the last but one axis."""
    used = (counts.sum(axis=-1) > 0).sum(axis=-1)
    result: Numbers = _cells(counts).sum(axis=-1) - used * math.log(2)
    return result


def design_effect(outcomes: Integers, transitions: Integers) -> int:
    """Return how many cases count as one: those of one transition may share their chance."""
    n = len(outcomes)
    order = np.lexsort((outcomes, transitions))
    sizes = np.unique(transitions[order], return_counts=True)[1]
    pairs = float((sizes * (sizes - 1) // 2).sum())
    if pairs == 0:
        return 1
    same = np.unique(np.stack([transitions, outcomes]), axis=1, return_counts=True)[1]
    agree = float((same * (same - 1) // 2).sum()) / pairs
    by_chance = float(((np.bincount(outcomes) / n) ** 2).sum())
    if by_chance >= 1:
        return 1
    return max(1, round(1 + 2 * pairs / n * (agree - by_chance) / (1 - by_chance)))


@dataclass(frozen=True)
class Group:
    """The cases of one leaf: their positions and outcomes, and how many count as one."""

    rows: Integers
    outcomes: Integers  # 0, 1, ... of these cases
    kinds: int
    effect: int
    totals: Integers = field(repr=False)

    @classmethod
    def of(cls, rows: Integers, outcomes: Integers, transitions: Integers) -> Group:
        """Return the group of these rows of all outcomes and transitions."""
        kinds, own = np.unique(outcomes[rows], return_inverse=True)
        effect = design_effect(own, transitions[rows])
        group = cls(rows, own, len(kinds), effect, np.zeros(0, dtype=np.int64))
        totals = group.reduced(np.bincount(own, minlength=len(kinds)))
        return cls(rows, own, len(kinds), effect, totals)

    def reduced(self, counts: Integers) -> Integers:
        """Return counts of cases as counts of independent ones."""
        result: Integers = (counts + self.effect - 1) // self.effect
        return result

    def counts(self, truths: Bools) -> Integers:
        """Return counts by test and outcome, for tests by row and cases by column."""
        mine = truths[:, self.rows]
        by_outcome = [mine[:, self.outcomes == y].sum(axis=1) for y in range(self.kinds)]
        return np.stack(by_outcome, axis=-1).astype(np.int64)

    def gain_of_tests(self, truths: Bools) -> Numbers:
        """Return the log Bayes factor of each test, by row, against no test."""
        held = self.counts(truths)
        failed = self.counts(~truths)
        with_test = log_with_test(self.reduced(held), self.reduced(failed))
        return with_test - log_without(self.totals)

    def gain_of_cells(self, cells: Integers) -> float:
        """Return the log Bayes factor of a partition, given by the cell of every case."""
        own = np.unique(cells[self.rows], return_inverse=True)[1]
        counts = np.zeros((own.max() + 1, self.kinds), dtype=np.int64)
        np.add.at(counts, (own, self.outcomes), 1)
        return float(log_with_cells(self.reduced(counts))) - log_without(self.totals)

    def gain_of_pairs(self, truths: Bools) -> Numbers:
        """Return a matrix: the log Bayes factor of the four quadrants of any two tests."""
        held = truths[:, self.rows].astype(np.float32)
        quadrants = []
        for y in range(self.kinds):
            mine = held[:, self.outcomes == y]
            both = mine @ mine.T
            one = mine.sum(axis=1)
            first = one[:, None] - both
            second = one[None, :] - both
            neither = mine.shape[1] - both - first - second
            quadrants.append(np.stack([both, first, second, neither], axis=-1))
        counts = np.rint(np.stack(quadrants, axis=-1)).astype(np.int64)
        return log_with_cells(self.reduced(counts)) - log_without(self.totals)

    @property
    def best_possible(self) -> float:
        """The log Bayes factor of a test that would explain everything."""
        sure = -2 * math.log(2) if self.kinds == 2 else -math.log(6) - math.log(self.kinds)
        return sure - log_without(self.totals) if self.kinds > 1 else 0.0


def in_bits(log: float) -> float:
    """Return a natural logarithm in bits.

    >>> in_bits(math.log(8))
    3.0
    """
    return round(log / math.log(2), 9)
