"""Training data of the Neural Physics Engine: a replay buffer, and batches of tensors.

transition -> Experience -> [ Replay ] -> Batch -> training step
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from treethink.baselines.npe.encoding import Vectors, VectorTable


@dataclass(frozen=True, slots=True)
class Experience:
    """One transition as vectors."""

    before: Vectors
    after: Vectors
    action: int
    reward: float


class Batch(NamedTuple):
    """Transitions as tensors. `places` has the rows of their objects in `vectors`."""

    vectors: Tensor
    places: Tensor
    after: Tensor
    action: Tensor
    reward: Tensor

    def part(self, rows: Tensor) -> Batch:
        """Return some of the transitions."""
        return Batch(self.vectors, *(each[rows] for each in self[1:]))


class Queries(NamedTuple):
    """Situations to predict, as tensors in the form of a `Batch`."""

    vectors: Tensor
    places: Tensor
    action: Tensor


class Replay:
    """A replay buffer of fixed size; when it is full, a new transition replaces a random one."""

    def __init__(self, room: int, d: int, actions: int, device: torch.device):
        self.room, self._actions, self._device = room, actions, device
        self._size, self._table = 0, VectorTable(d)
        self._rows = np.full((room, 0), -1)
        self._before, self._after = (np.zeros((room, 0, d), dtype=np.float32) for _ in range(2))
        self._action = np.zeros(room, dtype=np.int64)
        self._reward = np.zeros(room, dtype=np.float32)

    def __len__(self) -> int:
        return self._size

    def add(self, item: Experience, slot: int) -> None:
        """Add a transition; if the buffer is full, it replaces the one at `slot`."""
        self._put(self._size if self._size < self.room else slot, item)

    def _put(self, slot: int, item: Experience) -> None:
        if slot < self._size:
            self._table.release(self._rows[slot, self._rows[slot] >= 0])
        self._size, n = max(self._size, slot + 1), len(item.before)
        self._make_room(n)
        self._rows[slot, :n], self._rows[slot, n:] = self._table.acquire(item.before), -1
        self._before[slot, :n], self._after[slot, :n] = item.before, item.after
        self._before[slot, n:], self._after[slot, n:] = 0, 0
        self._action[slot], self._reward[slot] = item.action, item.reward

    def _make_room(self, objects: int) -> None:
        """Grow the arrays for states with more objects than any before."""
        more = ((0, 0), (0, max(0, objects - self._rows.shape[1])))
        if more[1][1]:
            self._rows = np.pad(self._rows, more, constant_values=-1)
            self._before, self._after = (
                np.pad(each, (*more, (0, 0))) for each in (self._before, self._after)
            )

    def batches(self, n: int, rng: np.random.Generator) -> Iterator[Batch]:
        """Yield all transitions in random order, in n batches."""
        data = self._on_device()
        for rows in np.array_split(rng.permutation(self._size), n):
            if len(rows):
                yield data.part(torch.from_numpy(rows).to(self._device))

    def _on_device(self) -> Batch:
        size = self._size
        vectors, position = self._table.sorted_vectors()
        action = np.eye(self._actions, dtype=np.float32)[self._action[:size]]
        arrays = (position[self._rows[:size]], self._after[:size], action, self._reward[:size])
        return Batch(*(torch.from_numpy(each).to(self._device) for each in (vectors, *arrays)))

    # ---- files ----

    def parts(self) -> list[NDArray[np.float32]]:
        """Return its content as arrays: vectors before and after, mask, action, reward."""
        size = self._size
        mask, action = self._rows[:size] >= 0, self._action[:size]
        parts = (self._before[:size], self._after[:size], mask, action, self._reward[:size])
        return [each.astype("<f4") for each in parts]

    def shapes(self, size: int, objects: int) -> list[tuple[int, ...]]:
        """Return the shapes of `parts` for that number of transitions and objects."""
        d = self._table.d
        return [(size, objects, d), (size, objects, d), (size, objects), (size,), (size,)]

    def restore(self, parts: Sequence[NDArray[np.float32]]) -> None:
        """Restore what `parts` returned."""
        self._make_room(parts[0].shape[1])
        for slot, (before, after, mask, action, reward) in enumerate(zip(*parts, strict=True)):
            own = mask > 0
            number = int(action) if 0 <= action < self._actions else -1
            if number != action:
                raise ValueError(f"{action} is the number of no action")
            self._put(slot, Experience(before[own], after[own], number, float(reward)))
