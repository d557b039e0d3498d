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
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from treethink.baselines.base import Learner
from treethink.baselines.prediction import Product
from treethink.errors import SettingError, shown, whole_number
from treethink.state import Schema, State

Vectors = NDArray[np.float32]

_MOST = 1_000_000
_PAIRS = 2**17
_FAR = 2.0**53
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
        self.keeps_score = "score" in schema.classes.get("game", ())
        self.first: dict[str, int] = {}
        at = len(self.classes)
        for each in self.attributes:
            self.first[each] = at
            at += schema.attributes[each].length
        #: The length of an object's vector.
        self.d = at
        self._last: Encoded | None = None

    def columns(self, attribute: str) -> slice:
        """Where a vector has the attribute."""
        first = self.first[attribute]
        return slice(first, first + self.schema.attributes[attribute].length)

    def encoded(self, state: State) -> Encoded:
        """All objects but the game, ordered by what they are like: ids mean nothing.

        Most states follow the one before, so that only what changed is read.
        """
        last = self._last
        if last is not None and last.state is state:
            return last
        if last is not None and last.state.ids == state.ids:
            ids, vectors = self._changed(last, state)
        else:
            ids, vectors = self._read(state)
        order = np.lexsort(vectors.T[::-1])
        self._last = Encoded(state, ids[order], vectors[order])
        return self._last

    def follow(self, encoded: Encoded, after: State) -> Vectors:
        """The same objects in the same order, as they are in a later state."""
        return self._changed(encoded, after)[1]

    def _changed(self, last: Encoded, state: State) -> tuple[NDArray[np.int64], Vectors]:
        vectors = last.vectors.copy()
        for each, values in last.state.changes_to(state).items():
            rows = np.flatnonzero(last.ids == each)  # none: it is the game
            for name, value in values.items() if len(rows) else ():
                vectors[rows[0], self.columns(name)] = value
        return last.ids, vectors

    def _read(self, state: State) -> tuple[NDArray[np.int64], Vectors]:
        objects = [each for each in state if each.class_name != "game"]
        vectors = np.zeros((len(objects), self.d), dtype=np.float32)
        for row, each in zip(vectors, objects, strict=True):
            row[self.classes.index(each.class_name)] = 1
            for name, value in each.values.items():
                row[self.columns(name)] = value
        return np.array([each.id for each in objects], dtype=np.int64), vectors

    def reward(self, before: State, after: State) -> float:
        """By how much the score changes."""
        return float(_score(after) - _score(before)) if self.keeps_score else 0.0

    def action(self, name: str) -> int:
        """The number of an action."""
        return self.schema.actions.index(name)


def _score(state: State) -> int:
    return sum(each.score for each in state.of_class("game"))


# ---------------------------------------------------------------------------- the networks


def feed_forward(widths: Sequence[int], ends_with_relu: bool) -> nn.Sequential:
    """Linear layers between these widths, with a ReLU after each but perhaps the last."""
    layers: list[nn.Module] = []
    for inputs, outputs in pairwise(widths):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    return nn.Sequential(*(layers if ends_with_relu else layers[:-1]))


class Interactions(nn.Module):
    """F2(X_i, action, sum over j of F1(X_i, X_j)), for every object i of every state of a batch."""

    def __init__(self, d: int, actions: int, f1: Sequence[int], f2: Sequence[int]):
        super().__init__()
        self.f1 = feed_forward([2 * d, *f1], ends_with_relu=True)
        self.f2 = feed_forward([d + actions + f1[-1], *f2], ends_with_relu=False)

    def forward(self, x: Tensor, action: Tensor, there: Tensor) -> Tensor:
        """`x`: [state, object, d]; `action`: [state, actions]; `there`: [state, object], 0 or 1."""
        n, d = x.shape[1:]
        first = cast(nn.Linear, self.f1[0])
        # The first layer of all pairs (X_i, X_j) is a sum of two parts, each of one object.
        left = x @ first.weight[:, :d].T + first.bias
        right = x @ first.weight[:, d:].T
        effects = self.f1[1:](left[:, :, None] + right[:, None, :])
        total = (effects * there[:, None, :, None]).sum(dim=2)
        own = torch.cat([x, action[:, None].expand(-1, n, -1), total], dim=-1)
        return cast(Tensor, self.f2(own)) * there[..., None]


