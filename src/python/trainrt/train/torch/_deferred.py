"""Defers the all_reduces that DistributedDataParallel starts in a backward pass to its end, where one collective reduces all of them."""

from __future__ import annotations

import sys
from typing import Any, Callable

import torch
from torch.autograd import Variable

_Work: Any = torch._C._distributed_c10d.Work


class DeferredReductions:
    """Reductions that wait for the end of the backward pass. `reduce(tensors, op)` reduces several tensors in place. The owner must call flush()
    before any other collective."""

    def __init__(self, reduce: Callable[[list[torch.Tensor], str], Any]) -> None:
        self._reduce = reduce
        self._waiting: list[tuple[list[torch.Tensor], str, _DeferredWork]] = []
        self._of_last_pass: list[_DeferredWork] = []  # keeps them alive: torch 1.13 holds no reference

    def defer(self, tensors: list[torch.Tensor], op: str) -> _DeferredWork | None:
        """Returns a Work that completes at the end of the backward pass. Returns None, and defers nothing, outside of a backward pass and if Python
        code calls, which may wait for the future. DDP, in C++, reads the results in a callback that it queues after this one."""
        if not sys._getframe(2).f_globals.get("__name__", "").startswith("torch.autograd"):
            return None
        try:
            Variable._execution_engine.queue_callback(self.flush)
        except RuntimeError:  # no backward pass
            return None
        if not self._waiting:
            self._of_last_pass = []
        work = _DeferredWork(self.flush)
        self._waiting.append((tensors, op, work))
        self._of_last_pass.append(work)
        return work

    def flush(self) -> None:
        """Reduces all waiting tensors."""
        waiting, self._waiting = self._waiting, []
        for op in dict.fromkeys(op for _, op, _ in waiting):
            self._reduce([tensor for tensors, each, _ in waiting if each == op for tensor in tensors], op)
        for tensors, _, work in waiting:
            work.future.set_result(tensors)


class _DeferredWork(_Work):  # type: ignore[valid-type,misc]
    """The methods are those of torch's Work."""

    def __init__(self, flush: Callable[[], None]) -> None:
        super().__init__()
        self._flush = flush
        self.future = torch.futures.Future()

    def wait(self, *_: Any) -> bool:
        self._flush()
        return True

    def is_completed(self) -> bool:
        return self.future.done()

    def get_future(self) -> Any:
        return self.future
