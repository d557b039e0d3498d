"""A computation that is recorded once and replayed.

    tensors -> [ copied in; replayed ] -> a tensor

On a GPU a training step of a small network, or a prediction, is some hundred kernels of a few
microseconds each, and most of its time goes into launching them one by one. Recorded as a CUDA
graph, they are launched together.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Generic, TypeVar

import torch
from torch import Tensor

#: What is computed with: a named tuple of tensors.
Inputs = TypeVar("Inputs", bound=tuple[Tensor, ...])
#: Records a computation without doing it: what does it again, and where its result is then.
Record = Callable[[Callable[[], Tensor]], tuple[Callable[[], None], Tensor]]

#: As often it is done as it comes before it is recorded: libraries set themselves up then.
_WARM_UP = 30
#: Shapes of which a recording is kept: how many objects there are, and how many different ones.
_MOST = 8


def cuda_graph(compute: Callable[[], Tensor]) -> tuple[Callable[[], None], Tensor]:
    """The kernels that a computation launches, to be launched together."""
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = compute()
    return graph.replay, result


class Recorded(Generic[Inputs]):
    """Replays what is computed with inputs of a shape that it knows; does others as they come."""

    def __init__(self, compute: Callable[[Inputs], Tensor], record: Record = cuda_graph):
        self._compute, self._record = compute, record
        self._seen: dict[tuple[torch.Size, ...], int] = {}
        self._known: dict[tuple[torch.Size, ...], tuple[Inputs, Callable[[], None], Tensor]] = {}

    def __call__(self, inputs: Inputs) -> Tensor:
        """What comes of these inputs."""
        shape = tuple(each.shape for each in inputs)
        if shape in self._known:
            own, replay, result = self._known[shape]
            for to, each in zip(own, inputs, strict=True):
                to.copy_(each)
            replay()
            return result.clone()
        done = self._compute(inputs)
        self._seen[shape] = self._seen.get(shape, 0) + 1
        if self._seen[shape] == _WARM_UP:
            if len(self._known) == _MOST:
                del self._known[next(iter(self._known))]
            own = type(inputs)(*(each.clone() for each in inputs))
            self._known[shape] = (own, *self._record(partial(self._compute, own)))
            self._seen[shape] = 0
        return done
