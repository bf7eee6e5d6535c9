"""Runs of a Trainer of Ray Train 1.x in a script that trainrt started: all ranks call the Trainer, and the train functions run on them."""

import os
import pickle
import tempfile
from pathlib import Path

from ... import _client
from ..._client.values import kind_of
from ..._support import _notes, _plain_tree
from .._fit import _in_rank, _outcomes
from .._results._checkpoint import Checkpoint
from . import _callbacks
from ._iterator import TrainingIterator, note_finished


class RankRuns:
    """The runs of a Trainer. With `logdir` they are `logdir/run_001` and so on; without, they have the default names of runs, which the command line of
    trainrt can set."""

    def __init__(self, logdir):
        storage = os.path.dirname(_client.launch_run_dir())
        self._has_logdir = logdir is not None
        self.logdir = Path(os.path.join(storage, os.path.expanduser(os.fspath(logdir or ""))))
        self.run_dir = None  # directory of the last run

    def location(self, number):
        """Returns the arguments of the RunConfig of run `number`, from 1, that set its directory."""
        return {"name": f"run_{number:03d}", "storage_path": str(self.logdir)} if self._has_logdir else {}

    def run(self, trainer, first, listeners):
        """Runs the DataParallelTrainer on the ranks of this launch, and calls the listeners on rank 0. Returns the values of the train function, by rank, on
        all ranks. `first`: values of the checkpoint that the run begins with, or `None`. Collective."""
        return self._train(trainer, first, _Listening(self, listeners), lambda session: None)

    def iterator(self, trainer, first):
        """Runs the DataParallelTrainer to its end. Returns a TrainingIterator over its reports, on all ranks. Collective."""
        kept = _Keeping(self)

        def share(session):
            kept.reports = session.broadcast(kept.reports)

        return _CompletedIterator(self._train(trainer, first, kept, share), kept.reports)

    def begins(self, run_dir):
        self.run_dir = Path(run_dir)

    def _train(self, trainer, first, callback, share):
        trainer.run_config.callbacks = [callback]

        def values_of_all_ranks(session, returned):
            share(session)
            return _gathered(session, returned)

        has_failed = True
        with tempfile.TemporaryDirectory(prefix="trainrt_v1_") as folder:
            if first is not None:
                _plain_tree.save(folder, first)
                trainer.resume_from_checkpoint = Checkpoint(folder)
            try:
                result = _in_rank.fit(trainer, values_of_all_ranks)
                has_failed = False
            finally:
                callback.end(has_failed)
        self.run_dir = Path(result.path)
        if result.return_value is None:
            note_finished(result.path)
            return [None] * _client.context().world_size
        return result.return_value


class _Listening(_callbacks.ReportCounter):
    """Calls the listeners on rank 0, at each report."""

    def __init__(self, runs, listeners):
        super().__init__()
        self._runs, self._listeners, self._has_begun = runs, listeners, False

    def _resume_from(self, checkpoint):
        super()._resume_from(checkpoint)
        run_dir = _client.context().run_dir
        self._runs.begins(run_dir)
        self._has_begun = True
        self._listeners.start(run_dir)

    def _take(self, results):
        self._listeners.handle(results)

    def end(self, has_failed):
        if self._has_begun:
            self._listeners.finish(has_failed)


class _Keeping(_Listening):
    """Collects the results of all reports in memory, on rank 0."""

    def __init__(self, runs):
        super().__init__(runs, _callbacks.Listeners((), None))
        self.reports = []

    def _take(self, results):
        self.reports.append(results)


class _CompletedIterator(TrainingIterator):
    """Iterates over the reports of a run that has ended."""

    def __init__(self, returned, reports):
        self._returned, self._reports = returned, iter(reports)

    def __iter__(self):
        return self._reports

    def is_finished(self):
        return True

    def get_final_results(self, force=False):
        return self._returned


def _gathered(session, returned):
    """Returns, on every rank, the list of the ranks' values of `returned`, in rank order. A value that cannot be pickled is `None` on the other ranks.
    Collective."""
    failure = None
    try:
        data = _pickled(returned)
    except Exception as error:  # an object's __reduce__ may raise any exception
        data, failure = pickle.dumps(None), f"{kind_of(returned)} cannot be pickled: {error}"
    values = []
    for rank, (part, problem) in enumerate(session.gather((data, failure))):
        if problem:
            _notes.warn(f"Trainer.run() returns None for rank {rank} on the other ranks: {problem}")
        values.append(returned if rank == session.world_rank else pickle.loads(part))
    return values


def _pickled(value):
    """Pickles classes and functions of the script by name, since all ranks run the script; others by cloudpickle, if it is installed."""
    try:
        return pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    except Exception:  # for example, a lambda
        return _outcomes.pickled(value)
