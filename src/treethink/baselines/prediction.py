"""Predictions of learners that are written in Python. They behave as the engine's do.

    learner -> [ prediction ] -> metric

`Product` has a distribution for each attribute of each object, all independent; `Joint` one over
whole states; `Certain` knows but one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import prod
from typing import Any

from treethink.errors import StateError, WrongTypeError, shown
from treethink.explain import notebook
from treethink.metrics import Distribution, Value, marginals
from treethink.state import State

Key = tuple[int, str]
"""An object's id, and an attribute of its class."""


class Product:
    """Independent distributions for each object and attribute, made of counts.

    `counts` says of an attribute how often each value was seen to follow; without an entry, or
    with an empty one, it stays as it is, and nothing is behind that.

    >>> from treethink import Object, Schema
    >>> schema = Schema({"lamp": ["on"]}, {"on": 1}, ["press"])
    >>> off = State(schema, [Object(7, "lamp", on=0)])
    >>> prediction = Product(off, {(7, "on"): {1: 3, 0: 1}})
    >>> prediction.outcomes(7, "on"), prediction.support(7, "on"), prediction.mode()
    ({1: 0.75, 0: 0.25}, 4, State([Object(7, 'lamp', on=1)]))
    """

    def __init__(self, state: State, counts: Mapping[Key, Mapping[Value, int]]):
        self.state = state
        self._counts = {key: each for key, each in counts.items() if each}

    def mode(self) -> State:
        """The most probable next state; of equally probable values the smallest."""
        return self._chosen(lambda counts: min(counts, key=lambda value: (-counts[value], value)))

    def sample(self, rng: Any) -> State:
        """One next state, drawn with a numpy Generator."""
        _check_generator(rng)

        def drawn(counts: Mapping[Value, int]) -> Value:
            return next(iter(counts)) if len(counts) == 1 else _drawn(rng, counts.items())

        return self._chosen(drawn)

    def probability(self, after: State) -> float:
        """Probability of a next state."""
        _check_after(self.state, after)
        if self.state.ids != after.ids:
            return 0.0
        changed = self.state.changes_to(after)
        if any((x, name) not in self._counts for x, values in changed.items() for name in values):
            return 0.0
        return prod(
            each.get(after.value(*key), 0) / sum(each.values())
            for key, each in self._counts.items()
        )

    def outcomes(self, object_id: int, attribute: str) -> Distribution:
        """Possible new values of one attribute, with their probabilities."""
        now: Value = self.state.value(object_id, attribute)  # refuses what is not there
        return _shares(self._counts.get((int(object_id), attribute), {now: 1}))

    def support(self, object_id: int, attribute: str) -> int:
        """Observations behind the answer; 0: never seen."""
        self.state.value(object_id, attribute)
        return sum(self._counts.get((int(object_id), attribute), {}).values())

    def changes(self) -> list[tuple[int, str, Distribution]]:
        """(object id, attribute, {value: probability}) for all that may not stay as it is."""
        return [
            (*key, _shares(each))
            for key, each in self._counts.items()
            if len(each) > 1 or self.state.value(*key) not in each
        ]

    def _chosen(self, choose: Callable[[Mapping[Value, int]], Value]) -> State:
        """The state in which each attribute takes the value that is chosen from its counts."""
        chosen: dict[int, dict[str, Value]] = {}
        for (x, name), counts in self._counts.items():
            value = choose(counts)
            if value != self.state.value(x, name):
                chosen.setdefault(x, {})[name] = value
        return self.state.replace_many(chosen) if chosen else self.state

    def __repr__(self) -> str:
        return _shown(self)


