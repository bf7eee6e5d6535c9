"""CheckpointReader: loads checkpoints of a run by torch.distributed.checkpoint."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from typing import Any

import torch
from torch.distributed.checkpoint.metadata import (
    BytesStorageMetadata,
    ChunkStorageMetadata,
    Metadata,
    StorageMeta,
    TensorProperties,
    TensorStorageMetadata,
)
from torch.distributed.checkpoint.planner import LoadItemType
from torch.distributed.checkpoint.storage import StorageReader
from torch.futures import Future

from ... import _client
from .._results import _run_directory
from .._sessions import _current
from . import _dcp_index
from ._dcp_contents import add_slab


class CheckpointReader(StorageReader):
    """A storage_reader for dcp.load() of checkpoints of CheckpointWriter. Any number of ranks can load one; each rank reads only the data it needs.

        reader = CheckpointReader()
        if reader.has_checkpoint():                          # after a restart
            dcp.load(state_dict, storage_reader=reader)

    Parameters
    ----------
    checkpoint_id : path or str, optional
        The directory of a checkpoint of any run, or the checkpoint_id of a checkpoint of this run. Default: this run's newest checkpoint.
    """

    def __init__(self, checkpoint_id: str | os.PathLike[str] | None = None) -> None:
        super().__init__()
        self.checkpoint_id = checkpoint_id
        self._path: str | None = None
        self._index: dict[str, Any] = {}

    def has_checkpoint(self) -> bool:
        """Returns whether there is a checkpoint to load. Collective."""
        return self._found() is not None

    # ---- methods that torch calls ----

    def reset(self, checkpoint_id: Any = None) -> None:
        if checkpoint_id is not None:
            self.checkpoint_id = checkpoint_id

    def read_metadata(self, *args: Any, **kwargs: Any) -> Metadata:
        self._path = self._found()
        if self._path is None:
            named = f" under the name {str(self.checkpoint_id)!r}" if self.checkpoint_id is not None else ""
            raise FileNotFoundError(f"CheckpointReader: this run has no checkpoint of CheckpointWriter{named}: check has_checkpoint() first")
        self._index = _dcp_index.read(_index_file(self._path))
        entries = {key: _tensor_metadata(*_dcp_index.size_and_dtype(each)) for key, each in self._index["tensors"].items()}
        entries.update({key: BytesStorageMetadata() for key in self._index["objects"]})
        return Metadata(entries, planner_data={key: tuple(path) for key, path in self._index["paths"].items()}, storage_meta=StorageMeta())

    def set_up_storage_reader(self, metadata: Any, is_coordinator: bool, *args: Any, **kwargs: Any) -> None:
        pass

    def prepare_local_plan(self, plan: Any) -> Any:
        return plan

    def prepare_global_plan(self, plans: Any) -> Any:
        return plans

    def read_data(self, plan: Any, planner: Any) -> Future:
        tensors = [item for item in plan.items if item.type != LoadItemType.BYTE_IO]
        self._read_tensors(tensors, planner)
        for item in plan.items:
            if item.type == LoadItemType.BYTE_IO:  # planners expect the output of torch.save()
                file = io.BytesIO()
                torch.save(_dcp_index.from_plain(self._index["objects"][item.storage_index.fqn]), file)
                file.seek(0)
                planner.load_bytes(item, file)
        done = Future()
        done.set_result(None)
        return done

    def _read_tensors(self, items: Sequence[Any], planner: Any) -> None:
        state, names, targets = _client.State(), _dcp_index.names_of(sorted(self._index["tensors"])), []
        for item in items:
            key = item.storage_index.fqn
            size, dtype = _dcp_index.size_and_dtype(self._index["tensors"][key])
            target = planner.resolve_tensor(item).detach()
            fits = target.dtype == dtype and target.is_contiguous() and target.layout == torch.strided
            filled = target if fits else torch.empty(target.shape, dtype=dtype)
            add_slab(state, names[key], filled, item.storage_offsets, size)
            targets.append((item, target, filled))
        _current.session().runtime.load(state, self._path)
        for item, target, filled in targets:
            if filled is not target:
                target.copy_(filled)
            planner.commit_tensor(item, target)

    def _found(self) -> str | None:
        """Returns the directory of the checkpoint to load, which rank 0 finds, or `None` if there is no such checkpoint. Collective."""
        session = _current.session()
        if session.runtime is None:
            if self.checkpoint_id is not None:
                raise RuntimeError(f"CheckpointReader({str(self.checkpoint_id)!r}): only ranks of a run can read checkpoints: start this program by "
                                   f"trainrt -n 1 -- python3 ...")
            return None
        session.restore_from_files()
        session.newest_index()  # waits for a checkpoint that is being saved
        return session.broadcast(self._path_of(session) if session.world_rank == 0 else None)

    def _path_of(self, session: Any) -> str | None:
        if self.checkpoint_id is not None and os.path.exists(_index_file(os.fspath(self.checkpoint_id))):
            return os.path.abspath(os.fspath(self.checkpoint_id))
        for path, manifest in reversed(_run_directory.with_directories(session.run_dir)):
            name = (manifest.get("metadata") or {}).get("checkpoint_dir_name")
            if path not in session._damaged and os.path.exists(_index_file(path)) and self.checkpoint_id in (None, name):
                return path
        return None

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id: Any) -> bool:
        return isinstance(checkpoint_id, (str, os.PathLike))


def _index_file(path: str) -> str:
    return os.path.join(path, "files", _dcp_index.FILE)


def _tensor_metadata(size: torch.Size, dtype: torch.dtype) -> TensorStorageMetadata:
    """Describes a tensor to torch as one chunk; each rank may read any slice of the chunk."""
    whole = ChunkStorageMetadata(offsets=torch.Size([0] * len(size)), sizes=size)
    return TensorStorageMetadata(properties=TensorProperties(dtype=dtype), size=size, chunks=[whole])
