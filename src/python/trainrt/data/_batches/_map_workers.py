"""MapWorkers, processes that run the map functions of a dataset ahead of the train function."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..._support import _pickling
from ..._support._side_process import SideProcess
from .._operations import Operation


class _Worker:
    """A process that applies the operations to one batch at a time. After send(), the caller must call receive() before the next send()."""

    def __init__(self, work: bytes) -> None:
        self._process = SideProcess("trainrt.data._batches._map_worker", OMP_NUM_THREADS="1")  # one thread per worker process
        self._process.connection.send_bytes(work)

    def send(self, batch: dict[str, Any], draws: Any) -> None:
        try:
            self._process.connection.send((batch, draws))
        except OSError:
            pass  # receive() reports the reason

    def receive(self, names: str) -> dict[str, Any]:
        """Returns the batch after the operations. Raises RuntimeError if a function raised or the process exited; `names` names the functions."""
        try:
            kind, value = self._process.connection.recv()
        except (EOFError, OSError):
            raise RuntimeError(f"the process {self._process.pid} that runs {names} has exited: {self._process.end_in_words()}") from None
        if kind == "error":
            raise RuntimeError(f"{names}, in the process {self._process.pid}:\n{value}")
        return value

    def close(self) -> None:
        self._process.close()


class MapWorkers:
    """Applies `operations` in `count` processes. The processes start at the first batch, and exit when this object is closed or this process exits."""

    def __init__(self, operations: Sequence[Operation], count: int) -> None:
        self._operations, self._count = operations, count
        self._names = " and ".join(dict.fromkeys(operation.name for operation in operations if operation.workers))
        self._workers: list[_Worker] = []
        self._owner = os.getpid()

    def apply(self, batches: Iterable[tuple[dict[str, Any], Any]]) -> Iterator[dict[str, Any]]:
        """Yields the results for `batches`, pairs (batch, draws), in the order of `batches`. Each worker process works one batch ahead."""
        if not self._workers:
            self._start()
        given = taken = 0
        try:
            for batch, draws in batches:
                if given - taken == self._count:
                    taken += 1
                    yield self._workers[(taken - 1) % self._count].receive(self._names)
                self._workers[given % self._count].send(batch, draws)
                given += 1
                del batch  # the runtime may reuse the memory
            while taken < given:
                taken += 1
                yield self._workers[(taken - 1) % self._count].receive(self._names)
        finally:
            if taken < given:  # results are pending that nobody will receive
                self.close()

    def _start(self) -> None:
        work = _pickling.pickled(self._operations, "the arguments of map() or map_batches()")
        message = pickle.dumps((_pickling.call_of(), work))
        self._workers = [_Worker(message) for _ in range(self._count)]

    def close(self) -> None:
        workers, self._workers = self._workers, []
        for worker in workers if self._owner == os.getpid() else ():
            worker.close()

    def __del__(self):
        self.close()
