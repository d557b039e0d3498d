"""Predictions of learners written in Python, with the interface of the engine's `Prediction`.

    learner -> [ prediction ] -> metric

`Product` has an independent distribution for each attribute of each object, `Joint` has one over
whole states, and `Certain` has a single next state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from treethink.errors import StateError, WrongTypeError, shown
from treethink.explain import notebook
from treethink.metrics import Distribution, Value, marginals
from treethink.state import State

#: An object's id, and an attribute of its class.
Key = tuple[int, str]


class Product:
    """Independent distributions for each object and attribute, from counts.

    `counts` has, for an attribute of an object, how often each next value was observed. An
    attribute without counts is predicted to stay as it is, with a support of 0.

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
        """Return the most probable next state; ties go to the smallest value."""

        def likeliest(name: str, counts: Mapping[Value, int]) -> Value:
            number = self.state.schema.attributes[name].encode  # names have no order of their own
            return min(counts, key=lambda value: (-counts[value], number(value)))

        return self._with_values(likeliest)

    def sample(self, rng: Any = None) -> State:
        """Draw a next state with a numpy Generator, with a seed, or with a fresh generator."""
        rng = _generator(rng)

        def draw(_: str, counts: Mapping[Value, int]) -> Value:
            return next(iter(counts)) if len(counts) == 1 else _draw(rng, counts.items())

        return self._with_values(draw)

    def probability(self, after: State) -> float:
        """Return the probability of a next state."""
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
        """Return the possible new values of one attribute, with their probabilities."""
        now = _value_now(self.state, object_id, attribute)
        return _probabilities(self._counts.get((int(object_id), attribute), {now: 1}))

    def support(self, object_id: int, attribute: str) -> int:
        """Return the number of observations behind the prediction; 0: never observed."""
        _value_now(self.state, object_id, attribute)
        return sum(self._counts.get((int(object_id), attribute), {}).values())

    def changes(self) -> dict[int, dict[str, Distribution]]:
        """Return {object id: {attribute: {value: probability}}} of all that may change."""
        return _nested(
            (key, _probabilities(each))
            for key, each in self._counts.items()
            if len(each) > 1 or self.state.value(*key) not in each
        )

    def _with_values(self, choose: Callable[[str, Mapping[Value, int]], Value]) -> State:
        """Return the state in which `choose` picks each value from its counts."""
        chosen: dict[int, dict[str, Value]] = {}
        for (x, name), counts in self._counts.items():
            value = choose(name, counts)
            if value != self.state.value(x, name):
                chosen.setdefault(x, {})[name] = value
        return self.state.replace_many(chosen) if chosen else self.state

    def __repr__(self) -> str:
        return _repr(self)


class Joint:
    """A distribution over whole states. Its support is 0, since it is not based on observations."""

    def __init__(self, state: State, states: Sequence[tuple[State, float]]):
        self.state = state
        self.states = tuple(states)
        self._marginals = marginals(state, self.states)

    def mode(self) -> State:
        """Return the most probable next state; ties go to the smallest values."""
        most = max(probability for _, probability in self.states)
        likely = [state for state, probability in self.states if probability == most]
        return likely[0] if len(likely) == 1 else min(likely, key=_values)

    def sample(self, rng: Any = None) -> State:
        """Draw a next state with a numpy Generator, with a seed, or with a fresh generator."""
        rng = _generator(rng)
        return self.states[0][0] if len(self.states) == 1 else _draw(rng, self.states)

    def probability(self, after: State) -> float:
        """Return the probability of a next state."""
        _check_after(self.state, after)
        return sum(probability for state, probability in self.states if state == after)

    def outcomes(self, object_id: int, attribute: str) -> Distribution:
        """Return the possible new values of one attribute, with their probabilities."""
        now = _value_now(self.state, object_id, attribute)
        return dict(self._marginals.get((int(object_id), attribute), {now: 1.0}))

    def support(self, object_id: int, attribute: str) -> int:
        """Return 0: there are no observations behind it."""
        _value_now(self.state, object_id, attribute)
        return 0

    def changes(self) -> dict[int, dict[str, Distribution]]:
        """Return {object id: {attribute: {value: probability}}} of all that may change."""
        return _nested((key, dict(each)) for key, each in self._marginals.items())

    def __repr__(self) -> str:
        return _repr(self)


