"""Record a computation as a CUDA graph once, and replay it.

    tensors -> [ copied in; replayed ] -> a tensor

On a GPU a training step of a small network, or a prediction, consists of some hundred kernels of a
few microseconds each, and most of the time goes into launching them one by one. A CUDA graph
launches them together.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Generic, TypeVar

import torch
from torch import Tensor

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
