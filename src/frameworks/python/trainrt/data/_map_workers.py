"""Processes in which the map functions of a dataset run, so that slow ones keep no step waiting."""

import os
import pickle

from ..train import _fit, _script, _travel
from ..train._side_process import SideProcess


class _Worker:
    """One process. It has one batch at a time: whoever sends the next one has taken what became of the one before."""

    def __init__(self, work):
        self._process = SideProcess("trainrt.data._map_worker", OMP_NUM_THREADS="1")  # there are as many workers as there are to be threads
        self._process.connection.send_bytes(work)

    def send(self, batch, draws):
        try:
            self._process.connection.send((batch, draws))
        except OSError:
            pass  # receive() says why

    def receive(self, names):
        try:
            what, value = self._process.connection.recv()
        except (EOFError, OSError):
            raise RuntimeError(f"the process {self._process.pid} that runs {names} is gone, {self._process.end_in_words()}") from None
        if what == "error":
            raise RuntimeError(f"{names}, in the process {self._process.pid}:\n{value}")
        return value

    def close(self):
        self._process.close()


class MapWorkers:
    """`count` processes that apply `operations`. They are started at the first batch, and end with this object, or this process."""

    def __init__(self, operations, count):
        self._operations, self._count = operations, count
        self._names = " and ".join(dict.fromkeys(operation.name for operation in operations if operation.workers))
        self._workers = []
        self._owner = os.getpid()

    def apply(self, batches):
        """What the operations make of each (batch, draws), in their order, read ahead by one for each worker."""
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
                del batch  # its memory may be used again
            while taken < given:
                taken += 1
                yield self._workers[(taken - 1) % self._count].receive(self._names)
        finally:
            if taken < given:  # answers are under way that nobody takes
                self.close()

    def _start(self):
        if _fit._importing is not None:
            raise RuntimeError(f"{self._names} is to run in processes of its own, which import {_fit._importing} to find it, and that import came "
                               f"here again: put what uses the dataset under `if __name__ == \"__main__\":`, or into a function")
        script = _script.of_this_process()
        work, needs_script = _travel.pickled(self._operations, script, "what map() and the like were given")
        call = _travel.call_of(script if needs_script else None)
        message = pickle.dumps((call, work))
        self._workers = [_Worker(message) for _ in range(self._count)]

    def close(self):
        workers, self._workers = self._workers, []
        for worker in workers if self._owner == os.getpid() else ():
            worker.close()

    def __del__(self):
        self.close()