class Joint:
    """A distribution over whole states. Nothing was observed for it: its support is 0."""

    def __init__(self, state: State, states: Sequence[tuple[State, float]]):
        self.state = state
        self.states = tuple(states)
        self._marginals = marginals(state, self.states)

    def mode(self) -> State:
        """The most probable next state; of equally probable ones that with the smallest values."""
        most = max(probability for _, probability in self.states)
        likely = [state for state, probability in self.states if probability == most]
        return likely[0] if len(likely) == 1 else min(likely, key=_values)

    def sample(self, rng: Any) -> State:
        """One next state, drawn with a numpy Generator."""
        _check_generator(rng)
        return self.states[0][0] if len(self.states) == 1 else _drawn(rng, self.states)

    def probability(self, after: State) -> float:
        """Probability of a next state."""
        _check_after(self.state, after)
        return sum(probability for state, probability in self.states if state == after)

    def outcomes(self, object_id: int, attribute: str) -> Distribution:
        """Possible new values of one attribute, with their probabilities."""
        now: Value = self.state.value(object_id, attribute)
        return dict(self._marginals.get((int(object_id), attribute), {now: 1.0}))

    def support(self, object_id: int, attribute: str) -> int:
        """Observations behind the answer: none."""
        self.state.value(object_id, attribute)
        return 0

    def changes(self) -> list[tuple[int, str, Distribution]]:
        """(object id, attribute, {value: probability}) for all that may not stay as it is."""
        return [(*key, dict(each)) for key, each in self._marginals.items()]

    def __repr__(self) -> str:
        return _shown(self)


class Certain:
    """A single state that follows for sure, with so many observations behind it."""

    def __init__(self, state: State, after: State, behind: int):
        self.state, self.after, self.behind = state, after, behind

    def mode(self) -> State:
        """The next state."""
        return self.after

    def sample(self, rng: Any) -> State:
        """The next state: there is nothing to draw."""
        _check_generator(rng)
        return self.after

    def probability(self, after: State) -> float:
        """Probability of a next state."""
        _check_after(self.state, after)
        return float(self.after == after)

    def outcomes(self, object_id: int, attribute: str) -> Distribution:
        """The new value of one attribute, with its probability."""
        self.state.value(object_id, attribute)
        return {self.after.value(object_id, attribute): 1.0}

    def support(self, object_id: int, attribute: str) -> int:
        """Observations behind the answer."""
        self.state.value(object_id, attribute)
        return self.behind

    def changes(self) -> list[tuple[int, str, Distribution]]:
        """(object id, attribute, {value: 1.0}) for all that does not stay as it is."""
        return [
            (x, name, {value: 1.0})
            for x, values in self.state.changes_to(self.after).items()
            for name, value in values.items()
        ]

    def __repr__(self) -> str:
        return _shown(self)


for _each in (Product, Certain):
    notebook.install_on(_each, _repr_html_="treethink.explain.notebook_html:prediction_html")
notebook.install_on(Joint, _repr_html_="treethink.explain.notebook_html:uncounted_html")


def _shares(counts: Mapping[Value, int]) -> dict[Value, float]:
    total = sum(counts.values())
    return {value: n / total for value, n in counts.items()}


def _values(state: State) -> list[Any]:
    return [list(each.values.values()) for each in state]


def _drawn(rng: Any, weighted: Iterable[tuple[Any, float]]) -> Any:
    """One of several things, each as likely as its weight says."""
    things = list(weighted)
    number = rng.random()
    if not isinstance(number, float) or not 0 <= number < 1:
        raise WrongTypeError(f"rng.random() must give numbers from 0 up to 1, got {shown(number)}")
    threshold = number * sum(weight for _, weight in things)
    reached = 0.0
    for thing, weight in things[:-1]:
        reached += weight
        if reached > threshold:
            return thing
    return things[-1][0]


def _check_generator(rng: object) -> None:
    if not hasattr(rng, "random"):
        raise WrongTypeError(f"rng must be a numpy.random.Generator, got {shown(rng)}")


def _check_after(state: State, after: object) -> None:
    if not isinstance(after, State):
        raise WrongTypeError(f"after must be a State, got {shown(after)}")
    if state.schema is not after.schema and state.schema != after.schema:
        raise StateError("the state is of another schema than the prediction")


def _shown(prediction: Product | Joint | Certain) -> str:
    attributes = sum(len(each.values) for each in prediction.state)
    changing = len(prediction.changes())
    return f"<Prediction: {changing} of {attributes} attributes may change>"
