"""The gradients of DistributedDataParallel on the CPU, averaged by the runtime through shared memory."""

from __future__ import annotations

from typing import Any

import torch

from . import _world


class Averaging:
    """A communication hook of DDP, for the CPU. One collective per step averages all buckets, after the last bucket of the backward pass. The sum
    follows one tree over the ranks, so its bits are the same each time. DDP calls the hook in the thread that called backward()."""

    def __init__(self) -> None:
        self._waiting: list[tuple[torch.Tensor, Any]] = []  # (bucket, its future)

    def __reduce__(self) -> Any:
        """Gives a copied or unpickled model its own hook."""
        return Averaging, ()

    def hook(self, _, bucket):  # torch checks annotations of hooks, so there are none
        """Returns the future of the averaged bucket."""
        future = torch.futures.Future()
        if bucket.index() == 0:  # a pass that failed may have left some
            self._waiting.clear()
        self._waiting.append((bucket.buffer(), future))
        if bucket.is_last():
            self._average()
        return future

    def _average(self) -> None:
        waiting, self._waiting = self._waiting, []
        buffers = [buffer for buffer, _ in waiting]
        dtypes = list(dict.fromkeys(buffer.dtype for buffer in buffers))
        if len(dtypes) == 1:
            buffers = self._averaged(buffers)
        else:
            for dtype in dtypes:
                _world.runtime()._all_reduce_together([buffer for buffer in buffers if buffer.dtype == dtype], "mean")
        for buffer, (_, future) in zip(buffers, waiting):
            future.set_result(buffer)

    @staticmethod
    def _averaged(buffers: list[torch.Tensor]) -> list[torch.Tensor]:
        """Returns the averages in shared memory. DDP copies them into the gradients before the end of the backward pass, so before the next
        collective overwrites them."""
        parts = _world.runtime()._all_reduced(buffers, "mean")
        return [torch.frombuffer(part, dtype=buffer.dtype) if buffer.numel() else buffer for buffer, (_, part) in zip(buffers, parts)]


def average_by_runtime(model: Any) -> None:
    """Registers the hook with a model in DDP on the CPU."""
    model.register_comm_hook(None, Averaging().hook)
