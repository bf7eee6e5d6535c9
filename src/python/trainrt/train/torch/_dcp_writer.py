"""CheckpointWriter: torch.distributed.checkpoint saves into the checkpoints of the run."""

import os
import shutil
import tempfile
import time

from torch.distributed.checkpoint.default_planner import DefaultSavePlanner
from torch.distributed.checkpoint.storage import StorageWriter, WriteResult
from torch.futures import Future

from .._sessions import _session
from .._results._checkpoint import Checkpoint
from .._sessions._metrics import flat_metrics, has_numbers_to_reduce
from . import _dcp_contents, _dcp_index


class CheckpointWriter(StorageWriter):
    """A storage_writer for dcp.save() and dcp.async_save(): each is a report of these metrics with a checkpoint of the run, whole or not at all.

        dcp.save(state_dict, storage_writer=CheckpointWriter({"loss": loss}))
        saved = dcp.async_save(state_dict, storage_writer=CheckpointWriter())      # saved.result(): it is committed

    Tensors are in HDF5 under their names, shards as slabs; all else must be plain: numbers, texts, and lists and dicts of them. save()
    returns when the checkpoint is committed, async_save() when all is copied. One that cannot be written is an error, and leaves those
    before it as they are. checkpoint_id is what you call it. In a process of its own the report is made, and nothing is kept.
    """

    should_synchronize_after_execute = _synchronize_after_execute = False  # with stage(): what torch calls an AsyncStager

    def __init__(self, metrics=None, checkpoint_id=None):
        super().__init__()
        self.checkpoint_id = None if checkpoint_id is None else os.fspath(checkpoint_id)
        self._metrics = dict(metrics or {})
        self._local_plan = None
        self._staged = None  # (the _Save of async_save(), what it holds)

    def __getstate__(self):
        raise TypeError("CheckpointWriter belongs to the process that trainrt has started: leave out async_save(async_checkpointer_type=...)")

    def reset(self, checkpoint_id=None):
        if checkpoint_id is None:
            return
        if self._staged is not None:
            raise ValueError("async_save(checkpoint_id=...) comes after the checkpoint was taken: give it to CheckpointWriter(checkpoint_id=...)")
        self.checkpoint_id = os.fspath(checkpoint_id)

    def set_up_storage_writer(self, is_coordinator, *args, **kwargs):
        pass

    def prepare_local_plan(self, plan):
        self._local_plan = plan if getattr(plan, "usable", True) else None
        if self._staged is not None and self._local_plan is not None and _dcp_contents.boxes(plan) != self._staged[1]:
            raise ValueError("async_save() was given a planner that saves other things than torch's default one: take it with save()")
        return plan

    def prepare_global_plan(self, plans):
        return plans

    def write_data(self, plan, planner):
        if self._staged is None:
            _begin(self._metrics, self.checkpoint_id, self._local_plan or plan, plan.items, planner).wait()
        done = Future()
        done.set_result([WriteResult(item.index, item.tensor_storage_size() or 0, None) for item in plan.items])
        return done

    def finish(self, metadata, results):
        if self._staged is not None:
            self._staged[0].wait()

    def stage(self, state_dict):
        """Of async_save(), in the train thread: the runtime takes its copy here, and writes it while torch's own thread waits."""
        if self._staged is not None and not self._staged[0].is_concluded():
            raise RuntimeError("async_save() was called before the one before with this CheckpointWriter was over: wait for its result()")
        planner = DefaultSavePlanner()
        planner.set_up_planner(state_dict, is_coordinator=_session.current().world_rank == 0)
        plan = planner.create_local_plan()
        self._staged = _begin(self._metrics, self.checkpoint_id, plan, None, planner), _dcp_contents.boxes(plan)
        return state_dict

    def synchronize_staging(self):
        pass

    def close(self):
        pass

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id):
        return isinstance(checkpoint_id, (str, os.PathLike))


class _Save:
    """A checkpoint on its way, or what became of it. Any thread may ask."""

    def __init__(self, runtime, index_before):
        self._runtime, self._index_before = runtime, index_before
        self._committed = None

    def is_concluded(self):
        seen = self._runtime._peek_checkpoint() if self._committed is None else None
        if seen is not None:
            newest = seen["checkpoint"]
            if newest is not None and newest["index"] > self._index_before:
                self._committed = True
            elif not seen["on_its_way"]:
                self._committed = False
        return self._committed is not None

    def wait(self):
        pause_s = 0.002
        while not self.is_concluded():
            time.sleep(pause_s)
            pause_s = min(1.25 * pause_s, 0.05)
        if not self._committed:
            raise RuntimeError("the checkpoint could not be written, and is dropped: the run's log says why")


class _NothingKept:
    """In a process without a run."""

    def is_concluded(self):
        return True

    def wait(self):
        pass


_newest = None  # _Save


def _begin(metrics, name, local_plan, items, planner):
    """Gives the runtime what this rank has; returns when that may change again. items: what this rank writes of its plan, as the ranks have
    agreed; None: they have not. Collective."""
    global _newest
    session, flat = _session.current(), flat_metrics(metrics)
    if session.runtime is None:
        session.report(flat)
        return _NothingKept()
    session._restore_by_files()
    if session.runtime._state is not None:
        raise RuntimeError("CheckpointWriter: load_state() or restore() has said what all checkpoints of this run hold: save by save_state(), or "
                           "save and load everything by torch.distributed.checkpoint")
    while _newest is not None and not _newest.is_concluded():
        time.sleep(0.002)
    before = session._newest_index()
    state, index = _dcp_contents.gathered(session, local_plan, items, planner)
    folder = tempfile.mkdtemp(prefix="trainrt_dcp_") if session.world_rank == 0 else None
    try:
        if folder is not None:
            _dcp_index.write(os.path.join(folder, _dcp_index.FILE), *index)
        given = Checkpoint(folder) if folder is not None else None
        session.report(flat, given, name, session.aggregates or has_numbers_to_reduce(flat), state=state)
    finally:
        shutil.rmtree(folder, ignore_errors=True) if folder is not None else None
    _newest = _Save(session.runtime, before)
    return _newest
