"""Trainer of Ray Train 1.x: start(), run(), run_iterator(), shutdown(). A thin layer: each run is a run of a DataParallelTrainer."""

import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from ..._support import _notes, _plain_tree, _private_folder
from .._results import _run_directory
from .._sessions import _session
from . import _v1_callbacks
from .._results._checkpoint import Checkpoint
from .._config._checkpoint_config import CheckpointConfig
from .._config._failure_config import FailureConfig
from .._fit._launch import Run, default_storage, job_of_slurm, name_in_job
from .._results._result import Result
from .._config._run_config import RunConfig
from .._config._scaling_config import ScalingConfig
from ..backend import BackendConfig
from ..data_parallel_trainer import DataParallelTrainer

_POLL_S = 0.02


@dataclass
class CheckpointStrategy:
    """Of the checkpoints of save_checkpoint(), which are kept. 0 keeps the newest here: a restart needs it."""

    num_to_keep: Optional[int] = None
    checkpoint_score_attribute: Optional[str] = None
    checkpoint_score_order: str = "max"

    def config(self):
        return CheckpointConfig(self.num_to_keep if self.num_to_keep != 0 else 1, self.checkpoint_score_attribute, self.checkpoint_score_order)


def _backend_of(backend):
    if isinstance(backend, BackendConfig):
        return backend
    if backend == "torch":
        from ..torch import TorchConfig
        return TorchConfig()
    if backend == "tensorflow":
        from ..tensorflow import TensorflowConfig
        return TensorflowConfig()
    if backend == "horovod":
        from ..horovod import HorovodConfig
        return HorovodConfig()
    raise ValueError(f"Trainer(backend={backend!r}): it must be 'torch', 'tensorflow', 'horovod', or a BackendConfig")


class Trainer:
    """Each run() is a run directory logdir/run_001 and so on; it returns what the function returned on each rank."""

    def __init__(self, backend="torch", num_workers=1, use_gpu=False, resources_per_worker=None, logdir=None, max_retries=3):
        if _session.is_program_of_a_rank():
            raise RuntimeError("Trainer of Ray Train 1.x starts its ranks itself: start the script without trainrt (python3 train.py)")
        self._backend = _backend_of(backend)
        self._scaling = ScalingConfig(num_workers=num_workers, use_gpu=use_gpu, resources_per_worker=resources_per_worker)
        self._retries = max_retries
        name = name_in_job("train") if job_of_slurm() else f"train_{time.strftime('%Y-%m-%d_%H-%M-%S')}"
        self.logdir = Path(os.path.join(default_storage(), os.path.expanduser(os.fspath(logdir or name))))
        self._runs = 0
        self._result = None

    def start(self, initialization_hook=None):
        """Nothing: ranks start with a run."""
        if initialization_hook is not None:
            _notes.say("Trainer.start(initialization_hook=...) changes nothing: call it in the train function")

    def shutdown(self):
        """Nothing: ranks end with their run."""

    def run(self, train_func, config=None, callbacks=None, dataset=None, checkpoint=None, checkpoint_strategy=None):
        """Runs the function on all ranks; returns what each returned."""
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

    def run_iterator(self, train_func, config=None, dataset=None, checkpoint=None, checkpoint_strategy=None):
        """Starts the run; iterates over what all ranks report, as they do."""
        if dataset is not None:
            raise ValueError("Trainer.run(dataset=...): a dataset is given to a DataParallelTrainer or TorchTrainer, by datasets=; or opened in the train function")
        self._runs += 1
        self._result = None
        run_config = RunConfig(name=f"run_{self._runs:03d}", storage_path=str(self.logdir), failure_config=FailureConfig(self._retries),
                               checkpoint_config=(checkpoint_strategy or CheckpointStrategy()).config())
        os.makedirs(self.latest_run_dir, exist_ok=True)
        trainer = DataParallelTrainer(train_func, train_loop_config=config, backend_config=self._backend, scaling_config=self._scaling,
                                      run_config=run_config)
        return TrainingIterator(trainer, self, checkpoint)

    # ---- where things are ----

    @property
    def latest_run_dir(self):
        """None before the first run."""
        return self.logdir / f"run_{self._runs:03d}" if self._runs else None

    @property
    def latest_checkpoint_dir(self):
        """The folder with the checkpoints: the run directory."""
        return self.latest_run_dir

    @property
    def latest_checkpoint(self):
        """What the newest save_checkpoint() of the last run had; None if there was none."""
        checkpoint = self._last_result().checkpoint if self._last_result() else None
        return _plain_tree.load(checkpoint.path) if checkpoint else None

    @property
    def best_checkpoint_path(self):
        """Of the last run, by its CheckpointStrategy; the newest without a score."""
        best = self._last_result().best_checkpoints if self._last_result() else []
        return Path(best[-1][0].path) if best else None

    def _last_result(self):
        if self._result is None and self._runs and _run_directory.run_record(self.latest_run_dir):
            self._result = Result.from_path(self.latest_run_dir)
        return self._result


class TrainingIterator:
    """What all ranks reported, a list a report; get_final_results() has what the function returned on each."""

    def __init__(self, trainer, owner, first):
        self._ranks = owner._scaling.num_workers
        self._folder = _private_folder.make(str(owner.logdir))
        self._reports = os.path.join(self._folder, "reports.jsonl")
        if first is not None:
            os.mkdir(os.path.join(self._folder, "first"))
            _plain_tree.save(os.path.join(self._folder, "first"), first)
            trainer.resume_from_checkpoint = Checkpoint(os.path.join(self._folder, "first"))
        trainer.run_config.callbacks = [_v1_callbacks.Relay(self._reports)]
        self._run, self._error, self._returned, self._at = Run(trainer), None, None, 0
        if self._run.is_finished():
            _notes.say(f"the run {self._run.run_dir} has finished already, and nothing is trained: what the function returned is not kept, so "
                       f"it is None for each rank. Another Trainer(logdir=...) has new runs")
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def _work(self):
        try:
            self._run.start(self._folder, {"all_return": True})
            self._returned = [self._run.returned(self._folder, rank) for rank in range(self._ranks)]
        except BaseException as error:  # for the thread that iterates
            self._error = error

    def __iter__(self):
        while True:
            ended = not self._thread.is_alive()
            results, self._at = _v1_callbacks.results_in(self._reports, self._at)
            yield from results
            if ended:
                break
            self._thread.join(_POLL_S)
        self.close()
        if self._error is not None:
            raise self._error

    def close(self):
        """Stops the ranks, if they run, and waits for their end."""
        if self._thread.is_alive():
            self._run.stop()
            self._thread.join()
        _private_folder.remove(self._folder)

    def is_finished(self):
        return not self._thread.is_alive()

    def get_final_results(self, force=False):
        """What each rank returned; waits for the end if force."""
        if force:
            for _ in self:
                pass
        if self._thread.is_alive():
            raise RuntimeError("get_final_results(): the run goes on; iterate to its end, or give force=True")
        if self._error is not None:
            raise self._error
        return self._returned
