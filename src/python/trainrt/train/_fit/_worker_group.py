"""WorkerGroup: all ranks, for the hooks of a Backend."""

from typing import Any, Callable


class WorkerGroup:
    """All ranks of a run. Its methods are collective: every rank calls them in the same order with the same arguments, and gets the same result."""

    def __init__(self, session):
        self._session = session

    def __len__(self) -> int:
        return self._session.world_size

    num_workers = property(__len__, doc="Number of ranks.")
    rank = property(lambda self: self._session.world_rank, doc="Number of this rank.")

    def execute(self, function: Callable, *args: Any, **kwargs: Any) -> list[Any]:
        """Calls `function(*args, **kwargs)` on every rank. Returns the values, by rank; they must be picklable."""
        return self._session.gather(function(*args, **kwargs))

    def execute_single(self, worker_index: int, function: Callable, *args: Any, **kwargs: Any) -> Any:
        """Calls `function(*args, **kwargs)` on rank `worker_index`. Returns its value on every rank. Raises ValueError if the rank does not exist."""
        if not 0 <= worker_index < len(self):
            raise ValueError(f"execute_single({worker_index}): there is no such rank; ranks are 0 to {len(self) - 1}")
        result = function(*args, **kwargs) if worker_index == self.rank else None
        return self._session.broadcast(result, root=worker_index)
