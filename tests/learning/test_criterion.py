"""Tests of the criteria: exact comparisons, and the paper's Wilson intervals."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt
from statistics import NormalDist

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from treethink import _engine

LARGEST = 2**32 - 1
Split = tuple[list[int], list[int], list[int]]


@st.composite
def splits(draw: st.DrawFn, most: int) -> Split:
    """How often two tests held with each outcome, and the node's totals."""
    totals = draw(st.lists(st.integers(0, most), min_size=1, max_size=4).filter(any))
    one, other = ([draw(st.integers(0, total)) for total in totals] for _ in range(2))
    if draw(st.booleans()):  # a test and its opposite always tie
        other = [total - n for total, n in zip(totals, one, strict=True)]
    return one, other, totals


anything = splits(50) | splits(10**6) | splits(LARGEST // 4)


def exact_score(trues: list[int], totals: list[int]) -> Fraction:
    falses = [total - n for total, n in zip(totals, trues, strict=True)]
    halves = [half for half in (trues, falses) if any(half)]
    return sum((Fraction(sum(n * n for n in half), sum(half)) for half in halves), Fraction())


@given(anything)
@example(([LARGEST // 2, 0], [LARGEST // 2 - 1, 0], [LARGEST // 2, LARGEST // 2]))
def test_scores_are_ordered_as_exact_fractions_are(split):
    one, other, totals = split
    a, b = exact_score(one, totals), exact_score(other, totals)
    *_, order, _, _ = _engine.judged("wilson", 0.05, *split)
    assert order == (a > b) - (a < b)


@given(anything)
def test_a_score_is_the_exact_one_rounded_alone_or_in_a_batch(split):
    one, other, totals = split
    a, b, batch, *_ = _engine.judged("wilson", 0.05, *split)
    assert a == pytest.approx(float(exact_score(one, totals)), rel=1e-12)
    assert b == pytest.approx(float(exact_score(other, totals)), rel=1e-12)
    assert batch == pytest.approx([a, b], rel=1e-12)


@given(anything)
def test_no_test_scores_less_than_having_no_test(split):
    one, _, totals = split
    none = [0] * len(totals)
    *_, order, _, _ = _engine.judged("wilson", 0.05, one, none, totals)
    assert order >= 0


@given(splits(1000), st.integers(0, 3), st.booleans())
def test_one_observation_adds_at_most_one_to_a_score(split, outcome, holds):
    one, _, totals = split
    y = outcome % len(totals)
    after = [n + (i == y) for i, n in enumerate(totals)]
    trues = [n + (i == y and holds) for i, n in enumerate(one)]
    assert exact_score(trues, after) <= exact_score(one, totals) + 1


@given(splits(2000), st.sampled_from([0.5, 0.1, 0.01, 0.001]))
def test_surely_better_means_intervals_that_do_not_overlap(split, alpha):
    one, other, totals = split
    n, z = sum(totals), NormalDist().inv_cdf(1 - alpha / 2)

    def interval(trues: list[int]) -> tuple[float, float]:
        p = float(exact_score(trues, totals) / n)
        centre = (p + z * z / (2 * n)) / (1 + z * z / n)
        radius = z / (1 + z * z / n) * sqrt(max(0.0, p * (1 - p) / n) + z * z / (4 * n * n))
        return centre - radius, centre + radius

    (lower, _), (_, upper) = interval(one), interval(other)
    assume(abs(lower - upper) > 1e-9)
    *_, better = _engine.judged("wilson", alpha, *split)
    assert better == (lower > upper)


@given(st.floats(1e-12, 0.999999))
def test_z_is_the_normal_quantile(alpha):
    z = _engine.two_sided_quantile(alpha)
    assert 2 * NormalDist().cdf(-z) == pytest.approx(alpha, rel=1e-9)


@pytest.mark.parametrize(
    ("alpha", "bits"),
    [
        (0.05, "0x1.f5c0331eeff45p+0"),
        (0.01, "0x1.49b4c64d69144p+1"),
        (0.001, "0x1.a52ffadd2f8bep+1"),
    ],
)
def test_z_has_the_same_bits_everywhere(alpha, bits):
    assert _engine.two_sided_quantile(alpha).hex() == bits
