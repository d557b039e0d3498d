"""k-nearest neighbours over object features.

    object -> row of features -> [ the k most similar examples ] -> votes for outcomes

Each object is predicted by itself: the examples of its class and the action whose rows
(`object_features.py`) differ least vote for what happens to each attribute. Features that are
numbers differ by at most 8, names and flags by 1. Of equally similar examples the latest count.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import numpy.typing as npt

from treethink.baselines.base import Learner
from treethink.baselines.object_features import ObjectFeatures, Outcome, Outcomes, Row, examples_of
from treethink.baselines.prediction import Product
from treethink.errors import whole_number
from treethink.metrics import Value
from treethink.state import Schema, State

_FARTHEST = 8
_NARROW = 2**30  # differences of numbers up to here fit 32 bits, which are faster
_MISSING = -_NARROW  # far from all numbers that are likely


class NearestNeighbours(Learner):
    """A learner that predicts each object by the most similar examples in its memory.

    Parameters
    ----------
    schema
        What states are made of, and which actions there are.
    k
        How many examples vote.
    nearest
        How many objects of each class take part in the features of an object.
    memory
        How many of the latest transitions the examples are from, and how many examples of a class
        and an action there are at most. Objects of a class that has never changed by an action
        have none: they are predicted to stay as they are.

    Examples
    --------
    >>> from treethink import make, transitions
    >>> world = make("walls")
    >>> learner = NearestNeighbours(world.schema)
    >>> for step in transitions(world, steps=200, seed=0):
    ...     learner.observe(*step)
    >>> learner
    <NearestNeighbours: k=5, 200 observations>
    """

    name = "knn"

    def __init__(self, schema: Schema, *, k: int = 5, nearest: int = 4, memory: int = 2_000):
        super().__init__(schema)
        self.k, self.memory = whole_number("k", k, 1), whole_number("memory", memory, 1)
        self.nearest = whole_number("nearest", nearest, 1)
        self.observed = 0
        self._features = ObjectFeatures(schema, self.nearest)
        self._outcomes = Outcomes(schema)
        self._seen: dict[tuple[str, str], int] = {}
        self._examples: dict[tuple[str, str], _Examples] = {}

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: k={self.k}, {self.observed:,} observations>"

    def learn(self, before: State, action: str, after: State) -> None:
        """Add an example for every object of a class that has ever changed by the action."""
        self.observed += 1
        changed = {before[x].class_name for x in before.changes_to(after)}
        for name in self.schema.classes:
            objects = len(before.of_class(name))
            if not objects or not self.schema.predicted(name):
                continue
            key = name, action
            self._seen[key] = self._seen.get(key, 0) + objects
            if name in changed and key not in self._examples:
                self._examples[key] = _Examples(self._features.symbolic(name))
            if key in self._examples:
                found = examples_of(before, after, name, self._features, self._outcomes.outcome)
                self._examples[key].add(self.observed, found)
                self._examples[key].keep(self.memory, self.observed - self.memory)

    def answer(self, state: State, action: str) -> Product:
        """Return the votes of the nearest examples, for each object."""
        counts: dict[tuple[int, str], dict[Value, int]] = {}
        for name in self.schema.classes:
            key = name, action
            if key in self._examples:
                for x, row in self._features.rows(state, name):
                    self._vote(counts, state, x, self._examples[key].nearest(row, self.k))
            elif seen := self._seen.get(key, 0):
                for each in state.of_class(name):
                    for attribute in self.schema.predicted(name):
                        counts[each.id, attribute] = {each.values[attribute]: seen}
        return Product(state, counts)

    def _vote(
        self,
        counts: dict[tuple[int, str], dict[Value, int]],
        state: State,
        x: int,
        neighbours: list[tuple[Outcome, ...]],
    ) -> None:
        each = state[x]
        for i, attribute in enumerate(self.schema.predicted(each.class_name)):
            votes: dict[Value, int] = {}
            for outcomes in neighbours:
                value = self._outcomes.value(each, attribute, outcomes[i])
                votes[value] = votes.get(value, 0) + 1
            counts[x, attribute] = votes

    def memory_use(self) -> dict[str, int]:
        """Return the number of examples, and roughly their bytes."""
        examples = sum(len(each) for each in self._examples.values())
        width = max((each.width for each in self._examples.values()), default=0)
        return {"bytes": 4 * examples * width, "examples": examples}

    # ---- files ----

    def settings(self) -> dict[str, Any]:
        """Return the settings it was made with."""
        return {"k": self.k, "nearest": self.nearest, "memory": self.memory}

    def body(self) -> bytes:
        """Return all examples, as JSON."""
        content = {
            "observed": self.observed,
            "seen": [[*key, n] for key, n in sorted(self._seen.items())],
            "examples": [[*key, each.content()] for key, each in sorted(self._examples.items())],
        }
        return json.dumps(content, separators=(",", ":")).encode()

    def restore(self, body: bytes) -> None:
        """Restore what `body` returned."""
        content = json.loads(body)
        self.observed = whole_number("observed", content["observed"])
        for name, action, n in content["seen"]:
            self._seen[name, action] = whole_number("seen", n, 1)
        for name, action, kept in content["examples"]:
            self._check_action(action)
            examples = _Examples(self._features.symbolic(name))
            for step, row, outcomes in kept:
                pairs = [(tuple(row), tuple(tuple(each) for each in outcomes))]
                examples.add(whole_number("step", step, 1), pairs)
            self._examples[name, action] = examples


class _Examples:
    """The examples of a class and an action, oldest first."""

    def __init__(self, symbolic: list[bool]):
        self.width = len(symbolic)
        self._most = np.where(symbolic, 1, _FARTHEST).astype(np.int32)
        self._steps: list[int] = []
        self._rows: list[Row] = []
        self._outcomes: list[tuple[Outcome, ...]] = []
        #: Of 32 bits, until a number needs more.
        self._table: npt.NDArray[np.signedinteger[Any]] = np.empty((64, self.width), np.int32)

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, step: int, examples: list[tuple[Row, tuple[Outcome, ...]]]) -> None:
        """Add the examples of one transition."""
        for row, outcomes in examples:
            if len(row) != self.width:
                raise ValueError(f"a row must have {self.width} features, got {len(row)}")
            if len(self) == len(self._table):
                self._table = np.concatenate([self._table, np.empty_like(self._table)])
            numbers = _numbers(row)
            if numbers.dtype == np.int64 != self._table.dtype:
                self._table = self._table.astype(np.int64)
            self._table[len(self)] = numbers
            self._steps.append(step)
            self._rows.append(row)
            self._outcomes.append(outcomes)

    def keep(self, most: int, step: int) -> None:
        """Keep the latest examples: so many at most, and none of steps up to this one."""
        first = max(0, len(self) - most)
        later = (i for i in range(first, len(self)) if self._steps[i] > step)
        old = next(later, len(self))
        if old:
            del self._steps[:old], self._rows[:old], self._outcomes[:old]
            self._table[: len(self)] = self._table[old : old + len(self)].copy()

    def nearest(self, row: Row, k: int) -> list[tuple[Outcome, ...]]:
        """Return the outcomes of the k examples that differ least; of equals, the latest."""
        differences = _differences(self._table[: len(self)], _numbers(row))
        distances = np.minimum(differences, self._most.astype(differences.dtype)).sum(axis=1)
        latest_first = np.argsort(distances[::-1], kind="stable")[:k]
        return [self._outcomes[len(self) - 1 - i] for i in latest_first.tolist()]

    def content(self) -> list[Any]:
        """Return the examples as plain data."""
        return [list(each) for each in zip(self._steps, self._rows, self._outcomes, strict=True)]


def _numbers(row: Row) -> npt.NDArray[np.signedinteger[Any]]:
    """Return a row as numbers: of 32 bits if they fit, else of 64."""
    numbers = [_MISSING if each is None else each for each in row]
    fit = not numbers or (min(numbers) >= -_NARROW and max(numbers) < _NARROW)
    return np.array(numbers, np.int32 if fit else np.int64)


def _differences(table: npt.NDArray[Any], row: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return by how much each row of a table differs from one, feature by feature."""
    difference: npt.NDArray[Any]
    if table.dtype == row.dtype == np.int32:
        difference = np.abs(table - row)
        return difference
    # The larger less the smaller, without a sign: no difference is too large for that.
    larger, smaller = np.maximum(table, row), np.minimum(table, row)
    difference = larger.view(np.uint64) - smaller.view(np.uint64)
    return difference
