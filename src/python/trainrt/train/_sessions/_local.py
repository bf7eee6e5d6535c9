"""LocalSession: one rank without the runtime, in tests, IDEs and notebooks. Its data are removed when the process exits."""

import os
import shutil
import tempfile
import time

from .._results._checkpoint import Checkpoint
from .._results._deferred_removals import DeferredRemovals
from ._metrics import flat_metrics
from ._spec import TrainSpec

# Each session's list with its newest temporary directory. Kept until the process exits, since a Result may be used after its session.
_newest_directories: list[list[tempfile.TemporaryDirectory]] = []


class LocalSession:
    """Session of one rank. The newest reported checkpoint is copied into a temporary directory."""

    runtime = None
    world_rank = local_rank = node_rank = 0
    world_size = local_world_size = 1
    gpus = ()
    run_name = "local"
    run_id = "local"
    run_dir = None
    aggregates = False

    def __init__(self, spec=None):
        self.spec = spec or TrainSpec()
        self.reports = []  # metrics and checkpoint, or `None`, of each report
        self.times = []  # Unix time and duration in seconds of each report
        self._begun_s = time.monotonic()
        self._newest = None
        self._directory = []  # list with the newest temporary directory
        _newest_directories.append(self._directory)

    def train_function_begins(self):
        pass

    def report(self, metrics, checkpoint=None, directory_name=None, aggregate=False, removes=False, validation=None):
        """Stores the report. With `removes`, the reported directory is removed. A validation runs immediately."""
        kept = self._copy_of(checkpoint, directory_name) if checkpoint is not None else None
        if validation is not None:
            metrics = {**metrics, **flat_metrics(self.spec.validation.fn(kept, **validation["fn_kwargs"]))}
        self.reports.append((metrics, kept))
        now_s = time.monotonic()
        self.times.append((time.time(), now_s - self._begun_s))
        self._begun_s = now_s
        if removes and checkpoint != self.spec.first_checkpoint and checkpoint != kept:
            removals = DeferredRemovals()
            removals.add(checkpoint, -1)
            removals.carry_out(0)

    def _copy_of(self, checkpoint, directory_name):
        """Copies the checkpoint into a new temporary directory and removes the previous one."""
        metadata = {**self.spec.metadata, **checkpoint.get_metadata()}
        directory = tempfile.TemporaryDirectory(prefix="trainrt_local_")
        path = os.path.join(directory.name, directory_name or f"checkpoint_{len(self.reports):06d}")
        with checkpoint.as_directory() as source:
            shutil.copytree(source, path)
        for before in self._directory:
            before.cleanup()
        self._directory[:] = [directory]
        self._newest = Checkpoint(path)
        if metadata:
            self._newest.set_metadata(metadata)
        return self._newest

    def get_checkpoint(self):
        return self._newest or self.spec.first_checkpoint

    def reported_checkpoints(self):
        """Returns the newest checkpoint with the metrics of its report, as a list. Older ones are removed."""
        return [(kept, metrics, "COMMITTED") for metrics, kept in self.reports if kept is not None][-1:]

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