class Certain:
    """A single next state with probability 1, and the number of observations behind it."""

    def __init__(self, state: State, after: State, observations: int):
        self.state, self.after, self.observations = state, after, observations

    def mode(self) -> State:
        """Return the next state."""
        return self.after

    def sample(self, rng: Any = None) -> State:
        """Return the next state."""
        _generator(rng)
        return self.after

    def probability(self, after: State) -> float:
        """Return the probability of a next state."""
        _check_after(self.state, after)
        return float(self.after == after)

    def outcomes(self, object_id: int, attribute: str) -> Distribution:
        """Return the new value of one attribute, with its probability."""
        _value_now(self.state, object_id, attribute)
        return {self.after.value(object_id, attribute): 1.0}

    def support(self, object_id: int, attribute: str) -> int:
        """Return the number of observations behind the prediction."""
        _value_now(self.state, object_id, attribute)
        return self.observations

    def changes(self) -> dict[int, dict[str, Distribution]]:
        """Return {object id: {attribute: {value: 1.0}}} of all that changes."""
        return {
            x: {name: {value: 1.0} for name, value in values.items()}
            for x, values in self.state.changes_to(self.after).items()
        }

    def __repr__(self) -> str:
        return _repr(self)


for _each in (Product, Certain):
    notebook.install_on(_each, _repr_html_="treethink.explain.notebook_html:prediction_html")
notebook.install_on(Joint, _repr_html_="treethink.explain.notebook_html:uncounted_html")


def _nested(changes: Iterable[tuple[Key, Distribution]]) -> dict[int, dict[str, Distribution]]:
    nested: dict[int, dict[str, Distribution]] = {}
    for (x, name), values in changes:
        nested.setdefault(x, {})[name] = values
    return nested


def _probabilities(counts: Mapping[Value, int]) -> dict[Value, float]:
    total = sum(counts.values())
    return {value: n / total for value, n in counts.items()}


def _values(state: State) -> list[Any]:
    return [list(state.schema.numbers(each).values()) for each in state]


def _value_now(state: State, object_id: int, attribute: str) -> Value:
    """Return the value of an attribute; raise an error if there is none, or if it is derived."""
    now: Value = state.value(object_id, attribute)
    if state.schema.attributes[attribute].derived:
        raise StateError(
            f"attribute {attribute!r} of class {state[object_id].class_name!r} is derived: it is"
            " not predicted, but computed from the predicted state, as in `mode()`"
        )
    return now


def _draw(rng: Any, weighted: Iterable[tuple[Any, float]]) -> Any:
    """Draw one of several things, with probabilities in proportion to their weights."""
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


def _generator(rng: Any) -> Any:
    """Return a generator as it is, and a new one for a seed or None."""
    is_seed = isinstance(rng, int | np.integer) and not isinstance(rng, bool) and rng >= 0
    if rng is None or is_seed:
        return np.random.default_rng(rng)
    if not hasattr(rng, "random"):
        raise WrongTypeError(
            "rng must be a numpy.random.Generator, a seed (an integer that is not negative) or"
            f" None, got {shown(rng)}"
        )
    return rng


def _check_after(state: State, after: object) -> None:
    if not isinstance(after, State):
        raise WrongTypeError(f"after must be a State, got {shown(after)}")
    if not state.schema.fits(after.schema):
        raise StateError("the state is of another schema than the prediction")


def _repr(prediction: Product | Joint | Certain) -> str:
    attributes = sum(len(each.values) for each in prediction.state)
    changing = sum(map(len, prediction.changes().values()))
    return f"<Prediction: {changing} of {attributes} attributes may change>"
