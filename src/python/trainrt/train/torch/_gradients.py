"""Averages the gradients of DistributedDataParallel on the CPU with the runtime's collectives in shared memory."""

from __future__ import annotations

from typing import Any

import torch

from . import _world


class Averaging:
    """A communication hook of DDP for the CPU. After the last bucket of a backward pass, one collective averages all buckets. The ranks are always
    summed in the same order, so results are bit-identical between runs. DDP calls hook() in the thread that called backward()."""

    def __init__(self) -> None:
        self._waiting: list[tuple[torch.Tensor, Any]] = []  # (buffer of a bucket, future of its average)

    def __reduce__(self) -> Any:
        """Makes a copied or unpickled model create its own Averaging."""
        return Averaging, ()

    def hook(self, _, bucket):  # not annotated: torch rejects other annotations than its own
        """Returns the future of the averaged bucket."""
        future = torch.futures.Future()
        if bucket.index() == 0:  # a failed backward pass may have left buckets
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
        """Returns the averages, which are stored in shared memory. DDP copies the averages into the gradients before the backward pass ends; the next
        collective overwrites the shared memory."""
        parts = _world.runtime()._all_reduced(buffers, "mean")
        return [torch.frombuffer(part, dtype=buffer.dtype) if buffer.numel() else buffer for buffer, (_, part) in zip(buffers, parts)]


def average_by_runtime(model: Any) -> None:
    """Makes a model in DDP on the CPU average its gradients through Averaging."""
    model.register_comm_hook(None, Averaging().hook)
    _world.runtime()._averages_gradients = True
