"""The run that `restore()` continues: in a run directory, or in an object store that has a copy (mirror) of a run directory."""

import os
from dataclasses import dataclass, field
from typing import Optional

from ..._support import _notes, _object_store
from ..._support._storage import default_storage
from .._results import _run_directory, _trainer_record
from .._results._result import Result

_NO_CHECKPOINT = -1
_RUNNING = ("starting", "running")


@dataclass
class RestoredRun:
    """A run, and the directory in which it continues. The records of a mirrored run without a local directory are those in the mirror."""

    given: str  # absolute path or URL that restore() was called with
    run_dir: str
    run: dict  # content of run.json
    record: dict  # content of trainer.json, or {}
    mirror: dict = field(default_factory=dict)  # keys of the mirror, if `given` is a URL
    newer: Optional[int] = None  # newest checkpoint of the mirror, if run_dir has only older ones, so that set_aside() must rename run_dir

    def texts(self):
        """Returns the keys of the run's last start, as texts."""
        return self.run.get("config", {})


def exists(path, keys=None):
    """Returns whether `path` is a run directory, or the URL of a mirrored run. `keys`: access keys of the store, or `None`. Raises OSError, with the URL, if
    the store cannot be read."""
    reader = _object_store.reader_of(path)
    if reader is None:
        return _run_directory.run_record(_absolute(path)) is not None
    with reader.fetched("run.json", keys=keys) as folder:
        return _run_directory.run_record(folder) is not None or _local_run_of(reader) is not None


def find(kind, path, keys=None):
    """Returns the RestoredRun of a path or URL. Prints where a mirrored run continues. `kind`: class of the Trainer, for messages; `keys`: as in exists().

    Raises ValueError if there is no run, or the local directory of a mirrored run has another run; OSError, with the URL, if the store cannot be read.
    """
    reader = _object_store.reader_of(path)
    if reader is not None:
        return _mirrored(f"{kind.__name__}.restore({reader.url!r})", reader, keys)
    run_dir = _absolute(path)
    run = _run_directory.run_record(run_dir)
    if run is None:
        raise ValueError(f"{kind.__name__}.restore({run_dir!r}): no run found{_run_directory.similar_run(run_dir)}; give a run directory, storage_path/name")
    return RestoredRun(run_dir, run_dir, run, _trainer_record.read(run_dir))


def _absolute(path):
    return os.path.abspath(os.path.expanduser(_object_store.local_path(path)))


def _mirrored(call, reader, keys):
    with reader.fetched("run.json", "trainer.json", "checkpoint_*/manifest.json", keys=keys) as folder:
        run, record, newest = _run_directory.run_record(folder), _trainer_record.read(folder), _newest_checkpoint(folder)
    run_dir = local_directory(reader)
    local = _run_directory.run_record(run_dir) if run is not None else _local_run_of(reader)
    if local is None and run is None:
        raise ValueError(f"{call}: no run found; give storage_path/name, such as s3://BUCKET/PREFIX/NAME")
    if run is None or _is_current(call, run_dir, local, run, newest):
        _notes.say(f"{call}: the run continues in {run_dir}, which has the newest checkpoint")
        record = _trainer_record.read(run_dir)
        return RestoredRun(reader.url, run_dir, local, record, _mirror_keys(reader, record))
    renames = f"renames {run_dir}, which is older, and " if local is not None else ""
    _notes.say(f"{call}: the run continues in {run_dir}; fit() first {renames}copies the run's records and newest checkpoint from the store")
    return RestoredRun(reader.url, run_dir, run, record, _mirror_keys(reader, record), newer=newest if local is not None else None)


def _is_current(call, run_dir, local, mirrored, newest):
    """Returns whether the local directory of the run exists, and has no older checkpoints than `newest`, the number of the mirror's newest. Raises
    ValueError if the directory has another run, or older checkpoints of a run that is running."""
    if local is None:
        return False
    if local.get("run_id") != mirrored.get("run_id"):
        raise ValueError(f"{call}: {run_dir} has another run of this name. Rename it, or set TRAINRT_STORAGE to another folder; restore() then copies the run "
                         f"from the store")
    own = _newest_checkpoint(run_dir)
    if own >= newest:
        return True
    if Result.from_path(run_dir).state in _RUNNING:
        raise ValueError(f"{call}: the run in {run_dir} is running, and the store has checkpoint {newest} of another process that continued it. Stop one of "
                         f"them, and start again")
    return False


def set_aside(run_dir, newest):
    """Renames the directory of an older state of a run, so that the run is copied from the store. Only rank 0 renames it, unless the directory has the
    checkpoint `newest` of the store by now. Raises ValueError if another process continues the run."""
    if os.environ.get("RANK", "0") != "0":
        return
    if Result.from_path(run_dir).state in _RUNNING:
        raise ValueError(f"fit(): another process has started the run in {run_dir} after restore() was called; wait for its end, and call restore() again")
    if _newest_checkpoint(run_dir) >= newest:
        _notes.say(f"the run continues in {run_dir}, which has had the newest checkpoint since restore() was called")
        return
    number = 1
    while os.path.lexists(f"{run_dir}.older-{number}"):
        number += 1
    os.rename(run_dir, f"{run_dir}.older-{number}")
    _notes.say(f"renamed {run_dir} to {run_dir}.older-{number}, since the store has newer checkpoints of the run")


def _newest_checkpoint(run_dir):
    return max((_run_directory.number_of(path) for path, _ in _run_directory.checkpoints(run_dir)), default=_NO_CHECKPOINT)


def local_directory(reader):
    """Returns the directory in which the run or sweep with this URL continues."""
    return os.path.join(default_storage(), os.path.basename(reader.key))


def _local_run_of(reader):
    """Returns run.json of the local directory if the run in it is mirrored to this URL, else `None`."""
    run = _run_directory.run_record(local_directory(reader))
    return run if run is not None and has_mirror(run.get("config"), reader) else None


def has_mirror(keys, reader):
    """Returns whether `keys`, read from a file, set checkpoint.mirror to the parent of the reader's URL."""
    url = keys.get("checkpoint.mirror") if isinstance(keys, dict) else None
    mirror = _object_store.reader_of(url) if isinstance(url, str) else None
    return mirror is not None and mirror.url == reader.parent().url


def _mirror_keys(reader, record):
    """Returns the keys of the mirror. Those of its store are taken from `record` only if this user signed it, and it has the same mirror."""
    recorded = record.get("mirror")
    is_valid = has_mirror(recorded, reader) and _trainer_record.reason_against(record) is None
    given = dict(option.removeprefix("--").split("=", 1) for option in reader.options)
    return {"checkpoint.mirror": reader.parent().url, **(recorded if is_valid else {}), **given}
