"""One rank without a runtime: in tests, IDEs and notebooks. Nothing is kept beyond the process."""

import os
import shutil
import tempfile

from .._results._checkpoint import Checkpoint
from ._job import Job
from ._metrics import flat_metrics
from .._results._removals import Removals


_slots = []  # with the newest folder of each session: a Result may outlive it


class LocalSession:
    """The newest reported checkpoint is copied into a temporary folder, which goes with the process."""

    runtime = None
    world_rank = local_rank = node_rank = 0
    world_size = local_world_size = 1
    gpus = ()
    run_name = "local"
    run_id = "local"
    run_dir = None
    aggregates = False

    def __init__(self, job=None):
        self.job = job or Job()
        self.reports = []  # (metrics, Checkpoint or None)
        self._newest = None
        self._slot = []
        _slots.append(self._slot)

    def train_function_begins(self):
        pass

    def report(self, metrics, checkpoint=None, directory_name=None, aggregate=False, removes=False, validation=None):
        kept = self._kept(checkpoint, directory_name) if checkpoint is not None else None
        if validation is not None:  # at once: there is nothing beside which it could run
            metrics = {**metrics, **flat_metrics(self.job.validation.fn(kept, **validation["fn_kwargs"]))}
        self.reports.append((metrics, kept))
        if removes and checkpoint != self.job.first_checkpoint and checkpoint != kept:
            removals = Removals()
            removals.add(checkpoint, -1)
            removals.carry_out(0)

    def _kept(self, checkpoint, directory_name):
        metadata = {**self.job.metadata, **checkpoint.get_metadata()}
        folder = tempfile.TemporaryDirectory(prefix="trainrt_local_")
        path = os.path.join(folder.name, directory_name or f"checkpoint_{len(self.reports):06d}")
        shutil.copytree(checkpoint._checked_path(), path)
        for before in self._slot:
            before.cleanup()
        self._slot[:] = [folder]
        self._newest = Checkpoint(path)
        if metadata:
            self._newest.set_metadata(metadata)
        return self._newest

    def get_checkpoint(self):
        return self._newest or self.job.first_checkpoint

    def reported_checkpoints(self):
        return []

    def wait_until_validated(self, timeout_s=None):
        pass

    def shard(self, name, dataset):
        del name
        return dataset.iterator()

    def barrier(self):
        pass

    def broadcast(self, value, root=0):
        return value

    def gather(self, value):
        return [value]
