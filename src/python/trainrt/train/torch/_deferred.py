"""The all_reduces that DistributedDataParallel starts in a backward pass, held until its end: the ranks meet once for all of them."""

import sys

import torch
from torch.autograd import Variable

_Work = torch._C._distributed_c10d.Work


class Held:
    """`together(tensors, op)` reduces several tensors in place. What waits is reduced before any other collective, in the order in which
    it came."""

    def __init__(self, together):
        self._together = together
        self._waiting = []  # (tensors, op, their Work)
        self._of_last_pass = []  # torch 1.13 has a Work no longer than Python has it

    def hold(self, tensors, op):
        """A Work that ends with the backward pass; None if they are better reduced at once: outside of one, or for Python code, which may
        wait for the future. The DDP of C++ looks at what it gets in a callback that it queues behind this one."""
        if not sys._getframe(2).f_globals.get("__name__", "").startswith("torch.autograd"):
            return None
        try:
            Variable._execution_engine.queue_callback(self.release)
        except RuntimeError:  # no backward pass
            return None
        if not self._waiting:
            self._of_last_pass = []
        work = _HeldWork(self.release)
        self._waiting.append((tensors, op, work))
        self._of_last_pass.append(work)
        return work

    def release(self):
        waiting, self._waiting = self._waiting, []
        for op in dict.fromkeys(op for _, op, _ in waiting):
            self._together([tensor for tensors, each, _ in waiting if each == op for tensor in tensors], op)
        for tensors, _, work in waiting:
            work.future.set_result(tensors)


class _HeldWork(_Work):
    def __init__(self, release):
        super().__init__()
        self._release = release
        self.future = torch.futures.Future()

    def wait(self, *_):  # torch's names, as below
        self._release()
        return True

    def is_completed(self):
        return self.future.done()

    def get_future(self):
        return self.future
