"""TrainContext: rank, run and resources of this worker, by Ray Train's names."""

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Optional

from ..._support import _local_files
from . import _current, _shards

if TYPE_CHECKING:
    from ...data import DataIterator
    from ._callbacks import TrainRunContext


@dataclass(frozen=True)
class StorageContext:
    """Paths of the run.

    Attributes
    ----------
    storage_path : str
        Directory that contains the run directory.
    experiment_dir_name : str
        Name of the run directory.
    storage_filesystem : pyarrow.fs.LocalFileSystem, optional
        File system of the paths. `None` if pyarrow is not installed.

    Examples
    --------
    >>> from trainrt.train import StorageContext
    >>> StorageContext("/scratch/runs", "first").trial_fs_path
    '/scratch/runs/first'
    """

    storage_path: str
    experiment_dir_name: str
    storage_filesystem: Any = None

    @property
    def experiment_fs_path(self) -> str:
        """Run directory; also available as `trial_fs_path` and `storage_fs_path`."""
        return os.path.join(self.storage_path, self.experiment_dir_name)

    trial_fs_path = storage_fs_path = experiment_fs_path


class TrainContext:
    """Describes this worker and its run. Returned by `get_context()`. In a process that trainrt did not start: rank 0 of 1.

    Examples
    --------
    >>> from trainrt import train
    >>> context = train.get_context()
    >>> context.get_world_rank(), context.get_world_size()
    (0, 1)
    """

    def get_world_rank(self) -> int:
        """Returns the number of this rank, from 0."""
        return _current.session().world_rank

    def get_world_size(self) -> int:
        """Returns the number of ranks."""
        return _current.session().world_size

    def get_local_rank(self) -> int:
        """Returns the number of this rank on its node, from 0."""
        return _current.session().local_rank

    def get_local_world_size(self) -> int:
        """Returns the number of ranks on this node."""
        return _current.session().local_world_size

    def get_node_rank(self) -> int:
        """Returns the number of this node, from 0."""
        return _current.session().node_rank

    def get_experiment_name(self) -> str:
        """Returns the name of the run."""
        return _current.session().run_name

    def get_trial_name(self) -> str:
        """Returns the name of the run, which has a single trial."""
        return _current.session().run_name

    def get_trial_id(self) -> str:
        """Returns the unique identifier of the run. It stays the same when the run restarts."""
        return _current.session().run_id

    def get_trial_dir(self) -> Optional[str]:
        """Returns the run directory, or `None` in a process that trainrt did not start."""
        return _current.session().run_dir

    def get_trial_resources(self) -> dict[str, float]:
        """Returns the number of CPUs and GPUs of all workers together, as {'CPU': 8, 'GPU': 2}."""
        session = _current.session()
        scaling = session.spec.scaling_config
        cpus = scaling.requested_cpus if scaling is not None else None
        gpus = scaling.num_gpus_per_worker if scaling is not None else len(session.gpus)
        each = {"CPU": cpus or 1, "GPU": gpus}
        return {name: amount * session.world_size for name, amount in each.items() if amount}

    def get_metadata(self) -> dict[str, Any]:
        """Returns the Trainer's metadata."""
        return dict(_current.session().spec.metadata)

    def get_dataset_shard(self, dataset_name: str = "train") -> "Optional[DataIterator]":
        """Returns this rank's shard of a dataset, as `trainrt.train.get_dataset_shard()` does."""
        return _shards.shard(_current.session(), dataset_name)

    def get_storage(self) -> StorageContext:
        """Returns the paths of the run. Raises NotImplementedError in a process that trainrt did not start."""
        run_dir = _current.session().run_dir
        if run_dir is None:
            raise NotImplementedError("get_storage(): this process has no run directory, since trainrt did not start it")
        return StorageContext(os.path.dirname(run_dir), os.path.basename(run_dir), _local_files.filesystem())

    def get_train_run_context(self) -> "Optional[TrainRunContext]":
        """Returns the description of the run that callbacks receive, or `None` in a process that trainrt did not start."""
        session = _current.session()
        return session.run_context() if session.runtime is not None else None


_context = TrainContext()


def get_context() -> TrainContext:
    """Returns the TrainContext of this process.

    Examples
    --------
    >>> from trainrt import train
    >>> train.get_context().get_world_size()
    1
    """
    return _context
