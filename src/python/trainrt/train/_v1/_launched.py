"""Runs of a Trainer of Ray Train 1.x in a script that launches the ranks."""

import os
import threading
from pathlib import Path

from ..._support import _plain_tree, _private_folder
from ..._support._storage import default_storage
from .._fit._by_launch import LaunchedRun
from .._fit._run_names import default_name
from .._results._checkpoint import Checkpoint
from . import _callbacks
from ._iterator import TrainingIterator, note_finished

_POLL_S = 0.02


class LaunchedRuns:
    """The runs of a Trainer, in `logdir/run_001`, `logdir/run_002` and so on. Each run launches its ranks."""

    def __init__(self, logdir):
        storage = default_storage()
        self.logdir = Path(os.path.join(storage, os.path.expanduser(os.fspath(logdir or default_name("train", storage)))))
        self.run_dir = None  # directory of the last run

    def location(self, number):
        """Returns the arguments of the RunConfig of run `number`, from 1, that set its directory."""
        return {"name": f"run_{number:03d}", "storage_path": str(self.logdir)}

    def run(self, trainer, first, listeners):
        """Runs the DataParallelTrainer, and calls the listeners in this process. Returns the values of the train function, by rank. `first`: values of the
        checkpoint that the run begins with, or `None`."""
        iterator = self.iterator(trainer, first)
        listeners.start(str(self.run_dir))
        has_failed = True
        try:
            for results in iterator:
                listeners.handle(results)
            has_failed = False
        finally:
            iterator.close()
            listeners.finish(has_failed)
        return iterator.get_final_results()

    def iterator(self, trainer, first):
        """Starts the DataParallelTrainer. Returns a TrainingIterator."""
        self.run_dir = self.logdir / trainer.run_config.name
        self.run_dir.mkdir(parents=True, exist_ok=True)
        return _LaunchedIterator(trainer, str(self.logdir), first)


class _LaunchedIterator(TrainingIterator):
    """Launches the ranks in a thread, and reads the results that rank 0 writes to a file."""

    def __init__(self, trainer, logdir, first):
        self._rank_count = trainer.scaling_config.num_workers
        self._folder = _private_folder.make(logdir)
        self._results_path = os.path.join(self._folder, "reports.jsonl")
        if first is not None:
            os.mkdir(os.path.join(self._folder, "first"))
            _plain_tree.save(os.path.join(self._folder, "first"), first)
            trainer.resume_from_checkpoint = Checkpoint(os.path.join(self._folder, "first"))
        trainer.run_config.callbacks = [_callbacks.ResultWriter(self._results_path)]
        self._run, self._error, self._position, self._returned = LaunchedRun(trainer), None, 0, []
        if self._run.is_finished():
            note_finished(self._run.run_dir)
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def _work(self):
        try:
            with self._run.exchange() as script:
                self._run.start(script, {"all_return": True})
                self._returned = [self._run.returned(script, rank) for rank in range(self._rank_count)]
        except BaseException as error:  # raised in the thread that iterates
            self._error = error

    def __iter__(self):
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

    def close(self):
        if self._thread.is_alive():
            self._run.stop()
            self._thread.join()
        _private_folder.remove(self._folder)

    def is_finished(self):
        return not self._thread.is_alive()

    def get_final_results(self, force=False):
        if force:
            for _ in self:
                pass
        if self._thread.is_alive():
            raise RuntimeError("get_final_results(): the run has not ended; iterate to its end, or pass force=True")
        if self._error is not None:
            raise self._error
        return self._returned
