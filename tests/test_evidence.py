"""Evidence: forecasts that are probabilities, lengths that are a prior, and small stories."""

from __future__ import annotations

import random
from collections import Counter
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from itertools import product
from math import exp
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import treethink as tt
from reference import (
    CRITERIA,
    Evidence,
    Node,
    Proven,
    ReferenceTree,
    Scene,
    Test,
    forecast,
    hindsight,
    length_of_value,
    lengths_of_patterns,
    log,
    log_power,
    log_steps,
    minus,
    patterns,
)
from strategies import schemas
from test_twin import Twins
from treethink import _engine

NAT = 65536
MOST_LISTED = 65536  # the engine's tables end here

numbers = st.lists(st.integers(0, 40), min_size=1, max_size=5)


def counts(numbers: list[int]) -> dict[tuple[int, ...], int]:
    """How often outcome 0, 1, ... was seen."""
    return {(y,): n for y, n in enumerate(numbers)}


# --- logarithms ----------------------------------------------------------------------


def nearest(nats: Decimal) -> int:
    """Whole units; 50 digits leave no doubt about which is nearest."""
    return int((nats * NAT + Decimal("0.5")).to_integral_value(ROUND_FLOOR))


FIFTY = Context(prec=50)


def test_logarithms_are_whole_numbers_of_1_65536_nats():
    assert [log(x) for x in (1, 2, 3, 4, 10)] == [0, 45426, 71999, 90852, 150902]
    assert log(Fraction(1, 2)) == -45426
    assert [log_power(n) for n in (0, 1, 2, 3)] == [0, 0, 90852, 215996]
    assert log_steps(3, 0) == 0
    assert log_steps(3, 4) == log(3) + log(5) + log(7) + log(9)


def test_the_engine_rounds_logarithms_to_the_nearest_unit():
    rng = random.Random(0)
    large = [rng.randrange(1, 2 ** rng.randrange(12, 53)) for _ in range(3000)]
    for x in [*range(1, 3000), *large]:
        assert _engine.log_of(float(x)) == nearest(FIFTY.ln(Decimal(x))), x
    for alpha in (0.5, 0.1, 0.01, 0.001, 1e-9, 0.999):
        assert _engine.log_of(1 / alpha) == nearest(FIFTY.ln(1 / Decimal(alpha)))


def test_the_engine_has_sums_of_rounded_logarithms_in_its_tables():
    for first in range(1, 9):
        for n in [*range(300), 5000]:
            assert _engine.log_step_product(first, n) == log_steps(first, n), (first, n)
    for n in [*range(1, 3000), 10_000, 65_535, MOST_LISTED, 10**6, 2**32 - 1]:
        assert _engine.log_power(n) == nearest(n * FIFTY.ln(Decimal(n))), n
    assert _engine.log_power(0) == 0


@pytest.mark.parametrize("first", [1, 2, 3, 6])
def test_beyond_its_tables_the_engine_goes_on_smoothly(first):
    """There a formula takes over: a step is right to a unit, and the sum to 0.01 nats."""
    end = MOST_LISTED - 5
    for n in range(end, end + 200):
        step = _engine.log_step_product(first, n + 1) - _engine.log_step_product(first, n)
        assert abs(step - log(first + 2 * n)) <= 1, n
    for n in (70_000, 100_000):
        assert abs(_engine.log_step_product(first, n) - log_steps(first, n)) < 0.01 * NAT


# --- forecasts -----------------------------------------------------------------------


def expecting_anything(sequence: list[int], kinds: int) -> Fraction:
    """Probability of a sequence, foretold one outcome after the other."""
    probability, seen = Fraction(1), Counter[int]()
    for n, outcome in enumerate(sequence):
        probability *= (seen[outcome] + Fraction(1, 2)) / (n + Fraction(kinds, 2))
        seen[outcome] += 1
    return probability


@given(numbers, st.integers(0, 2), st.randoms(use_true_random=False))
def test_a_forecast_is_that_of_one_outcome_after_the_other_in_any_order(numbers, more, rng):
    kinds = len(numbers) + more
    sequence = [y for y, n in enumerate(numbers) for _ in range(n)]
    rng.shuffle(sequence)
    assume(sequence)
    probability = expecting_anything(sequence, kinds) / 2
    if len(set(sequence)) == 1:  # always the same one, whichever it is
        probability = max(probability, Fraction(1, 2 * kinds))
    exact = FIFTY.ln(Decimal(probability.numerator) / Decimal(probability.denominator))
    terms = 2 * len(sequence) + 2  # each rounded by half a unit at most
    assert abs(forecast(counts(numbers), kinds) - exact * NAT) <= terms / 2


