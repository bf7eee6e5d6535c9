"""Trainer of Ray Train 1.x. Each of its runs is a run of a DataParallelTrainer."""

import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Optional, Union

from ..._support import _notes, _plain_tree, _private_folder
from ..._support._storage import default_storage
from .._config._checkpoint import CheckpointConfig
from .._config._failure import FailureConfig
from .._config._run import RunConfig
from .._config._scaling import ScalingConfig
from .._fit._by_launch import LaunchedRun
from .._fit._run_names import default_name
from .._results import _run_directory
from .._results._checkpoint import Checkpoint
from .._results._result import Result
from .._sessions import _current
from ..backend import BackendConfig
from ..data_parallel_trainer import DataParallelTrainer
from . import _callbacks
from ._backends import backend_config
from ._tune_trainable import TuneTrainable

_POLL_S = 0.02


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
    """Trainer of Ray Train 1.x: each `run()` is a run in `logdir/run_001`, `logdir/run_002` and so on. Only in a script that trainrt did not start.

    Parameters
    ----------
    backend : {'torch', 'tensorflow', 'horovod'} or BackendConfig, default 'torch'
        Framework of the train functions.
    num_workers : int, default 1
        Number of ranks.
    use_gpu : bool, default False
    resources_per_worker : dict, optional
        As in ScalingConfig.
    logdir : str or path-like, optional
        Directory of the runs, relative to the default storage path. Default: `train`, with the Slurm job or the date.
    max_retries : int, default 3
        How many times a failed run is restarted.

    Raises
    ------
    RuntimeError
        In a process that trainrt started.
    ValueError
        If an argument is invalid.

    Examples
    --------
    >>> from trainrt.train import BackendConfig, Trainer
    >>> trainer = Trainer(BackendConfig(), num_workers=2, logdir="/scratch/train")
    >>> print(trainer.latest_run_dir)
    None

    In a script that is started by `python3`::

        trainer = Trainer(backend="torch", num_workers=2)
        trainer.start()
        losses = trainer.run(train_func, config={"epochs": 3})
        trainer.shutdown()
    """

    def __init__(self, backend: Union[str, BackendConfig] = "torch", num_workers: int = 1, use_gpu: bool = False,
                 resources_per_worker: Optional[dict[str, float]] = None, logdir: Union[str, "os.PathLike[str]", None] = None, max_retries: int = 3):
        if _current.is_rank_program():
            raise RuntimeError("Trainer of Ray Train 1.x launches its ranks itself; start the script without trainrt: python3 train.py")
        self._backend = backend_config(backend)
        self._scaling = ScalingConfig(num_workers=num_workers, use_gpu=use_gpu, resources_per_worker=resources_per_worker)
        self._retries = max_retries
        storage = default_storage()
        self.logdir = Path(os.path.join(storage, os.path.expanduser(os.fspath(logdir or default_name("train", storage)))))
        self._runs = 0
        self._result: Optional[Result] = None

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
            Dataset that `get_dataset_shard()` returns this rank's shard of, or datasets by the name that it is called with.
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
        iterator = self.run_iterator(train_func, config, dataset, checkpoint, checkpoint_strategy)
        callbacks, failed = list(callbacks or ()), True
        for callback in callbacks:
            callback.start_training(logdir=str(self.latest_run_dir), config=config or {})
        try:
            for results in iterator:
                for callback in callbacks:
                    callback.handle_result(results)
            failed = False
        finally:
            iterator.close()
            for callback in callbacks:
                callback.finish_training(error=failed)
        return iterator.get_final_results()

    def run_iterator(self, train_func: Callable, config: Optional[dict[str, Any]] = None, dataset: Any = None, checkpoint: Optional[dict[str, Any]] = None,
                     checkpoint_strategy: Optional[CheckpointStrategy] = None) -> "TrainingIterator":
        """Starts a run, with the arguments of `run()`. Returns an iterator over the reports of all ranks."""
        self._runs += 1
        self._result = None
        name = f"run_{self._runs:03d}"
        run_config = RunConfig(name=name, storage_path=str(self.logdir), failure_config=FailureConfig(self._retries),
                               checkpoint_config=(checkpoint_strategy or CheckpointStrategy()).config())
        os.makedirs(self.logdir / name, exist_ok=True)
        trainer = DataParallelTrainer(train_func, train_loop_config=config, backend_config=self._backend, scaling_config=self._scaling,
                                      run_config=run_config, datasets=_datasets_of(dataset))
        return TrainingIterator(trainer, self, checkpoint)

    def to_tune_trainable(self, train_func: Callable, dataset: Any = None) -> TuneTrainable:
        """Returns a trainable for `tune.run()`. Each trial is a run of `train_func` on `num_workers` ranks, with the config of the trial."""
        return TuneTrainable(train_func, backend_config=self._backend, scaling_config=self._scaling, datasets=_datasets_of(dataset),
                             run_config=RunConfig(failure_config=FailureConfig(self._retries)))

    # ---- results of the last run ----

    @property
    def latest_run_dir(self) -> Optional[Path]:
        """Run directory of the last run, or `None` before the first."""
        return self.logdir / f"run_{self._runs:03d}" if self._runs else None

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


