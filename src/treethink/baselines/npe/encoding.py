"""States as vectors for the Neural Physics Engine, and back.

    state -> [ Encoding ] -> one vector per object -> network -> vectors -> state

An object's vector X_i is its class, one-hot, followed by all attributes that are predicted (zeros
where it lacks one), names and bools as numbers. The game is not an object here: its score is the
reward.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treethink.errors import TransitionError
from treethink.state import Schema, State

Vectors = NDArray[np.float32]

#: The number of states that are cached as vectors: most are predicted first and learned soon after.
_CACHED = 128
_LARGEST_INT = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Encoded:
    """A state with the ids and the vectors of its objects, row by row."""

    state: State
    ids: NDArray[np.int64]
    vectors: Vectors


class Encoding:
    """Converts states of a schema to vectors, and back."""

    def __init__(self, schema: Schema):
        self.schema = schema
        self.classes = [name for name in schema.classes if name != "game"]
        owned = {each for name in self.classes for each in schema.predicted(name)}
        self.attributes = [each for each in schema.attributes if each in owned]
        scores = "score" in schema.classes.get("game", ())
        self.keeps_score = scores and schema.attributes["score"].length == 1
        #: The columns of each attribute in a vector.
        self.columns: dict[str, slice] = {}
        at = len(self.classes)
        for each in self.attributes:
            first, at = at, at + schema.attributes[each].length
            self.columns[each] = slice(first, at)
        #: The length of an object's vector.
        self.d = at
        self._owned = [
            [(each, self.columns[each]) for each in schema.predicted(name)] for name in self.classes
        ]
        self._last: Encoded | None = None
        self._cache: dict[int, Encoded] = {}

    def encoded(self, state: State) -> Encoded:
        """Return all objects except the game, sorted by their vectors, since ids have no meaning.

        Most states follow the last one, so only the changes are read.
        """
        cached = self._cache.get(id(state))
        if cached is not None and cached.state is state:
            return cached
        ids, vectors = self._changes_of_last(state) or self._read(state)
        order = np.lexsort(vectors.T[::-1])
        self._last = Encoded(state, ids[order], vectors[order])
        if len(self._cache) == _CACHED:
            self._cache.clear()
        self._cache[id(state)] = self._last
        return self._last

    def _changes_of_last(self, state: State) -> tuple[NDArray[np.int64], Vectors] | None:
        """Return ids and vectors by the changes since the last state; None if objects differ."""
        last = self._last
        if last is None or last.state.ids != state.ids:
            return None
        try:
            return self._changed(last, state)
        except TransitionError:  # the same ids, but other classes
            return None

    def follow(self, encoded: Encoded, after: State) -> Vectors:
        """Return the vectors of the same objects, in the same order, in a later state."""
        return self._changed(encoded, after)[1]

    def _changed(self, last: Encoded, state: State) -> tuple[NDArray[np.int64], Vectors]:
        vectors = last.vectors.copy()
        changes = last.state.changes_to(state)
        rows = {each: row for row, each in enumerate(last.ids.tolist())} if changes else {}
        for each, values in changes.items():
            for name, value in values.items() if each in rows else ():  # the game has no row
                if name in self.columns:  # others are derived
                    number = self.schema.attributes[name].encode(value)
                    vectors[rows[each], self.columns[name]] = number
        return last.ids, vectors

    def decoded(self, before: Encoded, rows: NDArray[np.int64], points: int) -> State:
        """Return the state with these vectors, and `points` added to the score."""
        changed = np.flatnonzero((rows != before.vectors).any(axis=1))
        classes = before.vectors[changed, : len(self.classes)].argmax(axis=1)
        changes: dict[int, dict[str, Any]] = {}
        for each, kind, row in zip(
            before.ids[changed].tolist(), classes.tolist(), rows[changed].tolist(), strict=True
        ):
            changes[each] = {name: self._value(name, row[at]) for name, at in self._owned[kind]}
        for game in before.state.of_class("game") if points else ():
            score = min(max(game.score + points, -_LARGEST_INT), _LARGEST_INT)
            changes[game.id] = {"score": score}
        return before.state.replace_many(changes) if changes else before.state

    def _read(self, state: State) -> tuple[NDArray[np.int64], Vectors]:
        objects = [each for each in state if each.class_name != "game"]
        vectors = np.zeros((len(objects), self.d), dtype=np.float32)
        for row, each in zip(vectors, objects, strict=True):
            row[self.classes.index(each.class_name)] = 1
            numbers = self.schema.numbers(each)
            for name in self.schema.predicted(each.class_name):
                row[self.columns[name]] = numbers[name]
        return np.array([each.id for each in objects], dtype=np.int64), vectors

    def _value(self, name: str, numbers: list[int]) -> int | tuple[int, ...]:
        """Return a value of an attribute; of names and bools, the nearest one that there is."""
        attribute = self.schema.attributes[name]
        if attribute.is_symbolic:
            return min(max(numbers[0], 0), len(attribute.names or (False, True)) - 1)
        return numbers[0] if len(numbers) == 1 else tuple(numbers)

    def reward(self, before: State, after: State) -> float:
        """Return the change of the score."""
        return float(_score(after) - _score(before)) if self.keeps_score else 0.0

    def action(self, name: str) -> int:
        """Return the index of an action."""
        return self.schema.actions.index(name)


def _score(state: State) -> int:
    return sum(each.score for each in state.of_class("game"))


class VectorTable:
    """Distinct vectors, each with a row for as long as it is in use (reference counted)."""

    def __init__(self, d: int):
        self.d = d
        self._rows: dict[bytes, int] = {}
        self._vectors: list[bytes] = []  # of each row
        self._uses = np.zeros(0, dtype=np.int64)
        self._free: list[int] = []

    def acquire(self, vectors: Vectors) -> NDArray[np.int64]:
        """Return the row of each vector, and count one more use of it."""
        contiguous = np.ascontiguousarray(vectors)
        as_bytes = contiguous.view(f"V{4 * self.d}").ravel().tolist()
        try:
            rows = [self._rows[each] for each in as_bytes]
        except KeyError:
            rows = [self._row(each) for each in as_bytes]
        indices = np.array(rows, dtype=np.int64)
        np.add.at(self._uses, indices, 1)
        return indices

    def _row(self, vector: bytes) -> int:
        if vector not in self._rows:
            if not self._free:
                self._free.append(len(self._vectors))
                self._vectors.append(vector)
                if len(self._vectors) > len(self._uses):
                    self._uses = np.resize(self._uses, 2 * len(self._vectors))
                    self._uses[len(self._vectors) - 1 :] = 0
            row = self._rows[vector] = self._free.pop()
            self._vectors[row] = vector
        return self._rows[vector]

    def release(self, rows: NDArray[np.int64]) -> None:
        """Count one use less of each row; rows without uses are freed."""
        np.subtract.at(self._uses, rows, 1)
        for row in set(rows[self._uses[rows] == 0].tolist()):
            del self._rows[self._vectors[row]]
            self._free.append(row)

    def sorted_vectors(self) -> tuple[Vectors, NDArray[np.int64]]:
        """Return all vectors, sorted, and the position of each row among them.

        They are padded with zeros, so that their number seldom changes. Row -1, which stands for
        no object, has position -1.
        """
        numbers = np.frombuffer(b"".join(self._rows), dtype=np.float32).reshape(-1, self.d)
        order = np.lexsort(numbers.T[::-1])
        padded = np.zeros((padded_size(len(order)), self.d), dtype=np.float32)
        padded[: len(order)] = numbers[order]
        position = np.full(len(self._vectors) + 1, -1, dtype=np.int64)
        position[np.fromiter(self._rows.values(), np.int64)[order]] = np.arange(len(order))
        return padded, position


def padded_size(n: int) -> int:
    """Round n up to one of a few sizes: repeated tensor shapes are computed faster.

    >>> [padded_size(each) for each in (0, 8, 41, 129, 150, 242)]
    [8, 8, 48, 144, 160, 256]
    """
    block = 1 << max(3, n.bit_length() - 4)
    return max(1, -(-n // block)) * block
