"""The checkpoint of a State that a new run resumes from: a directory that all ranks see."""

import os
import shutil
import socket
import time

from ..._support import _object_store
from ..._support._storage import default_storage
from .._sessions import _current
from . import _run_names

_FOLDER = ".first_checkpoints"  # folder for the copies, in the storage path
_PAUSE_S = 0.2


def shared_path(checkpoint, storage, run_name, kind):
    """Returns the path of a native checkpoint. If the checkpoint is in an object store, rank 0 copies it into a folder of `storage`, and the other ranks wait
    for the copy.

    `storage`: storage path of the run, or `None` for the default; `run_name`: its name, or `None` if it has a default name; `kind`: class of the Trainer.
    Each run has its own copy, which remove_copy() removes. Raises as Reader.fetch() does, and TimeoutError if rank 0 does not complete the copy.
    """
    remote = checkpoint._remote
    if remote is None:
        return checkpoint.path
    reader, name = remote.reader, f"{_owner(run_name, kind)}-{remote.digest()[:24]}"
    path = os.path.join(storage or default_storage(), _FOLDER, name)
    if os.path.isdir(path):
        return path
    if os.environ.get("RANK", "0") == "0":
        _copy(reader, path)
        return path
    limit_s = _object_store.checkpoint_limit_s()
    end = time.monotonic() + limit_s
    while not os.path.isdir(path):
        if time.monotonic() > end:
            raise TimeoutError(f"{reader.url}: rank 0 did not copy it to {path} within {limit_s:.0f} s. Check that the store is available, or raise the limit: "
                               f"TRAINRT_FETCH_TIMEOUT=SECONDS in the environment")
        time.sleep(_PAUSE_S)
    return path


def _copy(reader, path):
    """Copies the files into `path`. A copy that fails leaves no files, also if `trainrt fetch` was killed."""
    partial = path + ".partial"
    shutil.rmtree(partial, ignore_errors=True)
    os.makedirs(partial)
    try:
        reader.fetch(os.path.join(partial, "files"))
        os.rename(os.path.join(partial, "files"), path)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
        _remove_if_empty(os.path.dirname(path))


def _owner(run_name, kind):
    """Returns a file name for the run, which is the same on all ranks and after a requeue."""
    name = run_name or _run_names.name_in_job(kind)
    if name is None:
        name = os.environ.get("TRAINRT_RUN_NAME", "run") if _current.is_rank_program() else f"{socket.gethostname()}-{os.getpid()}"
    return name.replace("/", "_")


def remove_copy(path):
    """Removes the copy that shared_path() made, when fit() ends. Only rank 0 removes it. `path`: the returned path, or `None`."""
    folder = os.path.dirname(path or "")
    if os.path.basename(folder) != _FOLDER or os.environ.get("RANK", "0") != "0":
        return
    shutil.rmtree(path, ignore_errors=True)
    _remove_if_empty(folder)


def _remove_if_empty(folder):
    try:
        os.rmdir(folder)
    except OSError:
        pass  # the folder contains the copy of another run