@pytest.mark.parametrize("kinds", [1, 2, 3, 4])
def test_the_forecasts_of_all_sequences_are_probabilities_of_at_most_1_together(kinds):
    for length in range(7):
        sequences = product(range(kinds), repeat=length)
        found = Counter(tuple(map(sequence.count, range(kinds))) for sequence in sequences)
        total = sum(
            times * exp(forecast(counts(list(numbers)), kinds) / NAT)
            for numbers, times in found.items()
        )
        assert total <= 1
        assert total >= 0.4  # nor is much of the probability given away


@given(numbers, st.integers(0, 2), st.integers(0, 4))
def test_a_forecast_never_rises_when_an_outcome_is_added(numbers, more, outcome):
    kinds = len(numbers) + more
    longer = list(numbers)
    longer[outcome % len(numbers)] += 1
    assert forecast(counts(longer), kinds) <= forecast(counts(numbers), kinds) <= 0


@given(numbers, st.integers(0, 9))
def test_a_forecast_falls_with_the_number_of_possible_outcomes(numbers, more):
    kinds = len(numbers) + more
    assert forecast(counts(numbers), kinds + 1) <= forecast(counts(numbers), kinds)


@given(numbers, st.integers(0, 2))
def test_hindsight_is_never_beaten_by_a_forecast(numbers, more):
    rounding = sum(numbers) + 2 + len(numbers)
    assert hindsight(counts(numbers)) + rounding >= forecast(counts(numbers), len(numbers) + more)


def test_hindsight_is_the_likelihood_of_the_shares_and_the_first_of_each_kind_is_free():
    assert hindsight(counts([7])) == hindsight(counts([1, 1, 1])) == hindsight({}) == 0
    assert hindsight(counts([6, 6])) == pytest.approx(10 * log(Fraction(1, 2)), abs=5)
    expected = 3 * log(Fraction(3, 4)) + log(Fraction(1, 4))
    assert hindsight(counts([4, 2, 1])) == pytest.approx(expected, abs=5)


# --- scores --------------------------------------------------------------------------


def node(totals: dict[tuple[int, ...], int]) -> Node:
    """A node that has counted so much."""
    return Node(("lamp",), totals=Counter(totals))


happenings = st.lists(st.tuples(st.booleans(), st.integers(0, 3)), min_size=1, max_size=60)


@pytest.mark.parametrize("criterion", [Evidence, Proven])
@given(happenings)
def test_no_score_ever_rises_so_that_the_last_best_one_bounds_all_that_follow(
    criterion: type[Evidence], happenings
):
    """That is why the engine need not weigh challengers that a bound rules out."""
    last = 0
    totals, trues = Counter[Any](), Counter[Any]()
    for holds, y in happenings:
        totals[y,] += 1
        trues[y,] += holds
        now = criterion(0.01).score(node(totals), trues)
        none = criterion(0.01).score(node(totals), {})
        assert max(now, none) <= last  # `none`: what a test scores that is seen for the first time
        last = max(now, none)


@given(numbers, st.data())
def test_a_test_and_its_opposite_score_the_same(numbers, data):
    totals = counts(numbers)
    trues = {y: data.draw(st.integers(0, n)) for y, n in totals.items()}
    score = Evidence(0.01).score
    assert score(node(totals), trues) == score(node(totals), minus(totals, trues))


def test_the_outcomes_that_a_forecast_reckons_with_are_those_seen_at_the_node():
    here = counts([4, 4, 0])
    assert Evidence(0.01).score(node(here), {}) == forecast(here, 2)
    assert Evidence(0.01).score(node(here), counts([4])) == 2 * forecast(counts([4]), 2)


def test_what_is_to_be_proven_better_than():
    totals = counts([6, 5, 1])
    to_beat = Proven(0.01).to_beat
    share = log(3) + log(2)
    assert to_beat(node(totals), {}, 0) == share + hindsight(totals)
    trues, falses = counts([6, 2, 0]), counts([0, 3, 1])
    assert to_beat(node(totals), trues, 0) == share + hindsight(trues) + hindsight(falses)
    assert to_beat(node(counts([9, 0])), {}, 0) == 0


# --- lengths -------------------------------------------------------------------------


