"""A rank of a run: what a train function says goes to the runtime."""

import functools
import math
import time

from ..._support import _notes
from . import _objects, _verified
from .._results import _run_directory
from .._config._callbacks import TrainRunContext
from .._results._checkpoint import Checkpoint
from ._job import Job
from .._results._removals import Removals


_NOT_LOOKED = object()


class RuntimeSession:
    """`runtime` is the Context of this program. A train function that attached no State keeps what it needs in files of checkpoints: the
    runtime learns that at its first report."""

    def __init__(self, runtime, job=None):
        self.runtime = runtime
        self.job = job or Job()
        self._keeps_files = False  # and told the runtime so
        self._found_at_start = _NOT_LOOKED
        self._damaged = []
        self._removals = Removals()
        self._validator = None  # on rank 0, if the Trainer has a validation function

    world_rank = property(lambda self: self.runtime.world_rank)
    world_size = property(lambda self: self.runtime.world_size)
    local_rank = property(lambda self: self.runtime.local_rank)
    local_world_size = property(lambda self: self.runtime.local_world_size)
    node_rank = property(lambda self: self.runtime.node_rank)
    gpus = property(lambda self: self.runtime.gpus)
    run_name = property(lambda self: self.runtime.run_name)
    run_dir = property(lambda self: self.runtime.run_dir)
    aggregates = property(lambda self: self.runtime.aggregates)
    run_id = property(lambda self: (_run_directory.run_record(self.run_dir) or {}).get("run_id", self.run_name))

    def train_function_begins(self):
        self.runtime._train_function_begins()

    # ---- reports ----

    def report(self, metrics, checkpoint=None, directory_name=None, aggregate=False, removes=False, state=None, validation=None):
        """removes: the directory goes once it is committed; not one that the run itself may need again. state: the runtime's State of this
        checkpoint alone.
        validation: how it is to be validated, once it is committed."""
        self._restore_by_files()
        if checkpoint is not None:
            checkpoint._checked_path()
        self.remove_what_is_committed()
        removes = removes and checkpoint != self.job.first_checkpoint
        index_before = self._newest_index() if removes else -1
        self._send(metrics, checkpoint, directory_name, aggregate, state, validation)
        if validation is not None and self._validator is not None:
            self._validator.expect()
        if removes:
            self._removals.add(checkpoint, index_before)
        if self.job.callbacks:
            self._tell_callbacks(metrics, checkpoint)

    def _restore_by_files(self):
        if self.runtime._state is None and not self._keeps_files:
            self.runtime.restore()
            self._keeps_files = True
            self._check_what_was_given()

    def _check_what_was_given(self):
        """What get_checkpoint() gave before the runtime had verified it must not be newer than what the run goes on from."""
        given = self._found_at_start if self._found_at_start is not _NOT_LOOKED else None
        found = self.runtime.checkpoint() if given else None
        if found is not None and _run_directory.number_of(found["path"]) < _run_directory.number_of(given):
            raise RuntimeError(f"get_checkpoint() gave {given}, and it is damaged: the run goes on from {found['path']}. Remove it, and start "
                               f"again (trainrt verify {self.run_dir} says what is wrong)")

    def _send(self, metrics, checkpoint, directory_name, aggregate, state, validation):
        metadata = {**self.job.metadata, **checkpoint.get_metadata()} if checkpoint is not None else None
        self.runtime.report(metrics, of_first_rank=not aggregate, directory=checkpoint.path if checkpoint is not None else None,
                            metadata=metadata, directory_name=directory_name, state=state, validation=validation)

    def _tell_callbacks(self, metrics, checkpoint):
        of_ranks = self.gather(({name: getattr(value, "value", value) for name, value in metrics.items()}, checkpoint))
        if self.world_rank == 0:
            given = next((each for _, each in of_ranks if each is not None), None)
            newest = self.get_checkpoint() if given is not None else None
            for callback in self.job.callbacks:
                callback.after_report(self.run_context(), [each for each, _ in of_ranks], newest)

    def run_context(self):
        job = self.job
        return TrainRunContext(self.run_name, self.run_dir, self.world_size, job.train_loop_config, job.run_config, job.scaling_config)

    # ---- directories that were reported ----

    def remove_what_is_committed(self):
        """Waits for a commit under way, if a directory goes after it. Not collective."""
        if self._removals:
            self._removals.carry_out(self._newest_index())

    def _newest_index(self):
        """Of what is committed; -1 if there is none. A commit on its way is waited for."""
        newest = self.runtime.checkpoint()
        return newest["index"] if newest else -1

    # ---- checkpoints ----

    def look_together(self):
        """All ranks take what rank 0 finds, and verifies: a node may see a shared folder later than another. Collective."""
        found = None
        if self.world_rank == 0:
            try:
                found = (*_verified.newest(self.run_dir), None)
            except Exception as error:  # for all ranks
                found = (None, [], str(error))
        self._found_at_start, self._damaged, error = self.broadcast(found)
        if error is not None:
            raise RuntimeError(error)

    def get_checkpoint(self):
        """The newest with files. One that is on its way is waited for. Not collective."""
        if self._wait_for_newest():
            path = self._newest_committed()
        else:
            if self._found_at_start is _NOT_LOOKED:  # the train function runs without fit()
                self._found_at_start, self._damaged = _verified.newest(self.run_dir)
            path = self._found_at_start
        return Checkpoint(path) if path else self.job.first_checkpoint

    def _newest_committed(self):
        """The runtime has verified what was there, and wrote the rest."""
        whole = [path for path, _ in _run_directory.with_directories(self.run_dir) if path not in self._damaged]
        return whole[-1] if whole else None

    def _wait_for_newest(self):
        """False before the first report and restore(), when none can be on its way."""
        begun = self._keeps_files or self.runtime._state is not None
        if begun:
            self._removals.carry_out(self._newest_index())
        return begun

    def reported_checkpoints(self):
        """[(Checkpoint, its metrics)] of those that are kept, oldest first."""
        self._wait_for_newest()
        metrics = _run_directory.own_metrics(self.run_dir)
        return [(Checkpoint(path), {**(metrics.get(manifest.get("iteration")) or _run_directory.metrics_in(manifest)),
                                    **_run_directory.validated_metrics(path, manifest)})
                for path, manifest in _run_directory.reported(self.run_dir) if path not in self._damaged]

    # ---- validation of checkpoints, beside the training ----

    def begin_validations(self, validator):
        """On rank 0. Those of an earlier attempt that were not validated any more go on."""
        self._validator = validator

    def wait_for_validations(self):
        """At the end of the train function: what awaits its validation is waited for. The run may be stopped meanwhile. Collective."""
        if self.job.validation is None or not self._wait_for_newest():
            return
        self._newest_index()
        told_at_s = time.monotonic()
        while not self.broadcast(self._validator.wait(1.0) if self._validator else None):
            self.runtime.stop_point()
            if self._validator and time.monotonic() - told_at_s >= 60:
                told_at_s = time.monotonic()
                self.runtime.log(f"the training is done; {self._validator.under_way()} is being validated")

    def end_validations(self):
        if self._validator is not None:
            self._validator.end()
            self._validator = None

    def wait_until_validated(self, timeout_s=None):
        """Not collective: rank 0 works on them by itself."""
        if self.job.validation is None or not self._wait_for_newest():
            return
        until_s = math.inf if timeout_s is None else time.monotonic() + timeout_s
        pause_s = 0.05
        while _run_directory.awaiting_validation(self.run_dir) and time.monotonic() < until_s:
            time.sleep(pause_s)
            pause_s = min(1.5 * pause_s, 1.0)

    # ---- datasets ----

    def has_dataset(self, name):
        return self.runtime.has_dataset(name)

    def shard(self, name, dataset):
        """The place in the data is in checkpoints: they are found before the first batch."""
        found = self.runtime.dataset(name, dataset, self._restore_by_files)
        if self.world_rank == 0 and self.world_size > 1:
            found.at_padding = functools.partial(self._note_padding, name)
        return found

    def _note_padding(self, name, count):
        """A note, if an epoch in the order of the samples, as in evaluation, has repeated some of them."""
        repeated = -count % self.world_size
        config = (_run_directory.run_record(self.run_dir) or {}).get("config", {}) if repeated else {}
        if config and config.get(f"data.{name}.shuffle") != "true" and config.get(f"data.{name}.split") != "false":
            _notes.say(f"warning: the last batches of the dataset '{name}' repeat {repeated} of its {count} samples, so that all {self.world_size} ranks "
                       f"have as many: sums and means of an evaluation count them twice. remainder='uneven' gives each sample once, 'drop' leaves out "
                       f"the rest, and remainder='pad' repeats them without this note")

    # ---- the other ranks ----

    def barrier(self):
        self.runtime.barrier()

    def broadcast(self, value, root=0):
        return _objects.broadcast(self.runtime, value, root)

    def gather(self, value):
        return _objects.gather(self.runtime, value)
