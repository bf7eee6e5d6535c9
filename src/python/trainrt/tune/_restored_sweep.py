"""The sweep that `Tuner.restore()` continues: in a directory, or in an object store that has a copy (mirror) of a sweep's directory."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from .._support import _notes, _object_store
from ..train._fit._restored_run import has_mirror, local_directory
from ..train._results import _run_directory
from ._decisions.searching import has_suggestions
from ._param_space import ParamSpace, read_space
from ._restoring import directory_of, require_own_programs
from ._results import trials_of
from ._sweep_record import DECIDED_IN_SCRIPT, is_sweep, read_sweep

_FILES = ("sweep.json", "tuner.json")
_MANIFESTS = "trial_*/checkpoint_*/manifest.json"
_MIRROR = "checkpoint.mirror"


@dataclass
class RestoredSweep:
    """A sweep, and the directory in which it continues."""

    given: str  # absolute path or URL that restore() was called with
    path: str  # directory of the sweep
    texts: dict[str, str]  # config of the sweep, {key: text}; without the mirror if `given` is a URL
    reason: str | None  # why another user may have written the config; `None` if this user wrote it
    space: ParamSpace | None  # the recorded param_space, if it could be recorded
    mirror: dict[str, str] = field(default_factory=dict)  # key of the mirror, if `given` is a URL
    is_older: bool = False  # fit() must rename `path` first, since the store has newer checkpoints


def exists(path: str | os.PathLike[str], keys: Mapping[str, str] | None) -> bool:
    """Returns whether `path` is the directory of a sweep, or the URL of a mirrored one. `keys`: access keys of the store, or `None`. Raises OSError, with
    the URL, if the store cannot be read."""
    reader = _object_store.reader_of(path)
    if reader is None:
        return is_sweep(_absolute(path))
    with reader.fetched(_FILES[0], keys=keys) as folder:
        return is_sweep(folder) or _is_mirrored_to(local_directory(reader), reader)


def find(path: str | os.PathLike[str], keys: Mapping[str, str] | None) -> RestoredSweep:
    """Returns the sweep in a directory or at a URL. Prints where a mirrored sweep continues. `keys`: access keys of the store, or `None`.

    Raises ValueError if there is no sweep, if the record of a mirrored sweep names code and is not trusted, or if its local directory has another sweep or is
    in use although it is older; OSError, with the URL, if the store cannot be read.
    """
    reader = _object_store.reader_of(path)
    if reader is not None:
        return _mirrored(f"Tuner.restore({reader.url!r})", reader, keys)
    path = _absolute(path)
    if not is_sweep(path):
        raise ValueError(f"Tuner.restore({path!r}): it is not the directory of a sweep (storage_path/name); Tuner.can_restore() checks a path")
    texts, reason = read_sweep(path)
    _require_decided_outside_script(f"Tuner.restore({path!r})", texts, path)
    return RestoredSweep(path, path, texts, reason, _space_in(path))


def set_aside(path: str) -> None:
    """Renames the directory of an older state of a sweep, so that its trials are copied from the store."""
    number = 1
    while os.path.lexists(f"{path}.older-{number}"):
        number += 1
    os.rename(path, f"{path}.older-{number}")
    _notes.say(f"renamed {path} to {path}.older-{number}, since the store has newer checkpoints of the trials")


def _absolute(path: str | os.PathLike[str]) -> str:
    return directory_of(_object_store.local_path(path))


def _mirrored(call: str, reader: _object_store.Reader, keys: Mapping[str, str] | None) -> RestoredSweep:
    path = local_directory(reader)
    has_local = is_sweep(path)
    if has_local and not _is_mirrored_to(path, reader):
        raise ValueError(f"{call}: {path} has another sweep of this name. Rename it, or set TRAINRT_STORAGE to another folder; the trials are then copied "
                         f"from the store")
    with reader.fetched(*_FILES, *([_MANIFESTS] if has_local else []), keys=keys) as folder:
        if not has_local and not is_sweep(folder):
            raise ValueError(f"{call}: no sweep found; give storage_path/name, such as s3://BUCKET/PREFIX/NAME")
        is_older = has_local and _has_newer_checkpoints(folder, path) and not _has_newer_checkpoints(path, folder)
        source = folder if is_older or not has_local else path
        found = RestoredSweep(reader.url, path, *read_sweep(source), _space_in(source), is_older=is_older)
    _require_decided_outside_script(call, found.texts, path)
    recorded = found.texts.pop(_MIRROR, "")
    found.mirror = {_MIRROR: recorded if has_mirror({_MIRROR: recorded}, reader) else reader.parent().url}
    require_own_programs(reader.url, found.texts, found.reason)  # first: the errors below depend on values in the record
    if source != path:
        _require_restorable(call, found)
    _notes.say(f"{call}: the sweep continues in {path}" + (", which has the newest checkpoints" if source == path else
               "; fit() first renames this directory, which is older. Each trial continues from its newest checkpoint in the store" if is_older else
               ", and each trial from its newest checkpoint in the store"))
    return found


def _require_decided_outside_script(call: str, texts: Mapping[str, str], path: str) -> None:
    """Raises ValueError if a searcher or a scheduler in the script decides, which restore() does not have. `path`: the directory of the sweep, with the
    folder of suggestions; older versions did not record the classes."""
    names = texts.get(DECIDED_IN_SCRIPT) or ("its search_alg" if has_suggestions(path) else "")
    if names:
        raise ValueError(f"{call}: the script of the sweep decides by {names}, which restore() cannot call: start the same script again; it continues the "
                         f"sweep")


def _require_restorable(call: str, sweep: RestoredSweep) -> None:
    """Raises ValueError if an older local directory is in use."""
    if sweep.is_older and any(trial["state"] in ("starting", "running") for trial in trials_of(sweep.path)):
        raise ValueError(f"{call}: the sweep in {sweep.path} is running, and the store has newer checkpoints of another process that continued it. Stop one of "
                         f"them, and start again")


def _space_in(folder: str) -> ParamSpace | None:
    try:
        return read_space(folder)
    except (OSError, ValueError, KeyError):
        return None


def _is_mirrored_to(path: str, reader: _object_store.Reader) -> bool:
    """Returns whether `path` has a sweep whose mirror has this URL."""
    return is_sweep(path) and has_mirror(read_sweep(path)[0], reader)


def _has_newer_checkpoints(folder: str, other: str) -> bool:
    """Returns whether a trial in `folder` has a newer checkpoint than in `other`."""
    return any(number > _newest(os.path.join(other, trial)) for trial, number in _newest_of_trials(folder))


def _newest_of_trials(folder: str) -> Iterator[tuple[str, int]]:
    for trial in os.listdir(folder):
        if trial.startswith("trial_") and os.path.isdir(os.path.join(folder, trial)):
            yield trial, _newest(os.path.join(folder, trial))


def _newest(run_dir: str) -> int:
    return max((_run_directory.number_of(path) for path, _ in _run_directory.checkpoints(run_dir)), default=-1)