def test_the_patterns_of_a_node_are_what_can_be_asked_there():
    schema = tt.Schema(classes={"dot": ["x"], "star": ["x"]}, attributes={"x": 1}, actions=["go"])
    found = patterns(Scene(tt.State(schema, [])), ("dot", "star", "dot"))
    assert sorted((each.kind, each.classes, each.slots) for each in found) == [
        ("difference", ("dot", "dot"), (0, 2)),
        ("difference", ("dot", "dot"), (0, 3)),
        ("difference", ("dot", "dot"), (2, 3)),
        ("difference", ("dot", "dot"), (3, 4)),
        ("difference", ("dot", "star"), (0, 1)),
        ("difference", ("dot", "star"), (0, 3)),
        ("difference", ("dot", "star"), (2, 1)),
        ("difference", ("dot", "star"), (2, 3)),
        ("difference", ("dot", "star"), (3, 1)),
        ("difference", ("dot", "star"), (3, 4)),
        ("difference", ("star", "star"), (1, 3)),
        ("difference", ("star", "star"), (3, 4)),
        ("equality", ("dot",), (0,)),
        ("equality", ("dot",), (2,)),
        ("equality", ("dot",), (3,)),
        ("equality", ("star",), (1,)),
        ("equality", ("star",), (3,)),
    ]


def share(length: int) -> float:
    return exp(-length / NAT)


BOX = {1: 3000, 2: 30, 3: 8}
"""How far out values go, by their number of components."""


def shares_of_values(length: int) -> float:
    """Of all values of so many components in the box, together."""
    reach = range(-BOX[length], BOX[length] + 1)
    return sum(share(length_of_value(value)) for value in product(reach, repeat=length))


def test_the_lengths_of_values_are_a_prior():
    for length, most in BOX.items():
        # Σ 1 / (s + 1)(s + 2) over sizes s = 0 ... S is 1 - 1 / (S + 2).
        exact = (1 - 1 / (most + 2)) ** length
        assert shares_of_values(length) == pytest.approx(exact, rel=2e-5)
        assert shares_of_values(length) < 1


VALUES = {length: shares_of_values(length) for length in BOX}


@settings(deadline=None)
@given(schemas(), st.data())
def test_the_lengths_of_all_tests_of_a_node_are_a_prior(schema, data):
    names = list(schema.classes)
    variables = tuple(data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=5)))
    lengths = lengths_of_patterns(Scene(tt.State(schema, [])), variables)
    assume(lengths)
    assert sum(map(share, lengths.values())) == pytest.approx(1, abs=2 / NAT)
    assert min(lengths.values()) >= 0
    values = {each: VALUES[schema.attributes[each.attribute].length] for each in lengths}
    assert sum(share(length) * values[each] for each, length in lengths.items()) < 1


@given(schemas(), st.data())
def test_patterns_that_cost_the_same_are_equally_long_and_each_cost_more_is_a_bit(schema, data):
    names = list(schema.classes)
    variables = tuple(data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=4)))
    lengths = set(lengths_of_patterns(Scene(tt.State(schema, [])), variables).values())
    assert all((a - b) % log(2) == 0 for a, b in product(lengths, repeat=2))


def test_every_candidate_is_of_one_of_the_patterns():
    schema = tt.Schema(
        classes={"dot": ["x", "y"], "star": ["x"]}, attributes={"x": 1, "y": 2}, actions=["go"]
    )
    dots = [tt.Object(i, "dot", x=i, y=(i, -i)) for i in range(4)]
    scene = Scene(tt.State(schema, [*dots, *(tt.Object(i, "star", x=i) for i in range(5, 8))]))
    for binding in [(0,), (5,), (0, 5), (5, 2, 0), (1, 3, 6)]:
        variables = tuple(scene.class_of[x] for x in binding)
        found = {test._replace(value=()) for test in scene.true_tests([binding])}
        assert found == set(patterns(scene, variables))


# --- stories, for engine and twin alike ----------------------------------------------

only = tt.Attribute(1, facts=("equality",))
LAMPS = tt.Schema(
    classes={"lamp": ["heat", "hue", "light"]},
    attributes={"heat": only, "hue": only, "light": tt.Attribute(1, facts=(), outcomes="value")},
    actions=["go", "wait"],
)
RULE = ("lamp", "light", "go")


def lamp(heat: int, hue: int = 0) -> tt.State:
    return tt.State(LAMPS, [tt.Object(0, "lamp", heat=heat, hue=hue, light=0)])


def shown(twins: Twins, before: tt.State, light: int, action: str = "go") -> list[tuple[str, str]]:
    """Shows one transition; what was decided in it."""
    so_far = len(twins.events)
    twins.observe(before, action, before.replace(0, light=light))
    twins.assert_same_trees("go")
    return [(kind, path) for kind, _, path in twins.events[so_far:]]


def asks(attribute: str, value: int, slot: int = 0) -> Test:
    return Test("equality", attribute, ("lamp",), (slot,), (value,))


def root(twins: Twins) -> Node:
    return twins.twin.tree(*RULE).root


def length(twins: Twins, test: Test) -> int:
    tree = twins.twin.tree(*RULE)
    return tree._length(tree.root, Scene(lamp(0)), test)


