"""A training step that is recorded once and replayed.

    batch -> [ copied in; replayed ] -> losses

On a GPU a step of a small network is some hundred kernels of a few microseconds each, and most of
its time goes into launching them one by one. Recorded as a CUDA graph, they are launched together.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from treethink.baselines.npe import Batch

#: Records a step without doing it: what does it again, and where its losses are then.
Record = Callable[[Callable[[], Tensor]], tuple[Callable[[], None], Tensor]]

#: Steps as they come before one is recorded: libraries set themselves up in the first.
_WARM_UP = 30


def cuda_graph(step: Callable[[], Tensor]) -> tuple[Callable[[], None], Tensor]:
    """The kernels that a step launches, to be launched together."""
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        losses = step()
    return graph.replay, losses


class Recorded:
    """Replays a step for batches of one shape; does any other as it comes."""

    def __init__(self, step: Callable[[Batch], Tensor], record: Record = cuda_graph):
        self._step, self._record = step, record
        self._shape: torch.Size | None = None
        self._seen = 0
        self._recorded: tuple[Batch, Callable[[], None], Tensor] | None = None

    def __call__(self, batch: Batch) -> Tensor:
        """One step with this batch."""
        if batch.before.shape != self._shape:
            self._shape, self._seen, self._recorded = batch.before.shape, 0, None
        if self._recorded is not None:
            inputs, replay, losses = self._recorded
            for own, each in zip(inputs, batch, strict=True):
                own.copy_(each)
            replay()
            return losses.clone()
        self._seen += 1
        done = self._step(batch)
        if self._seen == _WARM_UP:
            inputs = Batch(*(each.clone() for each in batch))
            self._recorded = (inputs, *self._record(partial(self._step, inputs)))
        return done
