"""Distance between a prediction and the truth, and the chi-square test of counts.

    prediction, truth -> [ error ] -> a number; 0 for a perfect prediction

In:   a prediction: for each attribute of each object, a distribution over its next value.
      The truth: the state that follows, or a list of (state, probability).
Out:  the earth mover's distance between the two for each object and attribute, with the
      L1 distance between values, summed; names are 1 apart.

A prediction treats attributes as independent. So the sum is a lower bound of the distance
between the joint distributions. The two are equal when the truth is a single state, or
treats attributes as independent too. Only the joint distance can tell a truth that correlates
attributes (either both change or neither) from one that does not.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol, TypeVar

from treethink.attributes import PlainValue
from treethink.errors import SettingError, WrongTypeError, shown
from treethink.state import State

#: The value of one attribute: a name of a category, a bool, an int, or a tuple of ints.
Value = PlainValue
Distribution = Mapping[Value, float]
Truth = State | Sequence[tuple[State, float]]

#: The largest error that still counts as 0. Probabilities are ratios of counts, so a wrong one is
#: off by far more than this.
TOLERANCE = 1e-9

# Transport is solved in integer units of mass, so that it is exact and terminates.
_UNITS = 1 << 60

Category = TypeVar("Category", bound=Hashable)
_FEWEST_EXPECTED = 5.0


class HasChanges(Protocol):
    """What tells which values may change."""

    def changes(self) -> Mapping[int, Mapping[str, Distribution]]:
        """Return {object id: {attribute: distribution}} of every value that may change."""


class Prediction(HasChanges, Protocol):
    """What the metric needs of a prediction."""

    @property
    def state(self) -> State:
        """The state before."""

    def probability(self, after: State, /) -> float:
        """Return the probability of exactly this next state."""


@dataclass(frozen=True, slots=True)
class WrongValue:
    """A wrongly predicted value: the prediction, the truth, and the observations behind it.

    `object_id` is None for a reward or an end. `support` is 0 where the number of observations is
    not known.
    """

    object_id: int | None
    attribute: str
    predicted: Distribution
    true: Distribution
    support: int = 0

    @property
    def outright(self) -> bool:
        """Whether even the likeliest value is wrong; otherwise only its probability is."""
        return max(self.predicted, key=self.predicted.__getitem__) not in self.true


def error(prediction: Prediction, truth: Truth) -> float:
    """Return the distance between a prediction and the truth; 0 if and only if they agree.

    >>> from treethink import Object, Schema, State, TreeThink
    >>> schema = Schema({"lamp": ["on"]}, {"on": 1}, ["press"])
    >>> off, on = (State(schema, [Object(1, "lamp", on=value)]) for value in (0, 1))
    >>> model = TreeThink(schema)
    >>> model.observe_many([(off, "press", on)] * 3 + [(off, "press", off)])
    4
    >>> prediction = model.predict(off, "press")  # on with probability 3/4
    >>> error(prediction, on), error(prediction, [(on, 0.75), (off, 0.25)])
    (0.25, 0.0)
    """
    if not hasattr(prediction, "changes"):
        raise WrongTypeError(f"the prediction must be a Prediction, got {shown(prediction)}")
    states = _with_probabilities(truth)
    if len(states) == 1 and prediction.probability(states[0][0]) == 1.0:
        return 0.0
    before = prediction.state
    predicted = {(each, name): values for each, name, values in each_change(prediction)}
    true = marginals(before, states)

    def unchanged(key: tuple[int, str]) -> Distribution:
        return {before.value(*key): 1.0}

    return math.fsum(
        distance(predicted.get(key) or unchanged(key), true.get(key) or unchanged(key))
        for key in predicted.keys() | true.keys()
    )


def each_change(prediction: HasChanges) -> Iterator[tuple[int, str, Distribution]]:
    """Yield (object id, attribute, distribution) for all that may not stay as it is."""
    for each, attributes in prediction.changes().items():
        for name, values in attributes.items():
            yield each, name, values


def distance(p: Distribution, q: Distribution) -> float:
    """Return the earth mover's distance of two distributions, with L1 between values.

    Two different names are 1 apart, as the two values of a flag are.

    >>> distance({0: 0.5, 4: 0.5}, {1: 1.0})
    2.0
    >>> distance({(0, 0): 0.5, (1, 1): 0.5}, {(0, 1): 0.5, (1, 0): 0.5})
    1.0
    >>> distance({"cola": 0.75, "water": 0.25}, {"tea": 1.0})
    1.0
    """
    # L1 obeys the triangle inequality, so mass that both have at a value can stay there.
    surplus = {v: mass - q.get(v, 0.0) for v, mass in p.items() if mass > q.get(v, 0.0)}
    deficit = {v: mass - p.get(v, 0.0) for v, mass in q.items() if mass > p.get(v, 0.0)}
    if not surplus or not deficit:
        return 0.0
    if isinstance(next(iter(surplus)), str):
        return math.fsum(surplus.values())  # all names are equally far from each other
    if len(surplus) == 1 or len(deficit) == 1:
        return _all_to_one(surplus, deficit)
    if isinstance(next(iter(surplus)), int | float):  # a reward is a float
        return _along_a_line(surplus, deficit)
    return _transport(surplus, deficit)


def _l1(a: Value, b: Value) -> float:
    assert not isinstance(a, str)
    assert not isinstance(b, str)
    if not isinstance(a, tuple) or not isinstance(b, tuple):
        assert not isinstance(a, tuple) and not isinstance(b, tuple)
        return abs(a - b)
    return sum(abs(x - y) for x, y in zip(a, b, strict=True))


def _all_to_one(surplus: Distribution, deficit: Distribution) -> float:
    one, all_ = (surplus, deficit) if len(surplus) == 1 else (deficit, surplus)
    (point,) = one
    return math.fsum(mass * _l1(value, point) for value, mass in all_.items())


def _along_a_line(surplus: Distribution, deficit: Distribution) -> float:
    """Sum over the gaps between neighbouring values: the surplus on the left must cross each."""
    stops = sorted(surplus.keys() | deficit.keys(), key=lambda value: (value,))
    parts: list[float] = []
    crossed: list[float] = []
    for here, there in pairwise(stops):
        parts += [surplus.get(here, 0.0), -deficit.get(here, 0.0)]
        crossed.append(abs(math.fsum(parts)) * _l1(here, there))
    return math.fsum(crossed)


def _transport(surplus: Distribution, deficit: Distribution) -> float:
    """Return the cost of the minimum-cost flow, by successive shortest paths in integer units.

    Each round sends as much as possible along the cheapest path from a source with mass left to
    a sink that lacks some. A path may take back what earlier rounds sent.
    """
    sources, sinks = list(surplus), list(deficit)
    total = math.fsum(surplus.values())
    left = _in_units(surplus, total)
    lacking = _in_units(deficit, total)
    cost = [[_l1(a, b) for b in sinks] for a in sources]
    sent = [[0] * len(sinks) for _ in sources]
    while any(left):
        path = _cheapest_path(left, lacking, cost, sent)
        (first, _), (_, last) = path[0], path[-1]
        taken_back = [sent[j][k] for (_, k), (j, _) in pairwise(path)]
        amount = min(left[first], lacking[last], *taken_back)
        for i, k in path:
            sent[i][k] += amount
        for (_, k), (j, _) in pairwise(path):
            sent[j][k] -= amount
        left[first] -= amount
        lacking[last] -= amount
    moved = sum(sent[i][k] * cost[i][k] for i in range(len(sources)) for k in range(len(sinks)))
    return moved / _UNITS * total


def _in_units(masses: Distribution, total: float) -> list[int]:
    """Return integer units in proportion to the masses; the largest absorbs rounding errors."""
    units = [round(mass / total * _UNITS) for mass in masses.values()]
    units[units.index(max(units))] += _UNITS - sum(units)
    return units


def _cheapest_path(
    left: list[int], lacking: list[int], cost: list[list[float]], sent: list[list[int]]
) -> list[tuple[int, int]]:
    """Return the source -> sink edges of the path; between them it goes back sink -> source.

    This is the Bellman-Ford algorithm, since edges that take back have a negative cost.
    """
    at_source: list[float] = [0 if units else math.inf for units in left]
    at_sink: list[float] = [math.inf] * len(lacking)
    to_sink = [0] * len(lacking)
    to_source: list[int | None] = [None] * len(left)
    changed = True
    while changed:
        changed = False
        for i, row in enumerate(cost):
            for k, price in enumerate(row):
                if at_source[i] + price < at_sink[k]:
                    at_sink[k], to_sink[k], changed = at_source[i] + price, i, True
                if sent[i][k] and at_sink[k] - price < at_source[i]:
                    at_source[i], to_source[i], changed = at_sink[k] - price, k, True
    sink = min((k for k, units in enumerate(lacking) if units), key=lambda k: at_sink[k])
    path = [(to_sink[sink], sink)]
    while (before := to_source[path[0][0]]) is not None:
        path.insert(0, (to_sink[before], before))
    return path


def _with_probabilities(truth: Truth) -> Sequence[tuple[State, float]]:
    if isinstance(truth, State):
        return [(truth, 1.0)]
    listed = isinstance(truth, list | tuple) and all(
        isinstance(each, tuple) and len(each) == 2 and isinstance(each[0], State) for each in truth
    )
    if not listed:
        raise WrongTypeError(
            f"the truth must be a State or a list of (State, probability), got {shown(truth)}"
        )
    total = math.fsum(probability for _, probability in truth)
    if not abs(total - 1.0) <= 1e-9 or any(probability < 0 for _, probability in truth):
        raise SettingError(
            f"the truth's probabilities must be at least 0 and sum to 1, they sum to {total}"
        )
    return truth


def marginals(
    before: State, states: Sequence[tuple[State, float]]
) -> dict[tuple[int, str], dict[Value, float]]:
    """Return the true distribution of every (object id, attribute) that may change."""
    changed = {
        (each, name): None
        for after, _ in states
        for each, values in before.changes_to(after).items()
        for name in values
        if not before.schema.attributes[name].derived
    }
    distributions: dict[tuple[int, str], dict[Value, float]] = {key: {} for key in changed}
    for after, probability in states:
        for key, values in distributions.items():
            value = after.value(*key)
            values[value] = values.get(value, 0.0) + probability
    return distributions


# ---------------------------------------------------------------------- chi-square test


def p_value(counts: Mapping[Category, float], probabilities: Mapping[Category, float]) -> float:
    """Return the p-value of Pearson's chi-square test of counts; 0 if they are impossible.

    >>> round(p_value({"heads": 60, "tails": 40}, {"heads": 0.5, "tails": 0.5}), 4)
    0.0455
    >>> p_value({"edge": 1}, {"heads": 0.5, "tails": 0.5})
    0.0
    """
    return chi_square_tail(*chi_square(counts, probabilities))


def chi_square(
    counts: Mapping[Category, float], probabilities: Mapping[Category, float]
) -> tuple[float, int]:
    """Return Pearson's chi-square statistic of counts, and its degrees of freedom.

    The test is unreliable where fewer than five are expected, so the rarest categories are merged
    until five are expected of them. Statistics of independent samples may be added up, with their
    degrees of freedom, and tested together.
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
    groups = _merge_rare(pairs)
    statistic = math.fsum((observed - expected) ** 2 / expected for expected, observed in groups)
    return statistic, len(groups) - 1