class TrainingIterator:
    """Iterates over the reports of a run. Each item is a list with the metrics of all ranks. Returned by `Trainer.run_iterator()`.

    Examples
    --------
    >>> iterator = trainer.run_iterator(train_func)  # doctest: +SKIP
    >>> for results in iterator:  # doctest: +SKIP
    ...     print(results[0]["loss"])
    >>> values = iterator.get_final_results()  # doctest: +SKIP
    """

    def __init__(self, trainer: DataParallelTrainer, owner: Trainer, first: Optional[dict[str, Any]]):
        self._rank_count = owner._scaling.min_workers
        self._folder = _private_folder.make(str(owner.logdir))
        self._results_path = os.path.join(self._folder, "reports.jsonl")
        if first is not None:
            os.mkdir(os.path.join(self._folder, "first"))
            _plain_tree.save(os.path.join(self._folder, "first"), first)
            trainer.resume_from_checkpoint = Checkpoint(os.path.join(self._folder, "first"))
        trainer.run_config.callbacks = [_callbacks.ResultWriter(self._results_path)]
        self._error: Optional[BaseException] = None
        self._run, self._position, self._returned = LaunchedRun(trainer), 0, []
        if self._run.is_finished():
            _notes.say(f"the run {self._run.run_dir} has finished already; nothing is trained, and the values that the function returned are None. Choose "
                       f"another Trainer(logdir=...) for new runs")
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def _work(self):
        try:
            with self._run.exchange() as script:
                self._run.start(script, {"all_return": True})
                self._returned = [self._run.returned(script, rank) for rank in range(self._rank_count)]
        except BaseException as error:  # raised in the thread that iterates
            self._error = error

    def __iter__(self) -> Iterator[list[dict[str, Any]]]:
        while True:
            ended = not self._thread.is_alive()
            results, self._position = _callbacks.read_results(self._results_path, self._position)
            yield from results
            if ended:
                break
            self._thread.join(_POLL_S)
        self.close()
        if self._error is not None:
            raise self._error

    def close(self) -> None:
        """Stops the ranks if they run, and waits until they have exited."""
        if self._thread.is_alive():
            self._run.stop()
            self._thread.join()
        _private_folder.remove(self._folder)

    def is_finished(self) -> bool:
        """Returns whether the run has ended."""
        return not self._thread.is_alive()

    def get_final_results(self, force: bool = False) -> list[Any]:
        """Returns the values that the function returned, by rank.

        Parameters
        ----------
        force : bool, default False
            Whether to wait for the end of the run.

        Raises
        ------
        RuntimeError
            If the run has not ended, and `force` is False.
        TrainingFailedError
            If the run failed.
        """
        if force:
            for _ in self:
                pass
        if self._thread.is_alive():
            raise RuntimeError("get_final_results(): the run has not ended; iterate to its end, or pass force=True")
        if self._error is not None:
            raise self._error
        return self._returned


def _datasets_of(dataset):
    return dataset if dataset is None or isinstance(dataset, dict) else {"train": dataset}
