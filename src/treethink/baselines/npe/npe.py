"""The Neural Physics Engine (NPE), as appendix F of the paper has it, in PyTorch.

    state -> object vectors -> [ F1 over pairs, summed; F2; added ] -> next vectors -> prediction

An object's vector X_i is its class, one-hot, followed by all attributes (zeros where it lacks one).
One network predicts how vectors change, another the reward, which is the change of the game's
score; the game itself is no object here. The weights are learned by gradient descent; in
`npe_star.py` they are built by hand.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from treethink.baselines.base import Learner
from treethink.baselines.prediction import Certain
from treethink.errors import SettingError, TransitionError, shown, whole_number
from treethink.state import Schema, State

Vectors = NDArray[np.float32]

_MOST = 1_000_000
#: Pairs of vectors at once: more would take much memory, and no less time.
_PAIRS = 2**17
#: So many states are kept as vectors: of those that it was asked about, it will learn soon.
_KEPT = 128
_FAR = 2.0**53
_MOST_INT = 2**63 - 1
#: Of all networks together; and numbers that a replay may have room for.
_MOST_WEIGHTS, _MOST_NUMBERS = 10**8, 2**30
#: Of a file: observations, steps of AdamW, transitions, objects of the largest; both losses.
_HEAD = struct.Struct("<QQQQdd")

# ------------------------------------------------------------------------ states as vectors


@dataclass(frozen=True, slots=True)
class Encoded:
    """A state: ids of its objects, and their vectors, row by row."""

    state: State
    ids: NDArray[np.int64]
    vectors: Vectors


class Encoding:
    """States of a schema as vectors, and back. The game is no object."""

    def __init__(self, schema: Schema):
        self.schema = schema
        self.classes = [name for name in schema.classes if name != "game"]
        owned = {each for name in self.classes for each in schema.classes[name]}
        self.attributes = [each for each in schema.attributes if each in owned]
        scores = "score" in schema.classes.get("game", ())
        self.keeps_score = scores and schema.attributes["score"].length == 1
        #: Where a vector has each attribute.
        self.columns: dict[str, slice] = {}
        at = len(self.classes)
        for each in self.attributes:
            first, at = at, at + schema.attributes[each].length
            self.columns[each] = slice(first, at)
        #: The length of an object's vector.
        self.d = at
        self._owned = [
            [(each, self.columns[each]) for each in schema.classes[name]] for name in self.classes
        ]
        self._last: Encoded | None = None
        self._kept: dict[int, Encoded] = {}

    def encoded(self, state: State) -> Encoded:
        """All objects but the game, ordered by what they are like: ids mean nothing.

        Most states follow the one before, so that only what changed is read.
        """
        known = self._kept.get(id(state))
        if known is not None and known.state is state:
            return known
        ids, vectors = self._changes_of_last(state) or self._read(state)
        order = np.lexsort(vectors.T[::-1])
        self._last = Encoded(state, ids[order], vectors[order])
        if len(self._kept) == _KEPT:
            self._kept.clear()
        self._kept[id(state)] = self._last
        return self._last

    def _changes_of_last(self, state: State) -> tuple[NDArray[np.int64], Vectors] | None:
        """By what changed since the last state; None if that had other objects."""
        last = self._last
        if last is None or last.state.ids != state.ids:
            return None
        try:
            return self._changed(last, state)
        except TransitionError:  # the same ids, of other classes
            return None

    def follow(self, encoded: Encoded, after: State) -> Vectors:
        """The same objects in the same order, as they are in a later state."""
        return self._changed(encoded, after)[1]

    def _changed(self, last: Encoded, state: State) -> tuple[NDArray[np.int64], Vectors]:
        vectors = last.vectors.copy()
        changes = last.state.changes_to(state)
        rows = {each: row for row, each in enumerate(last.ids.tolist())} if changes else {}
        for each, values in changes.items():
            for name, value in values.items() if each in rows else ():  # else it is the game
                vectors[rows[each], self.columns[name]] = value
        return last.ids, vectors

    def decoded(self, before: Encoded, rows: NDArray[np.int64], points: int) -> State:
        """The state in which objects are as these rows say, with so many points more."""
        changed = np.flatnonzero((rows != before.vectors).any(axis=1))
        classes = before.vectors[changed, : len(self.classes)].argmax(axis=1)
        changes: dict[int, dict[str, Any]] = {}
        for each, kind, row in zip(
            before.ids[changed].tolist(), classes.tolist(), rows[changed].tolist(), strict=True
        ):
            changes[each] = {name: _value(row[at]) for name, at in self._owned[kind]}
        for game in before.state.of_class("game") if points else ():
            score = min(max(game.score + points, -_MOST_INT), _MOST_INT)
            changes[game.id] = {"score": score}
        return before.state.replace_many(changes) if changes else before.state

    def _read(self, state: State) -> tuple[NDArray[np.int64], Vectors]:
        objects = [each for each in state if each.class_name != "game"]
        vectors = np.zeros((len(objects), self.d), dtype=np.float32)
        for row, each in zip(vectors, objects, strict=True):
            row[self.classes.index(each.class_name)] = 1
            for name, value in each.values.items():
                row[self.columns[name]] = value
        return np.array([each.id for each in objects], dtype=np.int64), vectors

    def reward(self, before: State, after: State) -> float:
        """By how much the score changes."""
        return float(_score(after) - _score(before)) if self.keeps_score else 0.0

    def action(self, name: str) -> int:
        """The number of an action."""
        return self.schema.actions.index(name)


def _value(numbers: list[int]) -> int | tuple[int, ...]:
    return numbers[0] if len(numbers) == 1 else tuple(numbers)


def _score(state: State) -> int:
    return sum(each.score for each in state.of_class("game"))


class Distinct:
    """Different vectors, each of them in a row for as long as someone has it."""

    def __init__(self, d: int):
        self.d = d
        self._rows: dict[bytes, int] = {}
        self._vectors: list[bytes] = []  # of each row
        self._uses = np.zeros(0, dtype=np.int64)
        self._free: list[int] = []

    def take(self, vectors: Vectors) -> NDArray[np.int64]:
        """The row of each vector."""
        whole = np.ascontiguousarray(vectors)
        each_as_bytes = whole.view(f"V{4 * self.d}").ravel().tolist()
        try:
            rows = [self._rows[each] for each in each_as_bytes]
        except KeyError:
            rows = [self._row(each) for each in each_as_bytes]
        found = np.array(rows, dtype=np.int64)
        np.add.at(self._uses, found, 1)
        return found

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

    def give_back(self, rows: NDArray[np.int64]) -> None:
        """Whoever took them has them no more."""
        np.subtract.at(self._uses, rows, 1)
        for row in set(rows[self._uses[rows] == 0].tolist()):
            del self._rows[self._vectors[row]]
            self._free.append(row)

    def ordered(self) -> tuple[Vectors, NDArray[np.int64]]:
        """All vectors, ordered by what they are, and where each row is among them.

        There are some rows of zeros at the end, so that their number seldom changes. Of -1, which
        is no row, it says -1.
        """
        numbers = np.frombuffer(b"".join(self._rows), dtype=np.float32).reshape(-1, self.d)
        order = np.lexsort(numbers.T[::-1])
        all_of_them = np.zeros((roomy(len(order)), self.d), dtype=np.float32)
        all_of_them[: len(order)] = numbers[order]
        where = np.full(len(self._vectors) + 1, -1, dtype=np.int64)
        where[np.fromiter(self._rows.values(), np.int64)[order]] = np.arange(len(order))
        return all_of_them, where


def roomy(n: int) -> int:
    """A little more than n, so that it is often the same: tensors of one shape are computed faster.

    >>> [roomy(each) for each in (0, 8, 41, 129, 150, 242)]
    [8, 8, 48, 144, 160, 256]
    """
    block = 1 << max(3, n.bit_length() - 4)
    return max(1, -(-n // block)) * block


# ---------------------------------------------------------------------------- the networks


def feed_forward(widths: Sequence[int], ends_with_relu: bool) -> nn.Sequential:
    """Linear layers between these widths, with a ReLU after each but perhaps the last."""
    layers: list[nn.Module] = []
    for inputs, outputs in pairwise(widths):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    return nn.Sequential(*(layers if ends_with_relu else layers[:-1]))


class Scenes(NamedTuple):
    """States whose objects are looked up among different vectors.

    Most objects of a world are alike in many states: F1 is asked about a pair of vectors once, not
    once for each pair of objects. `vectors`: [group, vector, d]; `places`: [group, state, object,
    vector] has a 1 for the vector of each object, and none for padding, which is no object.
    """

    vectors: Tensor
    places: Tensor


def scenes(vectors: Tensor, index: Tensor) -> Scenes:
    """States as rows of `vectors`, [state, object], -1 being no object.

    They share the vectors if that makes fewer pairs than each state has with its own.
    """
    states, objects = index.shape
    if len(vectors) ** 2 <= states * objects**2:
        every = torch.arange(len(vectors), device=index.device)
        return Scenes(vectors[None], (index[..., None] == every)[None].float())
    own = torch.eye(objects, device=index.device) * (index >= 0)[..., None]
    return Scenes(vectors[index.clamp(min=0)], own[:, None])


class Interactions(nn.Module):
    """F2(X_i, action, sum over j of F1(X_i, X_j)), for every object i of every state of a batch."""

    def __init__(self, d: int, actions: int, f1: Sequence[int], f2: Sequence[int]):
        super().__init__()
        self.f1 = feed_forward([2 * d, *f1], ends_with_relu=True)
        self.f2 = feed_forward([d + actions + f1[-1], *f2], ends_with_relu=False)

    def forward(self, seen: Scenes, action: Tensor) -> Tensor:
        """`action`: [state, actions], one-hot. Returns [state, object, ...]."""
        effects = self._effects(seen.vectors)
        counts = seen.places.sum(dim=2)  # how often each state has each vector
        sums = (counts @ effects.flatten(2)).view(*counts.shape, effects.shape[-1])
        total = (seen.places @ sums).flatten(0, 1)  # of each object
        x = _objects(seen)
        taken = action[:, None].expand(-1, x.shape[1], -1)
        return cast(Tensor, self.f2(torch.cat([x, taken, total], dim=-1)))

    def _effects(self, vectors: Tensor) -> Tensor:
        """F1(X_i, X_j) of all pairs of vectors: [group, j, i, ...]."""
        d = vectors.shape[-1]
        first = cast(nn.Linear, self.f1[0])
        # The first layer is a sum of two parts, each of one vector.
        left = vectors @ first.weight[:, :d].T + first.bias
        right = vectors @ first.weight[:, d:].T
        return cast(Tensor, self.f1[1:](right[:, :, None] + left[:, None, :]))


def _objects(seen: Scenes) -> Tensor:
    """The vector of each object: [state, object, d]."""
    return (seen.places @ seen.vectors[:, None]).flatten(0, 1)


def _there(seen: Scenes) -> Tensor:
    """1 for each object, 0 for padding: [state, object]."""
    return seen.places.sum(dim=-1).flatten(0, 1)


class Transitions(nn.Module):
    """What becomes of each object: X_i and what F2 adds to it."""

    def __init__(self, d: int, actions: int, width: int, extra: int):
        super().__init__()
        f1 = [16 * width, 8 * width, 8 * width, 4 * width] + extra * [4 * width]
        self.inner = Interactions(d, actions, f1, [4 * width] + extra * [4 * width] + [d])

    def forward(self, seen: Scenes, action: Tensor) -> Tensor:
        """[state, object, d]."""
        return _objects(seen) + cast(Tensor, self.inner(seen, action))


class Rewards(nn.Module):
    """One number for a state: the same network without the residual, summed over objects.

    A ReLU follows F2. Without it the reward would be linear in the action, whatever F1 finds out,
    and no weights could say "bumped into a wall".
    """

    def __init__(self, d: int, actions: int, width: int, extra: int):
        super().__init__()
        f1 = [16 * width, 8 * width, 8 * width, 16 * width] + extra * [16 * width]
        self.inner = Interactions(d, actions, f1, [16 * width] + extra * [16 * width])
        self.last = nn.Linear(16 * width, 1)

    def forward(self, seen: Scenes, action: Tensor) -> Tensor:
        """[state]."""
        found = torch.relu(self.inner(seen, action)) * _there(seen)[..., None]
        return cast(Tensor, self.last(found.sum(dim=1)))[:, 0]


# ------------------------------------------------------------------------------- learning


@dataclass(frozen=True, slots=True)
class Experience:
    """One transition, as the networks see it."""

    before: Vectors
    after: Vectors
    action: int
    reward: float


class Batch(NamedTuple):
    """Many transitions as tensors: `vectors` are all that any of them needs, `places` the rows in
    which their objects are, as `scenes` takes them."""

    vectors: Tensor
    places: Tensor
    after: Tensor
    action: Tensor
    reward: Tensor

    def part(self, rows: Tensor) -> Batch:
        """Some of the transitions."""
        return Batch(self.vectors, *(each[rows] for each in self[1:]))


class Asked(NamedTuple):
    """Many situations as tensors, as a `Batch` has them."""

    vectors: Tensor
    places: Tensor
    action: Tensor


class Replay:
    """Room for so many transitions; when it is full, a new one takes the place of any other."""

    def __init__(self, room: int, d: int, actions: int, device: torch.device):
        self.room, self._actions, self._device = room, actions, device
        self._size, self._distinct = 0, Distinct(d)
        self._rows = np.full((room, 0), -1)
        self._before, self._after = (np.zeros((room, 0, d), dtype=np.float32) for _ in range(2))
        self._action = np.zeros(room, dtype=np.int64)
        self._reward = np.zeros(room, dtype=np.float32)

    def __len__(self) -> int:
        return self._size

    def add(self, item: Experience, slot: int) -> None:
        """Keep it, in that place if there is no room."""
        self._put(self._size if self._size < self.room else slot, item)

    def _put(self, slot: int, item: Experience) -> None:
        if slot < self._size:
            self._distinct.give_back(self._rows[slot, self._rows[slot] >= 0])
        self._size, n = max(self._size, slot + 1), len(item.before)
        self._make_room(n)
        self._rows[slot, :n], self._rows[slot, n:] = self._distinct.take(item.before), -1
        self._before[slot, :n], self._after[slot, :n] = item.before, item.after
        self._before[slot, n:], self._after[slot, n:] = 0, 0
        self._action[slot], self._reward[slot] = item.action, item.reward

    def _make_room(self, objects: int) -> None:
        """For states with more objects than any had before."""
        more = ((0, 0), (0, max(0, objects - self._rows.shape[1])))
        if more[1][1]:
            self._rows = np.pad(self._rows, more, constant_values=-1)
            self._before, self._after = (
                np.pad(each, (*more, (0, 0))) for each in (self._before, self._after)
            )

    def batches(self, n: int, rng: np.random.Generator) -> Iterator[Batch]:
        """All of it, at random, in so many parts."""
        kept = self._on_device()
        for rows in np.array_split(rng.permutation(self._size), n):
            if len(rows):
                yield kept.part(torch.from_numpy(rows).to(self._device))

    def _on_device(self) -> Batch:
        size = self._size
        vectors, where = self._distinct.ordered()
        action = np.eye(self._actions, dtype=np.float32)[self._action[:size]]
        arrays = (where[self._rows[:size]], self._after[:size], action, self._reward[:size])
        return Batch(*(torch.from_numpy(each).to(self._device) for each in (vectors, *arrays)))

    # ---- to and from files ----

    def parts(self) -> list[NDArray[np.float32]]:
        """What is kept, as numbers: objects before and after, which of them are there, the action,
        the reward."""
        size = self._size
        there, action = self._rows[:size] >= 0, self._action[:size]
        parts = (self._before[:size], self._after[:size], there, action, self._reward[:size])
        return [each.astype("<f4") for each in parts]

    def shapes(self, size: int, objects: int) -> list[tuple[int, ...]]:
        """Of `parts` with so many transitions of so many objects at most."""
        d = self._distinct.d
        return [(size, objects, d), (size, objects, d), (size, objects), (size,), (size,)]

    def restore(self, parts: Sequence[NDArray[np.float32]]) -> None:
        """Take back what `parts` gave."""
        self._make_room(parts[0].shape[1])
        for slot, (before, after, there, action, reward) in enumerate(zip(*parts, strict=True)):
            own = there > 0
            number = int(action) if 0 <= action < self._actions else -1
            if number != action:
                raise ValueError(f"{action} is the number of no action")
            self._put(slot, Experience(before[own], after[own], number, float(reward)))


class NPE(Learner):
    """The Neural Physics Engine, which learns by gradient descent.

    Parameters
    ----------
    schema
        What states are made of. Rewards are changes of its game's score, if it has one.
    width, layers
        The paper's X and Y in NPE_X_Y: how many times wider than the hand-built network, and how
        many layers the last one of each block stands for.
    episode
        After how many observations to train: once over all that is kept.
    replay, batches, learning_rate
        How many transitions are kept, in how many batches they are trained with, and how fast.
    seed
        Decides the first weights, what is evicted, and batches.
    device
        Where to compute, such as ``"cpu"`` or ``"cuda"``; None: on a GPU if there is one.

    Answers are rounded: values are integers.

    >>> import treethink as tt
    >>> world = tt.make("walls", width=5, height=5)
    >>> learner = NPE(world.schema, width=2)
    >>> for transition in tt.transitions(world, steps=60, seed=0):
    ...     learner.observe(*transition)
    >>> learner
    <NPE_2_1: 60 observations>
    """

    name = "npe"
    cannot_keep: ClassVar[Mapping[str, str]] = {
        "an_unseen_action_gets_a_defined_answer": "a network has an answer to everything",
        "an_unseen_class_gets_a_defined_answer": "a network has an answer to everything",
    }

    def __init__(
        self,
        schema: Schema,
        *,
        width: int = 1,
        layers: int = 1,
        episode: int = 50,
        replay: int = 1_000,
        batches: int = 10,
        learning_rate: float = 0.001,
        seed: int = 0,
        device: str | None = None,
    ):
        super().__init__(schema)
        counts = {"width": width, "layers": layers, "episode": episode}
        counts |= {"replay": replay, "batches": batches}
        self._settings: dict[str, Any] = {name: _count(name, counts[name]) for name in counts}
        self._settings["learning_rate"] = _rate(learning_rate)
        self._settings["seed"] = _seed(seed)
        self.device = _device(device)
        self.encoding = Encoding(schema)
        self._check_size()
        self.networks = self._networks().to(self.device)
        rate = self._settings["learning_rate"]
        on_gpu = self.device.type == "cuda"
        weights = self.networks.parameters()
        self.optimizer = torch.optim.AdamW(weights, lr=rate, fused=on_gpu, capturable=on_gpu)
        self._stepping: Callable[[Batch], Tensor] = self._step
        self._foreseeing: Callable[[Asked], Tensor] = self._foresee
        if on_gpu:
            from treethink.baselines.npe.cuda_graph import Recorded

            self._stepping, self._foreseeing = Recorded(self._step), Recorded(self._foresee)
        self.replay = Replay(self.memory, self.encoding.d, len(schema.actions), self.device)
        self._slots: NDArray[np.int64] | None = None
        self.observations = 0
        #: Mean squared errors of the last epoch: of vectors, and of rewards.
        self.loss = (math.nan, math.nan)

    def _check_size(self) -> None:
        if not self.encoding.classes:
            raise SettingError("a network needs objects: the schema has no class but the game")
        width, layers = self._settings["width"], self._settings["layers"]
        least = (16 * width) ** 2 * max(1, 2 * layers - 2)  # those of the reward's last layers
        if least > _MOST_WEIGHTS:
            raise SettingError(
                f"width {width:,} and layers {layers:,} make more than {_MOST_WEIGHTS:,} weights"
            )

    def _networks(self) -> nn.ModuleDict:
        d, actions = self.encoding.d, len(self.schema.actions)
        how = (d, actions, self._settings["width"], self._settings["layers"] - 1)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self._settings["seed"])
            parts: dict[str, nn.Module] = {"transitions": Transitions(*how)}
            if self.encoding.keeps_score:
                parts["rewards"] = Rewards(*how)
        return nn.ModuleDict(parts)

    @property
    def steady_for(self) -> int:
        """For how many observations its answers stay the same."""
        return int(self._settings["episode"] - self.observations % self._settings["episode"])

    def measures(self) -> dict[str, float]:
        """The mean squared errors of its last epoch, of vectors and of rewards."""
        named = zip(("loss_vectors", "loss_rewards"), self.loss, strict=True)
        return {name: value for name, value in named if math.isfinite(value)}

    @property
    def memory(self) -> int:
        """How many transitions it keeps at most."""
        return int(self._settings["replay"])

    def memory_use(self) -> dict[str, int]:
        """Bytes of weights, of what AdamW keeps of them, and of the transitions kept."""
        weights, kept = self._weights(), self.replay.parts()
        return {"bytes": sum(e.nbytes for e in weights) + sum(e.nbytes for e in kept)}

    def __repr__(self) -> str:
        kind = f"NPE_{self._settings['width']}_{self._settings['layers']}"
        return f"<{kind}: {self.observations} observations>"

    # ---- learning ----

    def learn(self, before: State, action: str, after: State) -> None:
        """Keep the transition; at the end of an episode, train."""
        encoding, seen = self.encoding, self.encoding.encoded(before)
        item = Experience(
            before=seen.vectors,
            after=encoding.follow(seen, after),
            action=encoding.action(action),
            reward=encoding.reward(before, after),
        )
        self.replay.add(item, self._slot())
        self.observations += 1
        if self.observations % self._settings["episode"] == 0:
            self._train(self._rng())

    def _rng(self) -> np.random.Generator:
        """Random numbers that depend on how much it has seen, so that a file need not hold them."""
        return np.random.default_rng([self._settings["seed"], self.observations])

    def _slot(self) -> int:
        """The place that a new transition takes if there is no room."""
        at = self.observations % self._settings["episode"]
        if at == 0 or self._slots is None:
            first = np.random.default_rng([self._settings["seed"], self.observations - at, 1])
            self._slots = first.integers(self.memory, size=self._settings["episode"])
        return int(self._slots[at])

    def _train(self, rng: np.random.Generator) -> None:
        """One epoch: once over all that is kept."""
        parts = self.replay.batches(self._settings["batches"], rng)
        with one_thread():
            losses = torch.stack([self._stepping(batch) for batch in parts])
        vectors, rewards = losses.mean(dim=0).tolist()
        self.loss = (vectors, rewards)

    def _step(self, batch: Batch) -> Tensor:
        self.optimizer.zero_grad()
        seen, action = scenes(batch.vectors, batch.places), batch.action
        there = _there(seen)[..., None]
        found = self.networks["transitions"](seen, action)
        wrong = (found - batch.after) ** 2 * there
        vectors = wrong.sum() / (there.sum() * found.shape[-1]).clamp(min=1)
        rewards = torch.zeros_like(vectors)
        if "rewards" in self.networks:
            paid = self.networks["rewards"](seen, action)
            rewards = ((paid - batch.reward) ** 2).mean()
        (vectors + rewards).backward()
        self.optimizer.step()
        return torch.stack([vectors, rewards]).detach()

    # ---- answering ----

    def answer(self, state: State, action: str) -> Certain:
        """The rounded vectors that the network foresees, for certain."""
        return self._answers([(state, action)])[0]

    def predict_many(self, situations: Iterable[tuple[State, str]]) -> list[Certain]:
        """Predictions for many situations at once."""
        asked = list(situations)
        for state, action in asked:
            self._check_state(state, "state", "given")
            self._check_action(action)
        return [each for part in _in_parts(asked) for each in self._answers(part)]

    def _answers(self, asked: Sequence[tuple[State, str]]) -> list[Certain]:
        states = [self.encoding.encoded(state) for state, _ in asked]
        with one_thread():
            found = self._foreseeing(self._asked(states, [action for _, action in asked]))
        numbers, behind = _whole(found), self.observations
        rows = numbers[:, :-1].reshape(len(states), -1, self.encoding.d)
        return [
            Certain(each.state, self.encoding.decoded(each, row[: len(each.ids)], point), behind)
            for each, row, point in zip(states, rows, numbers[:, -1].tolist(), strict=True)
        ]

    def _asked(self, states: Sequence[Encoded], actions: Sequence[str]) -> Asked:
        distinct, n = Distinct(self.encoding.d), roomy(max(len(each.ids) for each in states))
        places = np.full((len(states), n), -1)
        for row, each in zip(places, states, strict=True):
            row[: len(each.ids)] = distinct.take(each.vectors)
        vectors, where = distinct.ordered()
        action = np.eye(len(self.schema.actions), dtype=np.float32)
        taken = action[[self.encoding.action(each) for each in actions]]
        arrays = (vectors, where[places], taken)
        return Asked(*(torch.from_numpy(each).to(self.device) for each in arrays))

    @torch.no_grad()
    def _foresee(self, asked: Asked) -> Tensor:
        """All vectors of each state, one after the other, and then what the step pays."""
        seen = scenes(asked.vectors, asked.places)
        rows = self.networks["transitions"](seen, asked.action).flatten(1)
        points = torch.zeros_like(rows[:, 0])
        if "rewards" in self.networks:
            points = self.networks["rewards"](seen, asked.action)
        return torch.cat([rows, points[:, None]], dim=1)

    # ---- to and from files ----

    def settings(self) -> dict[str, Any]:
        """How it was made. Where it computes is no part of that."""
        return dict(self._settings)

    def _weights(self) -> list[Tensor]:
        """All weights, and what AdamW keeps of each."""
        weights = list(self.networks.parameters())
        kept = [self.optimizer.state[each] for each in weights if each in self.optimizer.state]
        return [*weights, *(each[name] for each in kept for name in ("exp_avg", "exp_avg_sq"))]

    def _begin(self, steps: int) -> None:
        """Have AdamW keep something of each weight, as after so many steps."""
        for each in self.networks.parameters() if steps else ():
            self.optimizer.state[each] = {
                "step": torch.tensor(float(steps), device=self.device),
                "exp_avg": torch.zeros_like(each),
                "exp_avg_sq": torch.zeros_like(each),
            }

    def body(self) -> bytes:
        """How far it is, its weights, and what it keeps, as numbers."""
        kept = self.replay.parts()
        steps = int(next((each["step"] for each in self.optimizer.state.values()), 0))
        told = (self.observations, steps, len(self.replay), kept[0].shape[1], *self.loss)
        weights = [each.detach().cpu().numpy() for each in self._weights()]
        return _HEAD.pack(*told) + b"".join(each.tobytes() for each in (*weights, *kept))

    def restore(self, body: bytes) -> None:
        """Take back what `body` wrote."""
        if len(body) < _HEAD.size:
            raise ValueError(f"it has {len(body)} bytes, where {_HEAD.size} come first")
        self.observations, steps, size, objects, *loss = _HEAD.unpack_from(body)
        room = self.memory * objects * self.encoding.d
        if size > self.memory or room > _MOST_NUMBERS or (objects and not size):
            raise ValueError(f"{size:,} transitions of {objects:,} objects are more than it keeps")
        self.loss = (loss[0], loss[1])
        self._begin(steps)
        numbers = np.frombuffer(body, dtype="<f4", offset=_HEAD.size)
        weights = self._weights()
        shapes = [*(each.shape for each in weights), *self.replay.shapes(size, objects)]
        sizes = [math.prod(each) for each in shapes]
        if sum(sizes) != len(numbers):
            raise ValueError(f"{sum(sizes):,} numbers belong there, it has {len(numbers):,}")
        parts = [
            part.reshape(shape)
            for part, shape in zip(np.split(numbers, np.cumsum(sizes)[:-1]), shapes, strict=True)
        ]
        with torch.no_grad():
            for each, part in zip(weights, parts, strict=False):
                each.copy_(torch.from_numpy(part.copy()))
        self.replay.restore(parts[len(weights) :])


def _in_parts(asked: Sequence[tuple[State, str]]) -> Iterator[Sequence[tuple[State, str]]]:
    """What is asked together: not too many pairs at once."""
    first, largest = 0, 0
    for i, (state, _) in enumerate(asked):
        largest = max(largest, len(state))
        if i > first and (i - first + 1) * largest**2 > _PAIRS:
            yield asked[first:i]
            first, largest = i, len(state)
    if asked:
        yield asked[first:]


@contextmanager
def one_thread() -> Iterator[None]:
    """Several would add up in another order on each machine, and wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _whole(numbers: Tensor) -> NDArray[np.int64]:
    """The nearest integers, of whatever a network says."""
    nearest = np.nan_to_num(np.rint(numbers.double().cpu().numpy()), nan=0.0)
    whole: NDArray[np.int64] = nearest.clip(-_FAR, _FAR).astype(np.int64)
    return whole


def _count(name: str, value: object) -> int:
    count = whole_number(name, value, least=1)
    if count > _MOST:
        raise SettingError(f"{name} must be at most {_MOST:,}, got {shown(value)}")
    return count


def _seed(value: object) -> int:
    seed = whole_number("seed", value)
    if seed > _MOST_INT:
        raise SettingError(f"seed must be below 2**63, got {shown(value)}")
    return seed


def _rate(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
        raise SettingError(f"learning_rate must be above 0 and at most 1, got {shown(value)}")
    return float(value)


def _device(name: object) -> torch.device:
    if name is None:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)  # type: ignore[call-overload]
        torch.zeros(1, device=device).cpu()
    except (RuntimeError, TypeError, AssertionError, NotImplementedError):
        raise SettingError(
            f"device must be one that PyTorch has here, such as 'cpu', got {shown(name)}"
        ) from None
    return cast(torch.device, device)
