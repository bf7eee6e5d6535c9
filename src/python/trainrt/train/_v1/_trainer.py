"""Trainer of Ray Train 1.x. Each of its runs is a run of a DataParallelTrainer."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, NoReturn, Optional, Union

from ..._support import _notes, _plain_tree
from .._config._checkpoint import CheckpointConfig
from .._config._failure import FailureConfig
from .._config._run import RunConfig
from .._config._scaling import ScalingConfig
from .._fit import _dispatch
from .._results import _run_directory
from .._results._result import Result
from .._sessions import _current
from ..backend import BackendConfig
from ..data_parallel_trainer import DataParallelTrainer
from . import _callbacks
from ._backends import backend_config, checked_backend
from ._in_ranks import RankRuns
from ._iterator import TrainingIterator
from ._launched import LaunchedRuns
from ._tune_trainable import TuneTrainable


@dataclass
class CheckpointStrategy:
    """Which checkpoints of `save_checkpoint()` are kept.

    Parameters
    ----------
    num_to_keep : int, optional
        Number of best checkpoints to keep, plus the latest. Default: all. 0 keeps the latest, which a restart needs.
    checkpoint_score_attribute : str, optional
        Metric that ranks the checkpoints. Default: the newest are the best.
    checkpoint_score_order : {'max', 'min'}, default 'max'
        Whether the highest or the lowest value is the best.

    Examples
    --------
    >>> from trainrt.train import CheckpointStrategy
    >>> CheckpointStrategy(num_to_keep=0).config().num_to_keep
    1
    """

    num_to_keep: Optional[int] = None
    checkpoint_score_attribute: Optional[str] = None
    checkpoint_score_order: str = "max"

    def config(self) -> CheckpointConfig:
        """Returns the CheckpointConfig of this strategy."""
        return CheckpointConfig(self.num_to_keep if self.num_to_keep != 0 else 1, self.checkpoint_score_attribute, self.checkpoint_score_order)


class Trainer:
    """Trainer of Ray Train 1.x: each `run()` is a run in `logdir/run_001`, `logdir/run_002` and so on.

    In a script that trainrt started, all ranks create the Trainer and call its methods, in the same order. The train functions run on these ranks, and
    callbacks are called on rank 0.

    Parameters
    ----------
    backend : {'torch', 'tensorflow', 'horovod'} or BackendConfig, default 'torch'
        Framework of the train functions.
    num_workers : int, default 1
        Number of ranks. In a script that trainrt started: the number of launched ranks.
    use_gpu : bool, default False
    resources_per_worker : dict, optional
        As in ScalingConfig.
    logdir : str or path-like, optional
        Directory of the runs, relative to the default storage path. Default: `train`, with the Slurm job or the date. In a script that trainrt started,
        the default is the storage path, and the runs have the default names of runs.
    max_retries : int, default 3
        How many times a failed run is restarted.

    Raises
    ------
    ValueError
        If an argument is invalid.

    Examples
    --------
    >>> from trainrt.train import BackendConfig, Trainer
    >>> trainer = Trainer(BackendConfig(), num_workers=2, logdir="/scratch/train")
    >>> print(trainer.latest_run_dir)
    None

    In a script::

        trainer = Trainer(backend="torch", num_workers=2)
        trainer.start()
        losses = trainer.run(train_func, config={"epochs": 3})
        trainer.shutdown()
    """

    def __init__(self, backend: Union[str, BackendConfig] = "torch", num_workers: int = 1, use_gpu: bool = False,
                 resources_per_worker: Optional[dict[str, float]] = None, logdir: Union[str, "os.PathLike[str]", None] = None, max_retries: int = 3):
        self._backend = checked_backend(backend)
        self._scaling = ScalingConfig(num_workers=num_workers, use_gpu=use_gpu, resources_per_worker=resources_per_worker)
        self._retries = max_retries
        self._runs = RankRuns(logdir) if _current.is_rank_program() else LaunchedRuns(logdir)
        self._count = 0
        self._result: Optional[Result] = None

    @property
    def logdir(self) -> Path:
        """Directory that contains the runs."""
        return self._runs.logdir

    def start(self, initialization_hook: Optional[Callable] = None) -> None:
        """Does nothing: the ranks start in `run()`."""
        if initialization_hook is not None:
            _notes.say("Trainer.start(initialization_hook=...) changes nothing: call the hook in the train function")

    def shutdown(self) -> None:
        """Does nothing: the ranks exit at the end of `run()`."""

    def run(self, train_func: Callable, config: Optional[dict[str, Any]] = None, callbacks: Optional[Sequence[_callbacks.TrainingCallback]] = None,
            dataset: Any = None, checkpoint: Optional[dict[str, Any]] = None, checkpoint_strategy: Optional[CheckpointStrategy] = None) -> list[Any]:
        """Runs the function on all ranks.

        Parameters
        ----------
        train_func : callable
            Function without arguments, or of the config.
        config : dict, optional
        callbacks : sequence of TrainingCallback, optional
        dataset : trainrt.data.Dataset or dict of str to Dataset, optional
            One dataset, or datasets by name. `get_dataset_shard()` returns this rank's shard of a dataset.
        checkpoint : dict, optional
            Values that `load_checkpoint()` returns before the first `save_checkpoint()`.
        checkpoint_strategy : CheckpointStrategy, optional

        Returns
        -------
        list
            Values that the function returned, by rank.

        Raises
        ------
        TrainingFailedError
            If the run fails.
        """
        trainer = self._trainer_of(train_func, config, dataset, checkpoint_strategy)
        return self._runs.run(trainer, checkpoint, _callbacks.Listeners(callbacks, config))

    def run_iterator(self, train_func: Callable, config: Optional[dict[str, Any]] = None, dataset: Any = None, checkpoint: Optional[dict[str, Any]] = None,
                     checkpoint_strategy: Optional[CheckpointStrategy] = None) -> TrainingIterator:
        """Starts a run, with the arguments of `run()`. Returns an iterator over the reports of all ranks. In a script that trainrt started, it returns at
        the end of the run, and raises the errors of the run."""
        return self._runs.iterator(self._trainer_of(train_func, config, dataset, checkpoint_strategy), checkpoint)

    def to_worker_group(self, train_cls: type, *args: Any, **kwargs: Any) -> NoReturn:
        """Raises NotImplementedError: the ranks are not actors."""
        name = getattr(train_cls, "__name__", "Class")
        raise NotImplementedError(f"Trainer.to_worker_group({name}): trainrt has no actors. Create the object in a train function, and call its methods there: "
                                  f"trainer.run(lambda: {name}(...).train())")

    def _trainer_of(self, train_func, config, dataset, strategy):
        _dispatch.require_script("Trainer.run()")
        self._count += 1
        self._result = None
        run_config = RunConfig(**self._runs.location(self._count), failure_config=FailureConfig(self._retries),
                               checkpoint_config=(strategy or CheckpointStrategy()).config())
        return DataParallelTrainer(train_func, train_loop_config=config, backend_config=backend_config(self._backend), scaling_config=self._scaling,
                                   run_config=run_config, datasets=_datasets_of(dataset))

    def to_tune_trainable(self, train_func: Callable, dataset: Any = None) -> TuneTrainable:
        """Returns a trainable for `tune.run()`. Each trial is a run of `train_func` on `num_workers` ranks, with the config of the trial."""
        return TuneTrainable(train_func, backend_config=backend_config(self._backend), scaling_config=self._scaling, datasets=_datasets_of(dataset),
                             run_config=RunConfig(failure_config=FailureConfig(self._retries)))

    # ---- results of the last run ----

    @property
    def latest_run_dir(self) -> Optional[Path]:
        """Run directory of the last run, or `None` before the first."""
        return self._runs.run_dir

    @property
    def latest_checkpoint_dir(self) -> Optional[Path]:
        """Directory that contains the checkpoints: the run directory."""
        return self.latest_run_dir

    @property
    def latest_checkpoint(self) -> Optional[dict[str, Any]]:
        """Values of the newest `save_checkpoint()` of the last run, or `None`."""
        checkpoint = self._last_result().checkpoint if self._last_result() else None
        return _plain_tree.load(checkpoint.path) if checkpoint else None

    @property
    def best_checkpoint_path(self) -> Optional[Path]:
        """Best checkpoint of the last run by its CheckpointStrategy; without a score, the newest; or `None`."""
        best = self._last_result().best_checkpoints if self._last_result() else []
        return Path(best[-1][0].path) if best else None

    def _last_result(self):
        run_dir = self.latest_run_dir
        if self._result is None and run_dir is not None and _run_directory.run_record(run_dir):
            self._result = Result.from_path(run_dir)
        return self._result


def _datasets_of(dataset):
    return dataset if dataset is None or isinstance(dataset, dict) else {"train": dataset}
