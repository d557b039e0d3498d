"""Whole predicted states against what followed: accuracy, and F1 of what changed.

    (before, predicted, after), ... -> [ score_states ] -> StateScores

Most steps of random play change little, so a learner that predicts no change is often right. These
scores therefore also count the transitions that change something, and compare the values that
were predicted to change with those that did. Derived attributes are computed, not predicted, and
do not count.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from treethink.state import State


@dataclass(slots=True)
class StateScores:
    """How often predicted states were exactly right, and which changed values were predicted.

    Of `n` transitions, `exact` were predicted exactly; `changing` changed something, and of these
    `exact_changing` were predicted exactly. `changed` values changed, `predicted` values were
    predicted to change, and `correct` values are in both, with the same new value.
    """

    n: int = 0
    exact: int = 0
    changing: int = 0
    exact_changing: int = 0
    changed: int = 0
    predicted: int = 0
    correct: int = 0

    def add(self, before: State, predicted: State, after: State) -> None:
        """Count one transition: the state before, the predicted one, and the one that followed."""
        true, expected = _changed_values(before, after), _changed_values(before, predicted)
        exact = true == expected
        self.n += 1
        self.exact += exact
        self.changing += bool(true)
        self.exact_changing += exact and bool(true)
        self.changed += len(true)
        self.predicted += len(expected)
        self.correct += sum(key in true and true[key] == value for key, value in expected.items())

    @property
    def accuracy(self) -> float | None:
        """The share of transitions that were predicted exactly; None if there were none."""
        return _share(self.exact, self.n)

    @property
    def changing_accuracy(self) -> float | None:
        """The same among transitions that change something; None if none does."""
        return _share(self.exact_changing, self.changing)

    @property
    def precision(self) -> float | None:
        """The share of predicted changes that are right; None if none was predicted."""
        return _share(self.correct, self.predicted)

    @property
    def recall(self) -> float | None:
        """The share of changes that were predicted, with the right value; None if there is none."""
        return _share(self.correct, self.changed)

    @property
    def f1(self) -> float | None:
        """The harmonic mean of precision and recall; None if nothing changed or was to change.

        >>> StateScores(changed=3, predicted=1, correct=1).f1
        0.5
        """
        return _share(2 * self.correct, self.changed + self.predicted)

    def to_dict(self) -> dict[str, Any]:
        """Return the counts and the scores as plain data."""
        scores = ("accuracy", "changing_accuracy", "precision", "recall", "f1")
        return {**asdict(self), **{name: getattr(self, name) for name in scores}}


def score_states(triples: Iterable[tuple[State, State, State]]) -> StateScores:
    """Return the scores of (state before, predicted state, state that followed).

    >>> from treethink import Object, Schema
    >>> schema = Schema({"lamp": ["on"]}, {"on": 1}, ["press"])
    >>> off, on = (State(schema, [Object(1, "lamp", on=value)]) for value in (0, 1))
    >>> scores = score_states([(off, on, on), (off, off, on), (off, off, off)])
    >>> scores.accuracy, scores.changing_accuracy, scores.precision, scores.recall
    (0.6666666666666666, 0.5, 1.0, 0.5)
    """
    scores = StateScores()
    for before, predicted, after in triples:
        scores.add(before, predicted, after)
    return scores


def _changed_values(before: State, after: State) -> dict[tuple[int, str], Any]:
    """Return the new value of every (object id, attribute) that changed and is not derived."""
    if after is before:
        return {}
    attributes = before.schema.attributes
    return {
        (each, name): value
        for each, values in before.changes_to(after).items()
        for name, value in values.items()
        if not attributes[name].derived
    }


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
