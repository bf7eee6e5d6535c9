"""CheckpointWriter, which saves checkpoints of the run through torch.distributed.checkpoint."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from typing import Any

from torch.distributed.checkpoint.default_planner import DefaultSavePlanner
from torch.distributed.checkpoint.storage import StorageWriter, WriteResult
from torch.futures import Future

from .._results._checkpoint import Checkpoint
from .._sessions import _current
from .._sessions._metrics import flat_metrics, has_reductions
from . import _dcp_contents, _dcp_index


class CheckpointWriter(StorageWriter):
    """A storage_writer for dcp.save() and dcp.async_save(). Each save reports `metrics` and adds a checkpoint to the run.

        dcp.save(state_dict, storage_writer=CheckpointWriter({"loss": loss}))
        saving = dcp.async_save(state_dict, storage_writer=CheckpointWriter())     # saving.result() waits for the commit

    Tensors are stored by name in HDF5. Other objects must be numbers, strings, and lists and dicts of these. save() returns when the checkpoint is
    committed, async_save() when all data is copied. If a checkpoint cannot be written, an error is raised and earlier checkpoints remain valid. In a
    process that trainrt has not started, the metrics are reported and nothing is saved.

    Parameters
    ----------
    metrics : dict, optional
        Metrics, as in trainrt.train.report().
    checkpoint_id : str, optional
        Name of the checkpoint, which CheckpointReader accepts as checkpoint_id.
    """

    should_synchronize_after_execute = _synchronize_after_execute = False  # torch's AsyncStager defines both

    def __init__(self, metrics: dict[str, Any] | None = None, checkpoint_id: str | os.PathLike[str] | None = None) -> None:
        super().__init__()
        self.checkpoint_id = None if checkpoint_id is None else os.fspath(checkpoint_id)
        self._metrics = dict(metrics or {})
        self._local_plan: Any = None
        self._staged: tuple[_Save | _NothingSaved, Any] | None = None  # (save started by async_save(), boxes() of its plan)

    def __getstate__(self) -> Any:
        raise TypeError("CheckpointWriter works only in the process that trainrt has started: leave out async_save(async_checkpointer_type=...)")

    # ---- methods that torch calls ----

    def reset(self, checkpoint_id: Any = None) -> None:
        if checkpoint_id is None:
            return
        if self._staged is not None:
            raise ValueError("async_save(checkpoint_id=...) is not supported: use CheckpointWriter(checkpoint_id=...)")
        self.checkpoint_id = os.fspath(checkpoint_id)

    def set_up_storage_writer(self, is_coordinator: bool, *args: Any, **kwargs: Any) -> None:
        pass

    def prepare_local_plan(self, plan: Any) -> Any:
        self._local_plan = plan if getattr(plan, "usable", True) else None
        if self._staged is not None and self._local_plan is not None and _dcp_contents.boxes(plan) != self._staged[1]:
            raise ValueError("async_save() supports torch's default planner only: use save() with this planner")
        return plan

    def prepare_global_plan(self, plans: Any) -> Any:
        return plans

    def write_data(self, plan: Any, planner: Any) -> Future:
        if self._staged is None:
            _begin(self._metrics, self.checkpoint_id, self._local_plan or plan, plan.items, planner).wait()
        done = Future()
        done.set_result([WriteResult(item.index, item.tensor_storage_size() or 0, None) for item in plan.items])
        return done

    def finish(self, metadata: Any, results: Any) -> None:
        if self._staged is not None:
            self._staged[0].wait()

    def stage(self, state_dict: Any) -> Any:
        """Starts to save. Called by async_save() in the train thread. The runtime copies all data during the call, and writes it in the background."""
        if self._staged is not None and not self._staged[0].is_concluded():
            raise RuntimeError("async_save() was called while an earlier one with this CheckpointWriter is still saving: wait for its result()")
        planner = DefaultSavePlanner()
        planner.set_up_planner(state_dict, is_coordinator=_current.session().world_rank == 0)
        plan = planner.create_local_plan()
        self._staged = _begin(self._metrics, self.checkpoint_id, plan, None, planner), _dcp_contents.boxes(plan)
        return state_dict

    def synchronize_staging(self) -> None:
        pass

    def close(self) -> None:
        pass

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id: Any) -> bool:
        return isinstance(checkpoint_id, (str, os.PathLike))


class _Save:
    """A checkpoint that is being saved, was committed or has failed. Any thread may call the methods."""

    def __init__(self, runtime: Any, index_before: int) -> None:
        self._runtime, self._index_before = runtime, index_before
        self._committed: bool | None = None  # `None` while the checkpoint is being saved

    def is_concluded(self) -> bool:
        """Returns whether the checkpoint is committed or has failed."""
        seen = self._runtime._peek_checkpoint() if self._committed is None else None
        if seen is not None:
            newest = seen["checkpoint"]
            if newest is not None and newest["index"] > self._index_before:
                self._committed = True
            elif not seen["on_its_way"]:
                self._committed = False
        return self._committed is not None

    def wait(self) -> None:
        """Waits until the checkpoint is committed. Raises RuntimeError if saving has failed."""
        pause_s = 0.002
        while not self.is_concluded():
            time.sleep(pause_s)
            pause_s = min(1.25 * pause_s, 0.05)
        if not self._committed:
            raise RuntimeError("the checkpoint could not be written; the run's log has the reason")


class _NothingSaved:
    """Replaces _Save in a process that trainrt has not started, where nothing is saved."""

    def is_concluded(self) -> bool:
        return True

    def wait(self) -> None:
        pass


_newest: _Save | None = None


def _begin(metrics: dict[str, Any], name: str | None, local_plan: Any, items: Any, planner: Any) -> _Save | _NothingSaved:
    """Reports the metrics and starts a save. Returns when this rank may change its tensors again. For `items` see gathered(). Collective."""
    global _newest
    session, flat = _current.session(), flat_metrics(metrics)
    if session.runtime is None:
        session.report(flat)
        return _NothingSaved()
    session.restore_from_files()
    if session.runtime._state is not None:
        raise RuntimeError("CheckpointWriter: load_state() or restore() has defined the content of this run's checkpoints: use save_state(), or "
                           "save and load everything by torch.distributed.checkpoint")
    while _newest is not None and not _newest.is_concluded():
        time.sleep(0.002)
    before = session.newest_index()
    state, index = _dcp_contents.gathered(session, local_plan, items, planner)
    folder = tempfile.mkdtemp(prefix="trainrt_dcp_") if session.world_rank == 0 else None
    try:
        if folder is not None:
            _dcp_index.write(os.path.join(folder, _dcp_index.FILE), *index)
        given = Checkpoint(folder) if folder is not None else None
        session.report(flat, given, name, session.aggregates or has_reductions(flat), state=state)
    finally:
        shutil.rmtree(folder, ignore_errors=True) if folder is not None else None
    _newest = _Save(session.runtime, before)
    return _newest
