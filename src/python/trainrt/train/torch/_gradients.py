"""The gradients of DistributedDataParallel on the CPU, averaged by the runtime through shared memory."""

import torch

from . import _world


class Averaging:
    """A communication hook of DDP. The buckets of a backward pass wait for the last one, and are averaged together: the ranks meet once a
    step. The sum follows one tree over the ranks: the bits are the same each time. DDP calls it on the CPU in the thread that called backward()."""

    def __init__(self):
        self._waiting = []  # (bucket, its future)

    def __reduce__(self):
        """A copy of the model, or of what pickle makes of it, has a hook of its own."""
        return Averaging, ()

    def hook(self, _, bucket):
        future = torch.futures.Future()
        if bucket.index() == 0:  # of a pass that failed there may be some
            self._waiting.clear()
        self._waiting.append((bucket.buffer(), future))
        if bucket.is_last():
            self._average()
        return future

    def _average(self):
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
    def _averaged(buffers):
        """Where the runtime has put them: DDP copies them into the gradients before the backward pass ends, and so before the next
        collective."""
        parts = _world.runtime()._all_reduced(buffers, "mean")
        return [torch.frombuffer(part, dtype=buffer.dtype) if buffer.numel() else buffer for buffer, (_, part) in zip(buffers, parts)]


def average_by_runtime(model):
    """`model`: in DDP, on the CPU."""
    model.register_comm_hook(None, Averaging().hook)