def _merge_rare(pairs: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Merge the rarest of the (expected, observed) pairs, which are sorted."""
    groups: list[tuple[float, float]] = []
    for expected, observed in pairs:
        if groups and groups[-1][0] < _FEWEST_EXPECTED:
            expected, observed = expected + groups[-1][0], observed + groups.pop()[1]
        groups.append((expected, observed))
    return groups


def chi_square_tail(statistic: float, freedom: int) -> float:
    """Return the probability that a chi-square variable is larger than a statistic.

    It uses the recurrence of the incomplete gamma function, Q(a + 1, x) = Q(a, x) + x^a e^-x / a!,
    from Q(1/2, x) = erfc(sqrt(x)) or Q(1, x) = e^-x. That is exact, since 2a is an integer.

    >>> round(chi_square_tail(3.841459, 1), 6), round(chi_square_tail(18.307038, 10), 6)
    (0.05, 0.05)
    """
    if freedom == 0 or statistic <= 0:
        return 1.0
    if math.isinf(statistic):
        return 0.0
    x, a = statistic / 2, 0.5 if freedom % 2 else 1.0
    larger = math.erfc(math.sqrt(x)) if freedom % 2 else math.exp(-x)
    while a < freedom / 2:
        larger += math.exp(a * math.log(x) - x - math.lgamma(a + 1))
        a += 1
    return min(1.0, larger)
