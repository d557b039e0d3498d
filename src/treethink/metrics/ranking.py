"""The rank of the true next state among mutated copies of it.

    prediction, truth -> mutated copies -> [ rank_of_truth ] -> 1 if none is as near as the truth

Learned simulators are often scored by a rank: how many of some distractors does a model hold
likelier than what really followed? Distractors from other transitions are too easy, because most of
their objects are elsewhere. Mutated copies of the truth differ from it by few values: each has one
to three values that are another object's, or one of the state before. The state before itself is
always among them, if anything changed.

Candidates are ordered by `error`, their distance from the prediction. A tie shares its ranks: a
model that cannot tell ten candidates apart has rank 5.5.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import numpy as np

from treethink.errors import SettingError, whole_number
from treethink.metrics.distance import TOLERANCE, Prediction, error
from treethink.state import State

_MOST_MUTATIONS = 3
_TRIES = 20  # for each distractor, before it is clear that there are too few different ones


class _Model(Protocol):
    def predict(self, state: State, action: str, /) -> Any: ...


def rank_of_truth(prediction: Prediction, truth: State, distractors: Iterable[State]) -> float:
    """Return the rank of the truth among the distractors: 1 if it is the nearest.

    >>> from treethink import Object, Schema, TreeThink
    >>> schema = Schema({"lamp": ["on"]}, {"on": 1}, ["press"])
    >>> off, on = (State(schema, [Object(1, "lamp", on=value)]) for value in (0, 1))
    >>> model = TreeThink(schema)
    >>> prediction = model.predict(off, "press")  # nothing was seen: it stays off
    >>> rank_of_truth(prediction, on, [off]), rank_of_truth(prediction, off, [on])
    (2.0, 1.0)
    """
    own = error(prediction, truth)
    others = [error(prediction, each) for each in distractors]
    nearer = sum(each < own - TOLERANCE for each in others)
    as_near = sum(abs(each - own) <= TOLERANCE for each in others)
    return 1 + nearer + as_near / 2


def mutated_states(
    before: State, truth: State, count: int, rng: np.random.Generator
) -> list[State]:
    """Return up to `count` different states that differ from the truth by one to three values.

    The first is the state before, if it differs. A small state may have fewer.
    """
    count = whole_number("count", count, 1)
    places = _mutable(before, truth)
    found: dict[State, None] = {}
    if before != truth and not before.changes_to(truth).keys() - set(before.ids):
        found[before] = None
    for _ in range(_TRIES * count if places else 0):
        if len(found) == count:
            break
        mutant = _mutant(truth, places, rng)
        if mutant != truth:
            found[mutant] = None
    return list(found)[:count]


def mean_reciprocal_rank(
    model: _Model,
    transitions: Iterable[Sequence[Any]],
    distractors: int = 20,
    seed: int = 0,
) -> float:
    """Return the mean of 1 / rank of the truth, over transitions; 1 is perfect.

    Each truth has its own mutated copies, which depend on the seed only.

    >>> from treethink import make, transitions
    >>> from treethink.baselines import make_learner
    >>> world = make("walls")
    >>> steps = list(transitions(world, steps=30, seed=0))
    >>> mean_reciprocal_rank(make_learner("oracle", world), steps)
    1.0
    >>> mean_reciprocal_rank(make_learner("static", world), steps) < 1
    True
    """
    rng = np.random.default_rng(whole_number("seed", seed))
    reciprocals = []
    for before, action, after, *_ in transitions:
        others = mutated_states(before, after, distractors, rng)
        reciprocals.append(1 / rank_of_truth(model.predict(before, action), after, others))
    if not reciprocals:
        raise SettingError("a mean rank needs at least one transition, got none")
    return float(np.mean(reciprocals))


#: An object's id, an attribute, and the values that a mutation may give it.
_Place = tuple[int, str, list[Any]]


def _mutable(before: State, truth: State) -> list[_Place]:
    """Return the values that can be mutated, each with its other values, in a fixed order."""
    values: dict[tuple[str, str], dict[Any, None]] = {}
    for state in (before, truth):
        for each in state:
            for name in state.schema.predicted(each.class_name):
                values.setdefault((each.class_name, name), {})[each.values[name]] = None
    places = []
    for each in truth:
        for name in truth.schema.predicted(each.class_name):
            own = each.values[name]
            others = _ordered(v for v in values[each.class_name, name] if v != own)
            others = others or _neighbours(own)
            if others:
                places.append((each.id, name, others))
    return sorted(places, key=lambda place: (place[0], place[1]))


def _ordered(values: Iterable[Any]) -> list[Any]:
    return sorted(values, key=lambda value: (value,) if isinstance(value, int | str) else value)


def _neighbours(value: Any) -> list[Any]:
    """Return values next to a value that no other object has; a name has none."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value - 1, value + 1]
    if isinstance(value, tuple):
        return [
            (*value[:i], value[i] + by, *value[i + 1 :])
            for i in range(len(value))
            for by in (-1, 1)
        ]
    return []


def _mutant(truth: State, places: Sequence[_Place], rng: np.random.Generator) -> State:
    """Return the truth with one to three values changed."""
    count = min(len(places), 1 + int(rng.integers(_MOST_MUTATIONS)))
    changes: dict[int, dict[str, Any]] = {}
    for i in rng.choice(len(places), size=count, replace=False).tolist():
        each, name, others = places[i]
        changes.setdefault(each, {})[name] = others[int(rng.integers(len(others)))]
    return truth.replace_many(changes)
