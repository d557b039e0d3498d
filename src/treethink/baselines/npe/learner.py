"""The Neural Physics Engine (NPE) of the paper's appendix F, in PyTorch.

    state -> object vectors -> [ F1 over pairs, summed; F2; added ] -> next vectors -> prediction

One network predicts how vectors change, another the reward, which is the change of the game's
score. The weights are learned by gradient descent; those of `hand_built.py` are built by hand.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from treethink.baselines.base import Learner
from treethink.baselines.npe.encoding import Encoded, Encoding, VectorTable, padded_size
from treethink.baselines.npe.network import Rewards, Transitions, index_states, object_mask
from treethink.baselines.npe.replay import Batch, Experience, Queries, Replay
from treethink.baselines.prediction import Certain
from treethink.errors import SettingError, shown, whole_number
from treethink.state import Schema, State

_LARGEST_COUNT = 1_000_000
_LARGEST_SEED = 2**63 - 1
#: The most pairs of vectors in one forward pass: more would take much memory, and no less time.
_MOST_PAIRS = 2**17
#: Predicted values are clipped to this range, in which floats hold integers exactly.
_CLIP = 2.0**53
#: The most weights of all networks, and the most numbers of a replay buffer.
_MOST_WEIGHTS, _MOST_NUMBERS = 10**8, 2**30
#: Header of a file: observations, AdamW steps, transitions, objects of the largest; both losses.
HEADER = struct.Struct("<QQQQdd")


class NPE(Learner):
    """The Neural Physics Engine, trained by gradient descent.

    Parameters
    ----------
    schema
        What states are made of. Rewards are changes of its game's score, if it has one.
    width, layers
        The paper's X and Y in NPE_X_Y: the width relative to the hand-built network, and the number
        of copies of the last layer of each block.
    episode
        The number of observations between trainings. Each training is one epoch.
    replay, batches, learning_rate
        The size of the replay buffer, the number of batches in an epoch, and AdamW's step size.
    seed
        Random seed of initial weights, eviction from the replay buffer, and batches.
    device
        Where to compute, such as ``"cpu"`` or ``"cuda"``; None: on a GPU if there is one.

    Predictions are rounded to integers.

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
        self._run_step: Callable[[Batch], Tensor] = self._step
        self._run_forward: Callable[[Queries], Tensor] = self._forward
        if on_gpu:
            from treethink.baselines.npe.network import GraphCache

            self._run_step, self._run_forward = GraphCache(self._step), GraphCache(self._forward)
        self.replay = Replay(self.memory, self.encoding.d, len(schema.actions), self.device)
        self._slots: NDArray[np.int64] | None = None
        self.observations = 0
        #: Mean squared errors of the last epoch, of vectors and of rewards.
        self.loss = (math.nan, math.nan)

    def _check_size(self) -> None:
        if not self.encoding.classes:
            raise SettingError("a network needs objects: the schema has no class but the game")
        width, layers = self._settings["width"], self._settings["layers"]
        least = (16 * width) ** 2 * max(1, 2 * layers - 2)  # the last layers of the reward network
        if least > _MOST_WEIGHTS:
            raise SettingError(
                f"width {width:,} and layers {layers:,} make more than {_MOST_WEIGHTS:,} weights"
            )

    def _networks(self) -> nn.ModuleDict:
        d, actions = self.encoding.d, len(self.schema.actions)
        shape = (d, actions, self._settings["width"], self._settings["layers"] - 1)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self._settings["seed"])
            parts: dict[str, nn.Module] = {"transitions": Transitions(*shape)}
            if self.encoding.keeps_score:
                parts["rewards"] = Rewards(*shape)
        return nn.ModuleDict(parts)

    @property
    def steady_for(self) -> int:
        """The number of observations for which its predictions stay the same."""
        return int(self._settings["episode"] - self.observations % self._settings["episode"])

    def measures(self) -> dict[str, float]:
        """Return the mean squared errors of the last epoch, of vectors and of rewards."""
        named = zip(("loss_vectors", "loss_rewards"), self.loss, strict=True)
        return {name: value for name, value in named if math.isfinite(value)}

    @property
    def memory(self) -> int:
        """The size of the replay buffer, in transitions."""
        return int(self._settings["replay"])

    def memory_use(self) -> dict[str, int]:
        """Return the bytes of weights, AdamW's moments, and the replay buffer."""
        weights, replay = self._weights(), self.replay.parts()
        return {"bytes": sum(e.nbytes for e in weights) + sum(e.nbytes for e in replay)}

    def __repr__(self) -> str:
        kind = f"NPE_{self._settings['width']}_{self._settings['layers']}"
        return f"<{kind}: {self.observations} observations>"

    # ---- learning ----

    def learn(self, before: State, action: str, after: State) -> None:
        """Add the transition to the replay buffer; at the end of an episode, train."""
        encoding, encoded = self.encoding, self.encoding.encoded(before)
        item = Experience(
            before=encoded.vectors,
            after=encoding.follow(encoded, after),
            action=encoding.action(action),
            reward=encoding.reward(before, after),
        )
        self.replay.add(item, self._slot())
        self.observations += 1
        if self.observations % self._settings["episode"] == 0:
            self._train(self._rng())

    def _rng(self) -> np.random.Generator:
        """Return a generator seeded by the number of observations, so files need not store it."""
        return np.random.default_rng([self._settings["seed"], self.observations])

    def _slot(self) -> int:
        """Return the slot that a new transition replaces if the buffer is full."""
        at = self.observations % self._settings["episode"]
        if at == 0 or self._slots is None:
            first = np.random.default_rng([self._settings["seed"], self.observations - at, 1])
            self._slots = first.integers(self.memory, size=self._settings["episode"])
        return int(self._slots[at])

    def _train(self, rng: np.random.Generator) -> None:
        """Train for one epoch over the replay buffer."""
        parts = self.replay.batches(self._settings["batches"], rng)
        with one_thread():
            losses = torch.stack([self._run_step(batch) for batch in parts])
        vectors, rewards = losses.mean(dim=0).tolist()
        self.loss = (vectors, rewards)

    def _step(self, batch: Batch) -> Tensor:
        """Make one step of AdamW; return the losses of vectors and of rewards."""
        self.optimizer.zero_grad()
        states, action = index_states(batch.vectors, batch.places), batch.action
        mask = object_mask(states)[..., None]
        predicted = self.networks["transitions"](states, action)
        squares = (predicted - batch.after) ** 2 * mask
        vectors = squares.sum() / (mask.sum() * predicted.shape[-1]).clamp(min=1)
        rewards = torch.zeros_like(vectors)
        if "rewards" in self.networks:
            reward = self.networks["rewards"](states, action)
            rewards = ((reward - batch.reward) ** 2).mean()
        (vectors + rewards).backward()
        self.optimizer.step()
        return torch.stack([vectors, rewards]).detach()

    # ---- predicting ----

    def answer(self, state: State, action: str) -> Certain:
        """Return the rounded output of the networks as a certain prediction."""
        return self._answers([(state, action)])[0]

    def predict_many(self, situations: Iterable[tuple[State, str]]) -> list[Certain]:
        """Return the predictions for many situations, computed in batches."""
        listed = list(situations)
        for state, action in listed:
            self._check_state(state, "state", "given")
            self._check_action(action)
        return [each for part in _split_by_pairs(listed) for each in self._answers(part)]

    def _answers(self, situations: Sequence[tuple[State, str]]) -> list[Certain]:
        states = [self.encoding.encoded(state) for state, _ in situations]
        with one_thread():
            outputs = self._run_forward(self._queries(states, [each for _, each in situations]))
        numbers, support = _rounded(outputs), self.observations
        rows = numbers[:, :-1].reshape(len(states), -1, self.encoding.d)
        return [
            Certain(each.state, self.encoding.decoded(each, row[: len(each.ids)], point), support)
            for each, row, point in zip(states, rows, numbers[:, -1].tolist(), strict=True)
        ]

    def _queries(self, states: Sequence[Encoded], actions: Sequence[str]) -> Queries:
        table, n = VectorTable(self.encoding.d), padded_size(max(len(each.ids) for each in states))
        places = np.full((len(states), n), -1)
        for row, each in zip(places, states, strict=True):
            row[: len(each.ids)] = table.acquire(each.vectors)
        vectors, position = table.sorted_vectors()
        one_hot = np.eye(len(self.schema.actions), dtype=np.float32)
        action = one_hot[[self.encoding.action(each) for each in actions]]
        arrays = (vectors, position[places], action)
        return Queries(*(torch.from_numpy(each).to(self.device) for each in arrays))

    @torch.no_grad()
    def _forward(self, queries: Queries) -> Tensor:
        """Return the next vectors of each state, flattened, followed by the reward."""
        states = index_states(queries.vectors, queries.places)
        rows = self.networks["transitions"](states, queries.action).flatten(1)
        reward = torch.zeros_like(rows[:, 0])
        if "rewards" in self.networks:
            reward = self.networks["rewards"](states, queries.action)
        return torch.cat([rows, reward[:, None]], dim=1)

    # ---- files ----

    def settings(self) -> dict[str, Any]:
        """Return the settings it was made with, without the device."""
        return dict(self._settings)

    def _weights(self) -> list[Tensor]:
        """Return all weights, and AdamW's moments of each."""
        weights = list(self.networks.parameters())
        states = [self.optimizer.state[each] for each in weights if each in self.optimizer.state]
        return [*weights, *(each[name] for each in states for name in ("exp_avg", "exp_avg_sq"))]

    def _start_optimizer(self, steps: int) -> None:
        """Give AdamW empty moments of each weight, as after that number of steps."""
        for each in self.networks.parameters() if steps else ():
            self.optimizer.state[each] = {
                "step": torch.tensor(float(steps), device=self.device),
                "exp_avg": torch.zeros_like(each),
                "exp_avg_sq": torch.zeros_like(each),
            }

    def body(self) -> bytes:
        """Return counters, weights and replay buffer as bytes."""
        replay = self.replay.parts()
        steps = int(next((each["step"] for each in self.optimizer.state.values()), 0))
        header = (self.observations, steps, len(self.replay), replay[0].shape[1], *self.loss)
        weights = [each.detach().cpu().numpy() for each in self._weights()]
        return HEADER.pack(*header) + b"".join(each.tobytes() for each in (*weights, *replay))

    def restore(self, body: bytes) -> None:
        """Restore what `body` returned."""
        if len(body) < HEADER.size:
            raise ValueError(f"it has {len(body)} bytes, where {HEADER.size} come first")
        self.observations, steps, size, objects, *loss = HEADER.unpack_from(body)
        room = self.memory * objects * self.encoding.d
        if size > self.memory or room > _MOST_NUMBERS or (objects and not size):
            raise ValueError(f"{size:,} transitions of {objects:,} objects are more than it keeps")
        self.loss = (loss[0], loss[1])
        self._start_optimizer(steps)
        numbers = np.frombuffer(body, dtype="<f4", offset=HEADER.size)
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


def _split_by_pairs(
    situations: Sequence[tuple[State, str]],
) -> Iterator[Sequence[tuple[State, str]]]:
    """Yield parts of the situations, each with a limited number of pairs of objects."""
    first, largest = 0, 0
    for i, (state, _) in enumerate(situations):
        largest = max(largest, len(state))
        if i > first and (i - first + 1) * largest**2 > _MOST_PAIRS:
            yield situations[first:i]
            first, largest = i, len(state)
    if situations:
        yield situations[first:]


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute with one thread: with several, the order of sums depends on the machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _rounded(numbers: Tensor) -> NDArray[np.int64]:
    """Return the nearest integers; 0 for NaN."""
    nearest = np.nan_to_num(np.rint(numbers.double().cpu().numpy()), nan=0.0)
    integers: NDArray[np.int64] = nearest.clip(-_CLIP, _CLIP).astype(np.int64)
    return integers


def _count(name: str, value: object) -> int:
    count = whole_number(name, value, least=1)
    if count > _LARGEST_COUNT:
        raise SettingError(f"{name} must be at most {_LARGEST_COUNT:,}, got {shown(value)}")
    return count


def _seed(value: object) -> int:
    seed = whole_number("seed", value)
    if seed > _LARGEST_SEED:
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
