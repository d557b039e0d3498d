"""Whether chance could have made what was counted: Pearson's chi-square test.

    counts, probabilities -> [ chance ] -> p: how often chance alone strays as far

Fewer than five expected of a kind make the test unsure, so the rarest kinds are counted
together until five are expected of them.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import TypeVar

Kind = TypeVar("Kind", bound=Hashable)

_FEWEST_EXPECTED = 5.0


def p_value(counts: Mapping[Kind, float], probabilities: Mapping[Kind, float]) -> float:
    """How likely counts are to be at least as far from their expectation; 0 if impossible.

    >>> round(p_value({"heads": 60, "tails": 40}, {"heads": 0.5, "tails": 0.5}), 4)
    0.0455
    >>> p_value({"edge": 1}, {"heads": 0.5, "tails": 0.5})
    0.0
    """
    return tail(*statistic(counts, probabilities))


def statistic(
    counts: Mapping[Kind, float], probabilities: Mapping[Kind, float]
) -> tuple[float, int]:
    """How far counts are from their expectation, and the degrees of freedom.

    Those of independent samples may be added up, and so tested together.
    """
    if any(count > 0 and not probabilities.get(each) for each, count in counts.items()):
        return math.inf, 1
    total = math.fsum(counts.values())
    if not total:
        return 0.0, 0
    pairs = sorted(
        (total * probability, counts.get(each, 0.0))
        for each, probability in probabilities.items()
        if probability > 0
    )
    groups = _grouped(pairs)
    distance = math.fsum((seen - expected) ** 2 / expected for expected, seen in groups)
    return distance, len(groups) - 1


def _grouped(pairs: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """(expected, seen) with the rarest put together."""
    groups: list[tuple[float, float]] = []
    for expected, seen in pairs:
        if groups and groups[-1][0] < _FEWEST_EXPECTED:
            expected, seen = expected + groups[-1][0], seen + groups.pop()[1]
        groups.append((expected, seen))
    return groups


def tail(distance: float, freedom: int) -> float:
    """How likely a chi-square variable of that many degrees of freedom is to be larger.

    By the recurrence of the incomplete gamma function, Q(a + 1, x) = Q(a, x) + x^a e^-x / a!,
    from Q(1/2, x) = erfc(sqrt(x)) or Q(1, x) = e^-x, which is exact: a is half of a number.

    >>> round(tail(3.841459, 1), 6), round(tail(18.307038, 10), 6)
    (0.05, 0.05)
    """
    if freedom == 0 or distance <= 0:
        return 1.0
    if math.isinf(distance):
        return 0.0
    x, a = distance / 2, 0.5 if freedom % 2 else 1.0
    larger = math.erfc(math.sqrt(x)) if freedom % 2 else math.exp(-x)
    while a < freedom / 2:
        larger += math.exp(a * math.log(x) - x - math.lgamma(a + 1))
        a += 1
    return min(1.0, larger)