@pytest.mark.parametrize(
    ("criterion", "memory", "alpha", "expected"),
    [
        # Cold lamps stay dark, hot ones light up, by turns. Two patterns of weight 32 (this
        # lamp's heat, its hue), two of weight 8 (another's): ln(80 / 32), and ln 2 for the value
        # 0, are the length of "heat = 0", 1.609 nats. Its score is -ln 4 for each half. After 5
        # and 5, no test scores ln 1/2 (1·3·5·7·9)² / (2·4···20) = -9.027: 4.645 less in all.
        ("evidence", 0, 0.01, 11),  # the first transition is not counted: a constant
        ("evidence", 50, 0.01, 10),
        # After 3 and 3 it is -6.015, 1.633 less; after 2 and 3 it was 0.759.
        ("evidence", 0, 0.3, 7),
        # In hindsight no test gives 1/2 to each but the first two: after 8 and 8, ln 1/2^14,
        # and there are 2 kinds with a share of 1/2; -9.011 is 4.629 less, and more than 4.605.
        ("proven", 0, 0.01, 17),
        ("proven", 50, 0.01, 16),
    ],
)
def test_a_perfect_test_is_found_as_soon_as_its_evidence_is_enough(
    criterion, memory, alpha, expected
):
    twins = Twins(LAMPS, criterion, memory, alpha=alpha)
    for step in range(1, expected):
        assert shown(twins, lamp(step % 2), step % 2) == []
    assert shown(twins, lamp(expected % 2), expected % 2) == [("split", "")]
    assert root(twins).test == asks("heat", 0)
    assert length(twins, asks("heat", 0)) == log(80) - log(32) + log(2)


def test_a_long_number_must_be_worth_its_length():
    """Heat 1000 says all; hue 0 says all but one, and is shorter by more than that is worth."""
    twins = Twins(LAMPS, "evidence", alpha=0.01)
    for step in range(12):
        shown(twins, lamp(1000 if step % 2 else 7000 + step, hue=step % 2), step % 2)
    shown(twins, lamp(1000, hue=0), 1)
    shorter, longer = length(twins, asks("hue", 0)), length(twins, asks("heat", 1000))
    assert longer - shorter == log(1001) + log(1002)
    score = twins.twin.tree(*RULE).criterion.score
    scores = {
        test: score(root(twins), root(twins).candidates[test].counts)
        for test in (asks("hue", 0), asks("heat", 1000))
    }
    assert scores[asks("hue", 0)] < scores[asks("heat", 1000)]
    assert root(twins).test == asks("hue", 0)


def test_a_test_is_dropped_when_no_test_would_have_been_better():
    """Evidence alone: it need not be sure, neither of the one nor of the other."""
    twins = Twins(LAMPS, "evidence", alpha=0.3)
    for step in range(1, 8):
        shown(twins, lamp(step % 2), step % 2)
    assert root(twins).test == asks("heat", 0)
    wrong = 0
    while root(twins).test:
        wrong += 1
        found = shown(twins, lamp(wrong % 2), (wrong + 1) % 2)
        here, score = root(twins), twins.twin.tree(*RULE).criterion.score
        held = here.candidates[asks("heat", 0)].counts
        worth = score(here, held) - length(twins, asks("heat", 0))
        assert (worth < score(here, {})) == (found == [("return", "")])
    assert wrong == 1


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_better_test_takes_over(criterion):
    """Heat and hue go together at first; then it turns out that hue it was."""
    twins = Twins(LAMPS, criterion, alpha=0.1)
    for step in range(30):
        shown(twins, lamp(step % 2, step % 2), step % 2)
    assert root(twins).test == asks("heat", 0)
    for step in range(30):
        found = shown(twins, lamp(step // 2 % 2, step % 2), step % 2)
        assert root(twins).test in (asks("heat", 0), asks("hue", 0))
        if ("change", "") in found:
            break
    assert root(twins).test == asks("hue", 0)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_coin_is_left_alone(criterion):
    rng = random.Random(1)
    twins = Twins(LAMPS, criterion, alpha=0.01)
    for _ in range(300):
        shown(twins, lamp(rng.randrange(3), rng.randrange(3)), rng.randrange(2))
    assert not twins.events


def test_outcomes_that_never_come_twice_are_no_argument_for_a_split():
    """Of a rule that always does something new, hindsight would have known nothing."""
    twins = Twins(LAMPS, "proven", alpha=0.9)
    for step in range(40):
        shown(twins, lamp(step % 2), step)
    assert not twins.events


def test_lengths_are_nothing_to_wilson():
    tree = ReferenceTree(["lamp"], criterion="wilson")
    assert tree._length(tree.root, Scene(lamp(0)), asks("heat", 10**9)) == 0
