"""DataParallelTrainer: runs the same function on every rank."""

import functools
import inspect
import os
from typing import Any, Callable, Optional, Union

from .._support import _script
from ._config import _assignment, _config_record, _datasets, _recorded_values, _settings
from ._config._data import DataConfig
from ._config._run import RunConfig
from ._config._scaling import ScalingConfig
from ._config._storage import PathInFilesystem
from ._config._trainer_arguments import checked, checked_function, checked_scaling
from ._fit import _dispatch, _first_checkpoint, _restore
from ._results._checkpoint import Checkpoint
from ._results._result import Result
from ._sessions import _current
from ._sessions._sink_callback import SinkCallback
from ._sessions._spec import TrainSpec
from ._sessions._validation import ValidationConfig
from .backend import BackendConfig


class DataParallelTrainer:
    """Runs a train function on every rank.

    Parameters
    ----------
    train_loop_per_worker : callable
        Train function, without arguments or of the config.
    train_loop_config : dict, optional
        Config of the train function.
    backend_config : BackendConfig, optional
        Framework that is set up around the train function.
    scaling_config : ScalingConfig, optional
        Number of ranks and their resources. Default: the ranks of the launch, or one.
    dataset_config : DataConfig, optional
        Which datasets are split between the ranks. Default: all.
    run_config : RunConfig, optional
        Name, storage path and options of the run.
    datasets : dict of str to trainrt.data.Dataset, optional
        Datasets that `get_dataset_shard()` returns shards of.
    metadata : dict, optional
        Metadata of every checkpoint. Metadata that the train function sets take precedence.
    resume_from_checkpoint : Checkpoint, optional
        Checkpoint that `get_checkpoint()` returns in a new run until the first is reported. It may be in an object store.
    validation_config : ValidationConfig, optional
        Function that evaluates checkpoints during the training.

    Raises
    ------
    TypeError, ValueError
        If an argument has the wrong type or an invalid value.

    Examples
    --------
    >>> from trainrt import train
    >>> from trainrt.train import DataParallelTrainer, ScalingConfig
    >>> def train_func(config):
    ...     train.report({"loss": config["lr"] * 2})
    >>> trainer = DataParallelTrainer(train_func, train_loop_config={"lr": 0.1}, scaling_config=ScalingConfig(num_workers=0))
    >>> trainer.fit().metrics["loss"]
    0.2
    """

    config_argument = "train_loop_config"  # argument that has the config of the train function; "": the config of a trial is this config
    trust_owner: Optional[str] = None  # users whose run fit() may continue, separated by commas
    _config_is_unknown = False  # restore() found no train_loop_config
    _assigned: Optional[_assignment.Assignment] = None  # set if configure() of a subclass of DataConfig, or a Tuner, chooses the datasets of each worker
    _mirror: dict[str, str] = {}  # keys of the mirror of a restored run
    _restored_copies_to: Optional[tuple[Any, str]] = None  # result of _copies_to() for a restored run
    _has_store_keys = False  # the RunConfig of the script had a filesystem object with access keys
    _own_form: Optional[dict[str, Any]] = None  # arguments of a trainer that has no train function of the user; its config is train_loop_config
    _first_path: Optional[str] = None  # path of a checkpoint of a State that the run resumes from
    _older_directory: Optional[tuple[str, int]] = None  # local directory of a restored run that fit() renames, and the newer checkpoint in the store

    def __init__(self, train_loop_per_worker: Callable[..., Any], *, train_loop_config: Optional[dict[str, Any]] = None,
                 backend_config: Optional[BackendConfig] = None, scaling_config: Optional[ScalingConfig] = None,
                 dataset_config: Optional[DataConfig] = None, run_config: Optional[RunConfig] = None, datasets: Optional[dict[str, Any]] = None,
                 metadata: Optional[dict[str, Any]] = None, resume_from_checkpoint: Optional[Checkpoint] = None,
                 validation_config: Optional[ValidationConfig] = None):
        self.train_loop_per_worker = self._checked_function(train_loop_per_worker)
        self.train_loop_config = train_loop_config
        self.backend_config = checked("backend_config", backend_config, BackendConfig) or BackendConfig()
        self.scaling_config = checked_scaling(scaling_config)
        self.dataset_config = checked("dataset_config", dataset_config, DataConfig, ValueError)
        self.run_config = checked("run_config", run_config, RunConfig, ValueError)
        self.metadata = checked("metadata", metadata, dict) or {}
        self.resume_from_checkpoint = checked("resume_from_checkpoint", resume_from_checkpoint, Checkpoint, ValueError)
        self.validation_config = checked("validation_config", validation_config, ValidationConfig)
        self.datasets = _datasets.checked(datasets, type(self).__name__)

    def fit(self) -> Result:
        """Runs the train function on every rank, and waits for its end.

        In a process that trainrt started, the function runs on this rank and all others; elsewhere, `fit()` launches the ranks, with srun in a Slurm
        allocation and with `trainrt -n` otherwise. A run of this name that was interrupted continues from its last checkpoint. A run that has finished is
        not run again.

        Returns
        -------
        Result

        Raises
        ------
        TrainingFailedError
            If the run failed.
        RunStopped
            If the batch system or a signal stopped the run, in a script that launched the ranks.
        RuntimeError
            If it is called in a train function, in a thread of a rank, or while a child process of multiprocessing imports the script.
        """
        return _dispatch.fit(self)

    @classmethod
    def can_restore(cls, path: Union[str, "os.PathLike[str]"], storage_filesystem: Any = None) -> bool:
        """Returns whether `path` is a run directory, or the URL of a run in an object store. With `storage_filesystem`, an object of fsspec or pyarrow.fs
        for S3, Google Cloud Storage or local files, `path` is a path in it.

        Raises
        ------
        OSError
            If the object store cannot be read. The message names the URL.
        """
        return _restore.can_restore(cls, path, storage_filesystem)

    @classmethod
    def restore(cls, path: Union[str, "os.PathLike[str]"], train_loop_per_worker: Optional[Callable[..., Any]] = None,
                train_loop_config: Optional[dict[str, Any]] = None, *, storage_filesystem: Any = None, trust_owner: Optional[str] = None,
                **arguments: Any) -> "DataParallelTrainer":
        """Returns a Trainer that continues the run in a directory or an object store.

        Arguments that are not given are taken from the run's record, and so are options that a given RunConfig lacks. A note names the arguments that
        the record cannot hold, such as datasets, callbacks and environment variables. Options of a RunConfig or a backend are taken from the record only if
        processes of this user wrote it.

        Parameters
        ----------
        path : str or path-like
            Run directory, which may have been moved; or, for a run with `RunConfig(storage_path="s3://...")`, STORAGE_PATH/NAME. The run then continues in
            the directory NAME of `$TRAINRT_STORAGE`, else of `runs`. If this directory does not exist or has older checkpoints than the store, `fit()`
            first copies the run from the store; an older directory is renamed to NAME.older-1.
        train_loop_per_worker : callable, optional
            Default: the function with the recorded name in this script, or in a module that the script has imported from its folder. Nothing is
            imported. Needed if the function is a lambda or is defined in a function, or processes of another user wrote the run's trainer.json.
        train_loop_config : dict, optional
            Needed if trainer.json could not hold it.
        storage_filesystem : fsspec or pyarrow.fs filesystem, optional
            For S3, Google Cloud Storage or local files: `path` is a path in it. Its access keys are used, and are not stored.
        trust_owner : str, optional
            Users, separated by commas, whose run may be continued. Default: only this user's, and runs of the group in trust_group of trainrt.ini.
        **arguments
            Other arguments of the Trainer. `run_config` may set options only: the path sets the name and the directory of the run.

        Returns
        -------
        DataParallelTrainer

        Raises
        ------
        ValueError
            If there is no run at `path`, an argument is needed, or the local directory of a run in an object store has another run.
        OSError
            If the object store cannot be read. The message names the URL.
        """
        trainer = _restore.restored(cls, path, train_loop_per_worker, train_loop_config, arguments, storage_filesystem)
        trainer.trust_owner = trust_owner
        return trainer

    def as_trainable(self) -> "DataParallelTrainer":
        """Returns this Trainer, which `Tuner` and `tune.run()` accept as a trainable."""
        return self

    # ---- methods that fit() and a Tuner call, and that subclasses may override ----

    def set_arguments(self, values: dict[str, Any]) -> None:
        """Replaces arguments of the Trainer other than configs and datasets, in a trial of a Tuner. Raises ValueError for arguments that this Trainer
        lacks."""
        if values:
            raise ValueError(f"{type(self).__name__}: trials cannot change {', '.join(sorted(values))}; they can change {self.config_argument}, datasets, "
                             f"metadata and scaling_config")

    def train_spec(self) -> TrainSpec:
        """Returns the arguments of this Trainer that the session needs, the object that serves report() and get_checkpoint() in the train function."""
        callbacks = [each for each in (self.run_config.callbacks if self.run_config else None) or () if not isinstance(each, SinkCallback)]
        first = self.resume_from_checkpoint
        return TrainSpec(type(self).__name__, self.train_loop_config, self.scaling_config, self.run_config, self.metadata, self.datasets,
                         self._worker_datasets(), callbacks, first if first is not None and not first.is_native() else None, self.validation_config,
                         self._copies_to())

    def _copies_to(self):
        """Returns the filesystem object and the path to which rank 0 copies checkpoints, or `None`."""
        run = self.run_config
        if run is None or not isinstance(run.storage_path, PathInFilesystem):
            return self._restored_copies_to
        return run.storage_filesystem, str(run.storage_path)

    def params(self) -> dict[str, Any]:
        """Returns the content of params.json in the run directory: the config of the train function."""
        return {"train_loop_config": self.train_loop_config if self.train_loop_config is not None else {}}

    def settings(self) -> dict[str, str]:
        """Returns the configs as keys and values of trainrt's config. Writes datasets that are in memory to the storage path."""
        found = {**_settings.settings(self.scaling_config, self.run_config), **self._mirror}
        first = self.resume_from_checkpoint
        if first is not None and first.is_native():
            self._first_path = _first_checkpoint.shared_path(first, found.get("run.storage_path"), found.get("run.name"), type(self).__name__)
            found["run.resume_from_checkpoint"] = self._first_path
        found.update(self._recorded_loop())
        return {**found, **_datasets.settings(self._sections(), found.get("run.storage_path"))}

    def _sections(self):
        """Returns the datasets of the run as {name: Section}. Calls configure() of a subclass of DataConfig, once per Trainer."""
        if self._assigned is None and self.datasets and _assignment.is_custom(self.dataset_config):
            workers, is_elastic = _worker_count(self.scaling_config)
            self._assigned = _assignment.configured(self.datasets, self.dataset_config, workers, is_elastic)
        return _datasets.sections_of(self.datasets, self.dataset_config) if self._assigned is None else self._assigned.sections

    def _worker_datasets(self):
        """Returns the datasets of each worker, as {name: (section, dataset)}, if a subclass of DataConfig or a Tuner assigns them; otherwise `None`."""
        sections = self._sections()
        if self._assigned is None:
            return None
        return [{name: (section, sections[section].dataset) for name, section in worker.items()} for worker in self._assigned.workers]

    def notes(self) -> list[str]:
        """Returns a note for each argument that has no effect."""
        validation_notes = self.validation_config.notes() if self.validation_config else ()
        return [*_settings.notes(self.scaling_config, self.run_config), *validation_notes]

    def call_train_function(self) -> Any:
        """Calls the train function in this process. Returns its value."""
        if takes_config(self.train_loop_per_worker):
            return self.train_loop_per_worker(self.train_loop_config if self.train_loop_config is not None else {})
        return self.train_loop_per_worker()

    def title(self) -> str:
        """Returns a text for messages that names the function that the ranks of fit() run: 'train function train_func of train.py'."""
        script = os.path.basename(_script.of_this_process()["path"] or "this program")
        function = self.train_loop_per_worker
        while isinstance(function, functools.partial):
            function = function.func
        if getattr(function, "__module__", "").startswith("trainrt."):  # the function of a trainer for another framework
            return f"{type(self).__name__} of {script}"
        return f"train function {getattr(function, '__name__', type(function).__name__)} of {script}"

    def config_record(self) -> dict[str, Any]:
        """Returns the configs as fields of trainer.json, for restore()."""
        return _config_record.record_of(self)

    @staticmethod
    def _checked_function(function):
        """Returns the train function. Raises TypeError or ValueError if it is not one. A subclass may take other functions."""
        return checked_function(function)

    def _recorded_loop(self):
        """Returns the name of the train function and its config as keys of [loop], which a later start of the run is compared with. Returns {} if
        the config is unknown."""
        if self._config_is_unknown:
            return {}
        return {**_recorded_values.function_texts(self.train_loop_per_worker, "loop.train_loop_per_worker"),
                **_recorded_values.flat_texts(self.train_loop_config or {}, "loop.train_loop_config")}


def takes_config(function: Callable[..., Any]) -> bool:
    """Returns whether the train function has a positional parameter, which is for the config.

    Examples
    --------
    >>> from trainrt.train.data_parallel_trainer import takes_config
    >>> takes_config(lambda config: None)
    True
    """
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD, each.VAR_POSITIONAL) for each in parameters)


def _worker_count(scaling):
    """Returns the number of workers of the next fit(), and whether another start may have another number."""
    is_elastic = scaling is not None and isinstance(scaling.num_workers, tuple)
    if scaling is not None and scaling.num_workers == 0:
        return 1, False
    if _current.is_rank_program():
        return int(os.environ.get("WORLD_SIZE", "1")), is_elastic
    return (1 if scaling is None else scaling.max_workers), is_elastic
