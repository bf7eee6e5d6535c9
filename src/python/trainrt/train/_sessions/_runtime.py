"""RuntimeSession: the session of a rank that trainrt started. Reports and collectives go to the runtime."""

import contextlib
import functools
import math
import time

from ..._support import _notes
from .._results import _run_directory
from .._results._checkpoint import Checkpoint
from .._results._deferred_removals import DeferredRemovals
from . import _newest_intact, _objects
from ._artifacts import Artifacts
from ._callbacks import TrainRunContext
from ._spec import TrainSpec
from ._store_copies import StoreCopies

_NOT_SEARCHED = object()
_LOG_INTERVAL_S = 60  # interval between log lines while the run waits for validations


class RuntimeSession:
    """Session of a rank.

    `runtime`: the Context of this process. A train function without a State saves its state in files of checkpoints, which the runtime learns at the
    first report.
    """

    def __init__(self, runtime, spec=None):
        self.runtime = runtime
        self.spec = spec or TrainSpec()
        self._restored_from_files = False  # whether restore_from_files() has notified the runtime that the state is saved in files
        self._first_found = _NOT_SEARCHED  # path of the newest intact checkpoint when the train function started, or `None`
        self._damaged = []  # paths of newer checkpoints, which are damaged
        self._removals = DeferredRemovals()
        self._copies = None  # set on rank 0 if the RunConfig has a filesystem object that only Python can use
        self._validator = None  # set on rank 0 if the Trainer has a validation_config
        sync = self.spec.run_config.sync_config if self.spec.run_config is not None else None
        self._artifacts = Artifacts(runtime.run_dir, sync) if sync is not None and sync.sync_artifacts else None

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
        if self._artifacts is not None:
            self._artifacts.begin()
        self.runtime._train_function_begins()

    def copy_artifacts(self):
        """Copies files of the working directory into the run directory, if the RunConfig asks for it. Called at the end of the train function."""
        if self._artifacts is not None:
            self._artifacts.copy()

    # ---- reports ----

    def report(self, metrics, checkpoint=None, directory_name=None, aggregate=False, removes=False, state=None, validation=None):
        """Reports metrics and an optional checkpoint. Collective.

        `removes`: remove the reported directory after the commit, unless the run may need it again. `state`: a State of the runtime, saved in this
        checkpoint only. `validation`: validation request for the manifest.
        """
        self.restore_from_files()
        removes = removes and checkpoint != self.spec.first_checkpoint
        with checkpoint.as_directory() if checkpoint is not None else contextlib.nullcontext() as directory:
            self.remove_committed_directories()
            index_before = self.newest_index() if removes else -1
            self._send(metrics, checkpoint, directory, directory_name, aggregate, state, validation)
        if validation is not None and self._validator is not None:
            self._validator.expect()
        if removes:
            self._removals.add(checkpoint, index_before)
        if self._artifacts is not None and self.local_rank == 0:
            self._artifacts.after_report(checkpoint is not None)
        if self.spec.callbacks:
            self._notify_callbacks(metrics, checkpoint)

    def restore_from_files(self):
        """Makes the runtime continue from the newest checkpoint with files, unless the run has a State. Called before the first report.
        Collective."""
        if self.runtime._state is None and not self._restored_from_files:
            self.runtime.restore()
            self._restored_from_files = True
            self._check_first_found()

    def _check_first_found(self):
        """Raises RuntimeError if the runtime, which verifies every byte, has restored an older checkpoint than get_checkpoint() returned."""
        returned = self._first_found if self._first_found is not _NOT_SEARCHED else None
        restored = self.runtime.checkpoint() if returned else None
        if restored is not None and _run_directory.number_of(restored["path"]) < _run_directory.number_of(returned):
            raise RuntimeError(f"get_checkpoint() returned {returned}, which is damaged, and the run restored {restored['path']}. Remove the damaged "
                               f"checkpoint and run the same command again; `trainrt verify {self.run_dir}` shows the damage")

    def _send(self, metrics, checkpoint, directory, directory_name, aggregate, state, validation):
        metadata = {**self.spec.metadata, **checkpoint.get_metadata()} if checkpoint is not None else None
        self.runtime.report(metrics, of_first_rank=not aggregate, directory=directory,
                            metadata=metadata, directory_name=directory_name, state=state, validation=validation, same_files="rank0")

    def _notify_callbacks(self, metrics, checkpoint):
        own = {name: getattr(value, "value", value) for name, value in metrics.items()}
        by_rank = self.gather((own, checkpoint, [callback._metrics_of_rank() for callback in self.spec.callbacks]))
        if self.world_rank == 0:
            is_reported = any(each is not None for _, each, _ in by_rank)
            newest = self.get_checkpoint() if is_reported else None
            for number, callback in enumerate(self.spec.callbacks):
                callback.after_report(self.run_context(), [{**each, **more[number]} for each, _, more in by_rank], newest)

    def run_context(self):
        spec = self.spec
        return TrainRunContext(self.run_name, self.run_dir, self.world_size, spec.train_loop_config, spec.run_config, spec.scaling_config)

    # ---- reported directories ----

    def remove_committed_directories(self):
        """Removes the directories that report() was asked to remove, after a commit in progress. Returns at once if there are no directories."""
        if self._removals:
            self._removals.carry_out(self.newest_index())

    def newest_index(self):
        """Returns the index of the newest committed checkpoint, or -1. Waits for a commit in progress."""
        newest = self.runtime.checkpoint()
        return newest["index"] if newest else -1

    # ---- checkpoints ----

    def agree_on_resume(self):
        """Makes all ranks use the checkpoint that rank 0 finds and verifies: nodes may not see the same files yet. Collective.

        Raises RuntimeError on all ranks if rank 0 cannot read the checkpoints or all are damaged.
        """
        found = None
        if self.world_rank == 0:
            try:
                found = (*_newest_intact.newest(self.run_dir), None)
            except Exception as error:  # raised on all ranks below
                found = (None, [], str(error))
        self._first_found, self._damaged, failure = self.broadcast(found)
        if failure is not None:
            raise RuntimeError(failure)

    def get_checkpoint(self):
        """Returns the newest checkpoint with files; without one, TrainSpec.first_checkpoint. Waits for a commit in progress."""
        if self._wait_for_commit():
            path = self._newest_committed()
        else:
            if self._first_found is _NOT_SEARCHED:  # the program does not call fit()
                self._first_found, self._damaged = _newest_intact.newest(self.run_dir)
            path = self._first_found
        return Checkpoint(path) if path else self.spec.first_checkpoint

    def _newest_committed(self):
        """Returns the path of the newest committed checkpoint with files, or `None`. The runtime has verified or written all checkpoints
        except those in `_damaged`."""
        intact = [path for path, _ in _run_directory.with_directories(self.run_dir) if path not in self._damaged]
        return intact[-1] if intact else None

    def _wait_for_commit(self):
        """Waits for a commit in progress. Returns False if report() and restore() have not been called yet: then no commit can be in progress."""
        has_started = self._restored_from_files or self.runtime._state is not None
        if has_started:
            self._removals.carry_out(self.newest_index())
        return has_started

    def reported_checkpoints(self):
        """Returns [(Checkpoint, metrics, name of a ReportedCheckpointStatus)] of the kept checkpoints, oldest first."""
        self._wait_for_commit()
        metrics = _run_directory.own_metrics(self.run_dir)
        return [(Checkpoint(path), {**(metrics.get(manifest.get("iteration")) or _run_directory.metrics_in(manifest)),
                                    **_run_directory.validated_metrics(path, manifest)}, _run_directory.status(path, manifest))
                for path, manifest in _run_directory.reported(self.run_dir) if path not in self._damaged]

    # ---- validation of checkpoints during the training ----

    def begin_validations(self, validator):
        """Sets the Validator, on rank 0. It also validates the remaining checkpoints of earlier attempts."""
        self._validator = validator

    def wait_for_validations(self):
        """Waits until all requested validations are done, also those of earlier attempts. The run may stop meanwhile. Collective."""
        if self.spec.validation is None:
            return
        if self._wait_for_commit():
            self.newest_index()
        logged_at_s = time.monotonic()
        while not self.broadcast(self._validator.wait(1.0) if self._validator else None):
            self.runtime.stop_point()
            if self._validator and time.monotonic() - logged_at_s >= _LOG_INTERVAL_S:
                logged_at_s = time.monotonic()
                self.runtime.log(f"training is done; validating {self._validator.current_path()}")

    def end_validations(self):
        if self._validator is not None:
            self._validator.end()
            self._validator = None

    def wait_until_validated(self, timeout_s=None):
        """Waits until all requested validations are done, or for `timeout_s`. Not collective."""
        if self.spec.validation is None or not self._wait_for_commit():
            return
        until_s = math.inf if timeout_s is None else time.monotonic() + timeout_s
        pause_s = 0.05
        while _run_directory.awaiting_validation(self.run_dir) and time.monotonic() < until_s:
            time.sleep(pause_s)
            pause_s = min(1.5 * pause_s, 1.0)

    # ---- copies of checkpoints in a filesystem object ----

    def begin_copies(self):
        """Starts to copy checkpoints to the filesystem object of the RunConfig, if it is one that only Python can use. Called on rank 0."""
        if self.spec.copies_to is not None:
            filesystem, path = self.spec.copies_to
            self._copies = StoreCopies(self.run_dir, filesystem, f"{path}/{self.run_name}")

    def wait_for_copies(self):
        """Waits until all checkpoints are copied, or copying has failed. The run may stop meanwhile. Collective."""
        if self.spec.copies_to is None:
            return
        if self._wait_for_commit():
            self.newest_index()
        while not self.broadcast(self._copies.wait(1.0) if self._copies else None):
            self.runtime.stop_point()

    def end_copies(self):
        if self._copies is not None:
            self._copies.end()
            self._copies = None

    # ---- datasets ----

    def has_dataset(self, name):
        return self.runtime.has_dataset(name)

    def shard(self, name, dataset):
        """Returns this rank's shard of `dataset`, or of [data.NAME] of the config if `dataset` is `None`. Its position is restored before the first
        batch."""
        found = self.runtime.dataset(name, dataset, self.restore_from_files)
        if self.world_rank == 0 and self.world_size > 1:
            found.at_padding = functools.partial(self._warn_of_padding, name)
        return found

    def _warn_of_padding(self, name, count):
        """Prints a warning if an unshuffled epoch of `count` samples repeats some: metrics of an evaluation count these twice."""
        repeated = -count % self.world_size
        config = (_run_directory.run_record(self.run_dir) or {}).get("config", {}) if repeated else {}
        if config and config.get(f"data.{name}.shuffle") != "true" and config.get(f"data.{name}.split") != "false":
            _notes.warn(f"the last batches of the dataset '{name}' repeat {repeated} of its {count} samples, so that all {self.world_size} ranks "
                       f"have the same number; sums and means of an evaluation count them twice. remainder='uneven' uses each sample once, 'drop' leaves "
                       f"out the remainder, and remainder='pad' repeats samples without this warning")

    # ---- collectives ----

    def barrier(self):
        self.runtime.barrier()

    def broadcast(self, value, root=0):
        return _objects.broadcast(self.runtime, value, root)

    def gather(self, value):
        return _objects.gather(self.runtime, value)
