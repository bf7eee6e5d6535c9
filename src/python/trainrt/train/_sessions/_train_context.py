"""get_context(): who this worker is, by Ray Train's names."""

import os
from dataclasses import dataclass
from typing import Any

from . import _datasets, _session


@dataclass(frozen=True)
class StorageContext:
    """Where the run lies. There is no filesystem object: it is a folder that all nodes see."""

    storage_path: str
    experiment_dir_name: str
    storage_filesystem: Any = None

    @property
    def experiment_fs_path(self):
        return os.path.join(self.storage_path, self.experiment_dir_name)

    trial_fs_path = storage_fs_path = experiment_fs_path


class TrainContext:
    """In a process that trainrt did not start: rank 0 of 1."""

    def get_world_rank(self) -> int:
        return _session.current().world_rank

    def get_world_size(self) -> int:
        return _session.current().world_size

    def get_local_rank(self) -> int:
        return _session.current().local_rank

    def get_local_world_size(self) -> int:
        return _session.current().local_world_size

    def get_node_rank(self) -> int:
        return _session.current().node_rank

    def get_experiment_name(self) -> str:
        """The name of the run."""
        return _session.current().run_name

    def get_trial_name(self) -> str:
        """The name of the run: it is its only trial."""
        return _session.current().run_name

    def get_trial_id(self) -> str:
        """The same over all restarts of the run, and of no other run."""
        return _session.current().run_id

    def get_trial_dir(self) -> str:
        """The run directory; None without a runtime."""
        return _session.current().run_dir

    def get_trial_resources(self) -> dict:
        """What all workers have together."""
        session = _session.current()
        scaling = session.job.scaling_config
        cpus = scaling.num_cpus_per_worker if scaling is not None else None
        gpus = scaling.num_gpus_per_worker if scaling is not None else len(session.gpus)
        each = {"CPU": cpus or 1, "GPU": gpus}
        return {name: amount * session.world_size for name, amount in each.items() if amount}

    def get_metadata(self) -> dict:
        """The Trainer's metadata."""
        return dict(_session.current().job.metadata)

    def get_dataset_shard(self, dataset_name="train"):
        """As trainrt.train.get_dataset_shard()."""
        return _datasets.shard(_session.current(), dataset_name)

    def get_storage(self) -> StorageContext:
        run_dir = _session.current().run_dir
        if run_dir is None:
            raise NotImplementedError("get_storage(): nothing is kept here, since trainrt did not start this process")
        return StorageContext(os.path.dirname(run_dir), os.path.basename(run_dir))

    def get_train_run_context(self):
        """The run, as callbacks see it."""
        session = _session.current()
        return session.run_context() if session.runtime is not None else None


_context = TrainContext()


def get_context() -> TrainContext:
    """The TrainContext of this process."""
    return _context
