"""The networks of the Neural Physics Engine: F1 over pairs of objects, summed; then F2.

    object vectors, action -> [ Transitions, Rewards ] -> next vectors, reward

`GraphCache` replays their computations on a GPU.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Generic, NamedTuple, TypeVar, cast

import torch
from torch import Tensor, nn


def feed_forward(widths: Sequence[int], ends_with_relu: bool) -> nn.Sequential:
    """Return linear layers of these widths, with a ReLU after each, the last one optionally."""
    layers: list[nn.Module] = []
    for inputs, outputs in pairwise(widths):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    return nn.Sequential(*(layers if ends_with_relu else layers[:-1]))


class IndexedStates(NamedTuple):
    """A batch of states whose objects refer to shared vectors.

    Most objects of a world look the same in many states, so F1 is computed once for a pair of
    vectors, not once for each pair of objects. `vectors` is [group, vector, d]. `places`, [group,
    state, object, vector], has a 1 for the vector of each object, and only zeros for padding.
    """

    vectors: Tensor
    places: Tensor


def index_states(vectors: Tensor, index: Tensor) -> IndexedStates:
    """Return states given by `index`, [state, object]: rows of `vectors`, -1 for padding.

    All states share the vectors if that makes fewer pairs than if each state has its own.
    """
    states, objects = index.shape
    if len(vectors) ** 2 <= states * objects**2:
        every = torch.arange(len(vectors), device=index.device)
        return IndexedStates(vectors[None], (index[..., None] == every)[None].float())
    own = torch.eye(objects, device=index.device) * (index >= 0)[..., None]
    return IndexedStates(vectors[index.clamp(min=0)], own[:, None])


class Interactions(nn.Module):
    """F2(X_i, action, sum over j of F1(X_i, X_j)), for every object i of every state of a batch."""

    def __init__(self, d: int, actions: int, f1: Sequence[int], f2: Sequence[int]):
        super().__init__()
        self.f1 = feed_forward([2 * d, *f1], ends_with_relu=True)
        self.f2 = feed_forward([d + actions + f1[-1], *f2], ends_with_relu=False)

    def forward(self, states: IndexedStates, action: Tensor) -> Tensor:
        """Return [state, object, ...]; `action` is one-hot, [state, actions]."""
        effects = self._effects(states.vectors)
        counts = states.places.sum(dim=2)  # how often each vector occurs in each state
        sums = (counts @ effects.flatten(2)).view(*counts.shape, effects.shape[-1])
        total = (states.places @ sums).flatten(0, 1)  # for each object
        x = _object_vectors(states)
        actions = action[:, None].expand(-1, x.shape[1], -1)
        return cast(Tensor, self.f2(torch.cat([x, actions, total], dim=-1)))

    def _effects(self, vectors: Tensor) -> Tensor:
        """Return F1(X_i, X_j) for all pairs of vectors: [group, j, i, ...]."""
        d = vectors.shape[-1]
        first = cast(nn.Linear, self.f1[0])
        # The first layer is a sum of two terms, one for each vector.
        left = vectors @ first.weight[:, :d].T + first.bias
        right = vectors @ first.weight[:, d:].T
        return cast(Tensor, self.f1[1:](right[:, :, None] + left[:, None, :]))


def _object_vectors(states: IndexedStates) -> Tensor:
    """Return the vector of each object: [state, object, d]."""
    return (states.places @ states.vectors[:, None]).flatten(0, 1)


def object_mask(states: IndexedStates) -> Tensor:
    """Return 1 for each object and 0 for padding: [state, object]."""
    return states.places.sum(dim=-1).flatten(0, 1)


class Transitions(nn.Module):
    """Predicts the next vector of each object: X_i plus the output of F2."""

    def __init__(self, d: int, actions: int, width: int, extra: int):
        super().__init__()
        f1 = [16 * width, 8 * width, 8 * width, 4 * width] + extra * [4 * width]
        self.inner = Interactions(d, actions, f1, [4 * width] + extra * [4 * width] + [d])

    def forward(self, states: IndexedStates, action: Tensor) -> Tensor:
        """Return the next vectors, [state, object, d]."""
        return _object_vectors(states) + cast(Tensor, self.inner(states, action))


class Rewards(nn.Module):
    """Predicts the reward of a state: the same network without the residual, summed over objects.

    A ReLU follows F2. Without it the reward would be linear in the action, whatever F1 computes,
    and no weights could express "bumped into a wall".
    """

    def __init__(self, d: int, actions: int, width: int, extra: int):
        super().__init__()
        f1 = [16 * width, 8 * width, 8 * width, 16 * width] + extra * [16 * width]
        self.inner = Interactions(d, actions, f1, [16 * width] + extra * [16 * width])
        self.last = nn.Linear(16 * width, 1)

    def forward(self, states: IndexedStates, action: Tensor) -> Tensor:
        """Return the rewards, [state]."""
        features = torch.relu(self.inner(states, action)) * object_mask(states)[..., None]
        return cast(Tensor, self.last(features.sum(dim=1)))[:, 0]


# ------------------------------------------------------------------------------------- CUDA graphs
#
# On a GPU a training step of a small network, or a prediction, consists of some hundred kernels of
# a few microseconds each, and most of the time goes into launching them one by one. A CUDA graph
# launches them together: a computation is recorded once, and replayed with other inputs.

#: The inputs of a computation: a named tuple of tensors.
Inputs = TypeVar("Inputs", bound=tuple[Tensor, ...])
#: Records a computation: returns a function that replays it, and the tensor of its result.
Record = Callable[[Callable[[], Tensor]], tuple[Callable[[], None], Tensor]]

#: Ordinary runs before a computation is recorded, in which libraries initialise themselves.
_WARM_UP = 30
#: The most input shapes (numbers of objects and of distinct vectors) with a recording.
_MOST_SHAPES = 8


def cuda_graph(compute: Callable[[], Tensor]) -> tuple[Callable[[], None], Tensor]:
    """Record the kernels that a computation launches."""
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = compute()
    return graph.replay, result


class GraphCache(Generic[Inputs]):
    """Replays a computation for input shapes that were recorded; computes others as usual."""

    def __init__(self, compute: Callable[[Inputs], Tensor], record: Record = cuda_graph):
        self._compute, self._record = compute, record
        self._runs: dict[tuple[torch.Size, ...], int] = {}
        self._graphs: dict[tuple[torch.Size, ...], tuple[Inputs, Callable[[], None], Tensor]] = {}

    def __call__(self, inputs: Inputs) -> Tensor:
        """Return the result for these inputs."""
        shape = tuple(each.shape for each in inputs)
        if shape in self._graphs:
            buffers, replay, result = self._graphs[shape]
            for buffer, each in zip(buffers, inputs, strict=True):
                buffer.copy_(each)
            replay()
            return result.clone()
        result = self._compute(inputs)
        self._runs[shape] = self._runs.get(shape, 0) + 1
        if self._runs[shape] == _WARM_UP:
            if len(self._graphs) == _MOST_SHAPES:
                del self._graphs[next(iter(self._graphs))]
            buffers = type(inputs)(*(each.clone() for each in inputs))
            self._graphs[shape] = (buffers, *self._record(partial(self._compute, buffers)))
            self._runs[shape] = 0
        return result
