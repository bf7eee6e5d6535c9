"""Defers all_reduce calls of DistributedDataParallel to the end of the backward pass, where one collective reduces all tensors."""

from __future__ import annotations

import sys
from typing import Any, Callable

import torch
from torch.autograd import Variable

_Work: Any = torch._C._distributed_c10d.Work


class DeferredReductions:
    """Collects reductions until the end of the backward pass. `reduce(tensors, op)` reduces several tensors in place. The owner must call flush()
    before any other collective."""

    def __init__(self, reduce: Callable[[list[torch.Tensor], str], Any]) -> None:
        self._reduce = reduce
        self._waiting: list[tuple[list[torch.Tensor], str, _DeferredWork]] = []
        self._of_last_pass: list[_DeferredWork] = []  # keeps the Works alive: torch 1.13 holds no reference to them

    def defer(self, tensors: list[torch.Tensor], op: str) -> _DeferredWork | None:
        """Returns a Work that completes at the end of the backward pass. Returns `None`, and defers nothing, outside of a backward pass or if user code
        calls, since user code may wait for the future. DDP reads the results in a callback that runs after flush()."""
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
        """Reduces all deferred tensors and completes their Works."""
        waiting, self._waiting = self._waiting, []
        for op in dict.fromkeys(op for _, op, _ in waiting):
            self._reduce([tensor for tensors, each, _ in waiting if each == op for tensor in tensors], op)
        for tensors, _, work in waiting:
            work.future.set_result(tensors)


class _DeferredWork(_Work):  # type: ignore[valid-type,misc]
    """A torch Work for one deferred reduction."""

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