class Transitions(nn.Module):
    """What becomes of each object: X_i and what F2 adds to it."""

    def __init__(self, d: int, actions: int, width: int, extra: int):
        super().__init__()
        f1 = [16 * width, 8 * width, 8 * width, 4 * width] + extra * [4 * width]
        self.inner = Interactions(d, actions, f1, [4 * width] + extra * [4 * width] + [d])

    def forward(self, x: Tensor, action: Tensor, there: Tensor) -> Tensor:
        return x + cast(Tensor, self.inner(x, action, there))


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

    def forward(self, x: Tensor, action: Tensor, there: Tensor) -> Tensor:
        found = torch.relu(self.inner(x, action, there)) * there[..., None]
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
    """Many transitions as tensors. What is not `there` is padding: no object."""

    before: Tensor
    after: Tensor
    there: Tensor
    action: Tensor
    reward: Tensor

    def part(self, rows: Tensor) -> Batch:
        return Batch(*(each[rows] for each in self))


class Replay:
    """Room for so many transitions; when it is full, a new one takes the place of any other.

    They are kept where the networks are. New ones wait until they are asked for.
    """

    def __init__(self, room: int, d: int, actions: int, device: torch.device):
        self.room, self._device = room, device
        self._size, self._waiting = 0, dict[int, Experience]()
        self._kept = self._empty(0, d, actions)

    def _empty(self, objects: int, d: int, actions: int) -> Batch:
        shapes = ((objects, d), (objects, d), (objects,), (actions,), ())
        return Batch(*(torch.zeros(self.room, *each, device=self._device) for each in shapes))

    def __len__(self) -> int:
        return self._size

    def add(self, item: Experience, rng: np.random.Generator) -> None:
        """Keep it, in place of any other if there is no room."""
        slot = self._size if self._size < self.room else int(rng.integers(self.room))
        self._size = max(self._size, slot + 1)
        self._waiting[slot] = item

    def restore(self, kept: Batch) -> None:
        """Take back what `all` gave."""
        self._size, objects = kept.before.shape[:2]
        self._kept = self._empty(objects, kept.before.shape[-1], kept.action.shape[-1])
        for own, each in zip(self._kept, kept, strict=True):
            own[: self._size] = each.to(self._device)

    def all(self) -> Batch:
        """What is kept."""
        self._take_in()
        return self._kept.part(torch.arange(self._size, device=self._device))

    def batches(self, n: int, rng: np.random.Generator) -> Iterator[Batch]:
        """All of it, at random, in so many parts."""
        self._take_in()
        for rows in np.array_split(rng.permutation(self._size), n):
            if len(rows):
                yield self._kept.part(torch.from_numpy(rows).to(self._device))

    def _take_in(self) -> None:
        if not self._waiting:
            return
        actions = self._kept.action.shape[-1]
        new = batch_of(
            list(self._waiting.values()), actions, self._kept.before.shape[1], self._device
        )
        missing = new.before.shape[1] - self._kept.before.shape[1]
        if missing > 0:  # more objects than any state had before
            pad = nn.functional.pad
            before, after, there, *rest = self._kept
            before, after = (pad(each, (0, 0, 0, missing)) for each in (before, after))
            self._kept = Batch(before, after, pad(there, (0, missing)), *rest)
        slots = torch.tensor(list(self._waiting), device=self._device)
        for old, each in zip(self._kept, new, strict=True):
            old[slots] = each
        self._waiting = {}


