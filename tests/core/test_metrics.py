"""The metric: exact transport, a true distance, and the sum over all values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from treethink.errors import SettingError, TransitionError
from treethink.metrics import Distribution, Value, distance, error
from treethink.state import Object, Schema, State
from treethink.stream.random_play import transitions
from treethink.worlds import make

# ------------------------------------------------- one attribute of one object


def l1(a: Any, b: Any) -> int:
    a, b = (v if isinstance(v, tuple) else (v,) for v in (a, b))
    return sum(abs(x - y) for x, y in zip(a, b, strict=True))


def cheapest_assignment(one: list[Value], other: list[Value]) -> float:
    """Compute the distance by brute force: equal grains of mass, all assignments."""
    return min(
        sum(l1(a, b) for a, b in zip(one, order, strict=True)) for order in permutations(other)
    ) / len(one)


def heap(grains: list[Value]) -> Distribution:
    return {value: grains.count(value) / len(grains) for value in grains}


def values(length: int) -> st.SearchStrategy[Value]:
    parts = st.integers(-4, 4)
    return parts if length == 1 else st.tuples(*[parts] * length)


@st.composite
def heaps(draw: st.DrawFn, count: int) -> list[list[Value]]:
    """So many heaps of equally many grains, of values of one length."""
    value, grains = values(draw(st.integers(1, 3))), draw(st.integers(1, 6))
    return [draw(st.lists(value, min_size=grains, max_size=grains)) for _ in range(count)]


@given(heaps(2))
@settings(max_examples=300)
def test_distance_is_that_of_the_cheapest_assignment_of_grains(two: list[list[Value]]) -> None:
    one, other = two
    assert distance(heap(one), heap(other)) == pytest.approx(
        cheapest_assignment(one, other), abs=1e-12
    )


@st.composite
def distributions(draw: st.DrawFn, count: int) -> list[Distribution]:
    """Distributions over values of one length, with any probabilities."""
    value = values(draw(st.integers(1, 3)))
    result: list[Distribution] = []
    for _ in range(count):
        masses = draw(st.dictionaries(value, st.floats(1e-3, 1.0), min_size=1, max_size=6))
        total = math.fsum(masses.values())
        result.append({each: mass / total for each, mass in masses.items()})
    return result


@given(distributions(2))
def test_distance_is_symmetric_and_zero_only_between_equals(two: list[Distribution]) -> None:
    p, q = two
    assert distance(p, p) == 0.0
    assert distance(p, q) == pytest.approx(distance(q, p), abs=1e-12)
    assume(any(abs(p.get(v, 0.0) - q.get(v, 0.0)) > 1e-9 for v in p.keys() | q.keys()))
    assert distance(p, q) > 0.0


@given(distributions(3))
def test_distance_satisfies_the_triangle_inequality(three: list[Distribution]) -> None:
    p, q, r = three
    assert distance(p, r) <= distance(p, q) + distance(q, r) + 1e-12


@given(distributions(2), st.integers(-(2**62), 2**62))
def test_shifting_both_distributions_does_not_change_their_distance(
    two: list[Distribution], by: int
) -> None:
    def shifted(p: Mapping[Any, float]) -> Distribution:
        return {
            value + by if isinstance(value, int) else tuple(x + by for x in value): mass
            for value, mass in p.items()
        }

    p, q = two
    assert distance(shifted(p), shifted(q)) == pytest.approx(distance(p, q), abs=1e-12)


def test_vectors_are_not_split_into_coordinates() -> None:
    """Coordinate by coordinate the two could not be told apart."""
    assert distance({(0, 0): 0.5, (1, 1): 0.5}, {(0, 1): 0.5, (1, 0): 0.5}) == 1.0


def test_the_farthest_values_are_measured_exactly() -> None:
    low, high = -(2**63), 2**63 - 1
    assert distance({low: 1.0}, {high: 1.0}) == float(2**64 - 1)
    assert distance({(low, low): 1.0}, {(high, high): 1.0}) == float(2**65 - 2)


# ------------------------------------------------------------- whole predictions

SCHEMA = Schema(
    classes={"player": ["pos", "color"], "light": ["on"]},
    attributes={"pos": 2, "color": 1, "on": 1},
    actions=["go"],
)
BEFORE = State(
    SCHEMA,
    [
        Object(1, "player", pos=(0, 0), color=3),
        Object(2, "light", on=0),
        Object(3, "light", on=1),
    ],
)


@dataclass
class Told:
    """A prediction with given distributions; all other attributes stay the same."""

    state: State
    told: dict[tuple[int, str], Distribution] = field(default_factory=dict)

    def changes(self) -> dict[int, dict[str, Distribution]]:
        changes: dict[int, dict[str, Distribution]] = {}
        for (each, name), values in self.told.items():
            changes.setdefault(each, {})[name] = values
        return changes

    def outcomes(self, each: int, name: str) -> Distribution:
        return self.told.get((each, name), {self.state.value(each, name): 1.0})

    def probability(self, after: State) -> float:
        if after.ids != self.state.ids:
            return 0.0
        return math.prod(
            self.outcomes(each.id, name).get(value, 0.0)
            for each in after
            for name, value in each.values.items()
        )


def test_a_perfect_prediction_has_no_error() -> None:
    after = BEFORE.replace(1, pos=(1, 0))
    prediction = Told(BEFORE, {(1, "pos"): {(1, 0): 1.0}})
    assert error(prediction, after) == 0.0
    assert error(prediction, [(after, 1.0)]) == 0.0
    assert error(Told(BEFORE), BEFORE) == 0.0


def test_errors_of_objects_and_attributes_add_up() -> None:
    after = BEFORE.replace_many({1: {"pos": (2, -1), "color": 5}, 3: {"on": 0}})
    assert error(Told(BEFORE), after) == 3 + 2 + 1
    prediction = Told(BEFORE, {(1, "pos"): {(2, -1): 1.0}, (2, "on"): {0: 0.75, 1: 0.25}})
    assert error(prediction, after) == pytest.approx(0.25 + 2 + 1)


def test_a_distribution_is_compared_with_the_distribution() -> None:
    truth = [(BEFORE.replace(2, on=1), 0.5), (BEFORE, 0.5)]
    assert error(Told(BEFORE, {(2, "on"): {0: 0.5, 1: 0.5}}), truth) == 0.0
    assert error(Told(BEFORE, {(2, "on"): {1: 1.0}}), truth) == 0.5
    assert error(Told(BEFORE), truth) == 0.5


def test_dependence_between_attributes_does_not_count_as_error() -> None:
    """Promised in the module's documentation: a lower bound of the joint distance."""
    coin: Distribution = {0: 0.5, 1: 0.5}
    both_or_neither = [(BEFORE.replace_many({2: {"on": 1}, 3: {"on": 0}}), 0.5), (BEFORE, 0.5)]
    assert error(Told(BEFORE, {(2, "on"): coin, (3, "on"): coin}), both_or_neither) == 0.0


def test_the_sum_is_over_every_object_of_a_real_state() -> None:
    world = make("maze")
    for before, action, after in transitions(world, steps=50, seed=0):
        expected = sum(
            l1(old.values[name], new.values[name])
            for old, new in zip(before, after, strict=True)
            for name in old.values
        )
        assert error(Told(before), world.distribution(before, action)) == expected > 0


@pytest.mark.parametrize("masses", [(0.5, 0.4), (1.5, -0.5), (math.nan, 1.0), ()])
def test_a_truth_that_is_no_distribution_is_refused(masses: tuple[float, ...]) -> None:
    with pytest.raises(SettingError, match="sum to 1"):
        error(Told(BEFORE), [(BEFORE, mass) for mass in masses])


def test_a_truth_with_other_objects_is_refused() -> None:
    fewer = State(SCHEMA, [each for each in BEFORE if each.id != 3])
    with pytest.raises(TransitionError, match="only before: 3"):
        error(Told(BEFORE), fewer)
