"""What the hooks of a Backend see of the ranks."""


class WorkerGroup:
    """All ranks, in their order. Every rank calls the same methods, and each gets the same answer."""

    def __init__(self, session):
        self._session = session

    def __len__(self):
        return self._session.world_size

    num_workers = property(__len__)
    rank = property(lambda self: self._session.world_rank, doc="Number of this rank.")

    def execute(self, function, *args, **kwargs):
        """Runs function(*args, **kwargs) on every rank; returns what each returned. It must be picklable."""
        return self._session.gather(function(*args, **kwargs))

    def execute_single(self, worker_index, function, *args, **kwargs):
        """Runs it on one rank; returns, on every rank, what it returned there."""
        if not 0 <= worker_index < len(self):
            raise ValueError(f"execute_single(): there is no rank {worker_index}; the last one is {len(self) - 1}")
        result = function(*args, **kwargs) if worker_index == self.rank else None
        return self._session.broadcast(result, root=worker_index)