def batch_of(items: Sequence[Experience], actions: int, least: int, device: torch.device) -> Batch:
    """Transitions as tensors, with room for `least` objects at least."""
    n, d = max(least, *(len(each.before) for each in items)), items[0].before.shape[1]
    before = np.zeros((len(items), n, d), dtype=np.float32)
    after, there = before.copy(), np.zeros((len(items), n), dtype=np.float32)
    for i, each in enumerate(items):
        before[i, : len(each.before)] = each.before
        after[i, : len(each.after)] = each.after
        there[i, : len(each.before)] = 1
    action = np.eye(actions, dtype=np.float32)[[each.action for each in items]]
    reward = np.array([each.reward for each in items], dtype=np.float32)
    arrays = (before, after, there, action, reward)
    return Batch(*(torch.from_numpy(each).to(device) for each in arrays))


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
        self._settings["seed"] = whole_number("seed", seed)
        self.device = _device(device)
        self.encoding = Encoding(schema)
        self.networks = self._networks().to(self.device)
        rate = self._settings["learning_rate"]
        on_gpu = self.device.type == "cuda"
        weights = self.networks.parameters()
        self.optimizer = torch.optim.AdamW(weights, lr=rate, capturable=on_gpu)
        self._stepping = self._recorded() if on_gpu else self._step
        self.replay = Replay(self.memory, self.encoding.d, len(schema.actions), self.device)
        self.observations = 0
        #: Mean squared errors of the last epoch: of vectors, and of rewards.
        self.loss = (math.nan, math.nan)

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
        tensors = [*self._weights(), *self.replay.all()]
        return {"bytes": sum(each.numel() * each.element_size() for each in tensors)}

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
        # Its random numbers depend on how much it has seen, so that a file need not hold them.
        rng = np.random.default_rng([self._settings["seed"], self.observations])
        self.replay.add(item, rng)
        self.observations += 1
        if self.observations % self._settings["episode"] == 0:
            self.train(rng)

    def train(self, rng: np.random.Generator) -> None:
        """One epoch: once over all that is kept."""
        parts = self.replay.batches(self._settings["batches"], rng)
        losses = torch.stack([self._stepping(batch) for batch in parts])
        vectors, rewards = losses.mean(dim=0).tolist()
        self.loss = (vectors, rewards)

    def _recorded(self) -> Callable[[Batch], Tensor]:
        from treethink.baselines.npe_graph import Recorded

        return Recorded(self._step)

    def _step(self, batch: Batch) -> Tensor:
        self.optimizer.zero_grad()
        x, there = batch.before, batch.there
        found = self.networks["transitions"](x, batch.action, there)
        wrong = (found - batch.after) ** 2 * there[..., None]
        vectors = wrong.sum() / (there.sum() * x.shape[-1]).clamp(min=1)
        rewards = torch.zeros_like(vectors)
        if "rewards" in self.networks:
            paid = self.networks["rewards"](x, batch.action, there)
            rewards = ((paid - batch.reward) ** 2).mean()
        (vectors + rewards).backward()
        self.optimizer.step()
        return torch.stack([vectors, rewards]).detach()

    # ---- answering ----

    def answer(self, state: State, action: str) -> Product:
        """The rounded vectors that the network foresees, for certain."""
        return self._answers([(state, action)])[0]

    def predict_many(self, situations: Iterable[tuple[State, str]]) -> list[Product]:
        """Predictions for many situations at once."""
        asked = list(situations)
        for state, action in asked:
            self._check_state(state, "state", "given")
            self._check_action(action)
        parts, first = [], 0
        while first < len(asked):  # many pairs at once would take much memory, and no less time
            n = max(1, _PAIRS // max(1, len(asked[first][0]) ** 2))
            parts += self._answers(asked[first : first + n])
            first += n
        return parts

    @torch.no_grad()
    def _answers(self, asked: Sequence[tuple[State, str]]) -> list[Product]:
        seen = [self.encoding.encoded(state) for state, _ in asked]
        items = [
            Experience(each.vectors, each.vectors, self.encoding.action(action), 0.0)
            for each, (_, action) in zip(seen, asked, strict=True)
        ]
        x, _, there, action, rewards = batch_of(items, len(self.schema.actions), 1, self.device)
        found = self.networks["transitions"](x, action, there)
        if "rewards" in self.networks:
            rewards = self.networks["rewards"](x, action, there)
        rows, points = _whole(found.cpu().numpy()), _whole(rewards.cpu().numpy())
        return [
            self._prediction(each, row[: len(each.ids)], int(point))
            for each, row, point in zip(seen, rows, points, strict=True)
        ]

    def _prediction(self, seen: Encoded, rows: NDArray[np.int64], points: int) -> Product:
        behind = max(self.observations, 1)
        counts: dict[tuple[int, str], dict[Any, int]] = {}
        for row in np.flatnonzero((rows != seen.vectors).any(axis=1)):
            each = seen.state[int(seen.ids[row])]
            for name, old in each.values.items():
                numbers = tuple(rows[row, self.encoding.columns(name)].tolist())
                counts[each.id, name] = {numbers if isinstance(old, tuple) else numbers[0]: behind}
        for game in seen.state.of_class("game") if points else ():
            counts[game.id, "score"] = {game.score + points: behind}
        return Product(seen.state, counts)

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
        kept = self.replay.all()
        steps = int(next((each["step"] for each in self.optimizer.state.values()), 0))
        told = (self.observations, steps, len(self.replay), kept.before.shape[1], *self.loss)
        numbers = (each.detach().cpu().numpy().tobytes() for each in (*self._weights(), *kept))
        return _HEAD.pack(*told) + b"".join(numbers)

    def restore(self, body: bytes) -> None:
        """Take back what `body` wrote."""
        self.observations, steps, size, objects, *loss = _HEAD.unpack_from(body)
        if size > self.memory or objects > _MOST:
            raise ValueError(f"{size:,} transitions of {objects:,} objects are more than it keeps")
        self.loss = (loss[0], loss[1])
        self._begin(steps)
        numbers = np.frombuffer(body, dtype="<f4", offset=_HEAD.size)
        weights = self._weights()
        d, actions = self.encoding.d, len(self.schema.actions)
        rows = ((size, objects, d), (size, objects, d), (size, objects), (size, actions), (size,))
        shapes = [*(each.shape for each in weights), *rows]
        sizes = [math.prod(each) for each in shapes]
        if sum(sizes) != len(numbers):
            raise ValueError(f"{sum(sizes):,} numbers belong there, it has {len(numbers):,}")
        parts = [
            torch.from_numpy(part.copy()).reshape(shape)
            for part, shape in zip(np.split(numbers, np.cumsum(sizes)[:-1]), shapes, strict=True)
        ]
        with torch.no_grad():
            for each, part in zip(weights, parts, strict=False):
                each.copy_(part)
        self.replay.restore(Batch(*parts[len(weights) :]))


def _whole(numbers: NDArray[np.float32]) -> NDArray[np.int64]:
    """The nearest integers, of whatever a network says."""
    nearest = np.nan_to_num(np.rint(numbers.astype(np.float64)), nan=0.0)
    return nearest.clip(-_FAR, _FAR).astype(np.int64)


def _count(name: str, value: object) -> int:
    count = whole_number(name, value, least=1)
    if count > _MOST:
        raise SettingError(f"{name} must be at most {_MOST:,}, got {shown(value)}")
    return count


def _rate(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
        raise SettingError(f"learning_rate must be above 0 and at most 1, got {shown(value)}")
    return float(value)


def _device(name: object) -> torch.device:
    if name is None:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)  # type: ignore[call-overload]
        torch.zeros(1, device=device)
    except (RuntimeError, TypeError, AssertionError):
        raise SettingError(f"device must be one that PyTorch has here, got {shown(name)}") from None
    return cast(torch.device, device)
