"""Finds the newest intact checkpoint with files, for `get_checkpoint()` before the runtime has verified a checkpoint."""

import subprocess

from ..._support import _executable, _notes
from .._results import _run_directory

_DAMAGED = 70  # exit code of `trainrt verify` for a damaged checkpoint
# Limit for reading a checkpoint: reads from unavailable storage may block forever.
_BASE_LIMIT_S = 600
_MIN_BYTES_PER_S = 10e6


class AllDamagedError(RuntimeError):
    """Raised if the run has checkpoints with files, but all of them are damaged."""


def newest(run_dir):
    """Returns the path of the newest intact checkpoint with files, or `None`, and the paths of newer checkpoints, which are damaged.

    Raises AllDamagedError if all checkpoints are damaged, and TimeoutError if a checkpoint cannot be read in time.
    """
    damaged = []
    for path, manifest in reversed(_run_directory.with_directories(run_dir)):
        damage = _damage(path, _limit_s(manifest))
        if damage is None:
            return path, damaged
        _notes.warn(f"get_checkpoint() skips {path}, which is damaged: {damage}")
        damaged.append(path)
    if damaged:
        raise AllDamagedError(f"all checkpoints with files in {run_dir} are damaged ({', '.join(damaged)}). Run `trainrt verify {run_dir}` to see the "
                         f"damage; move the checkpoints away to train from the beginning")
    return None, damaged


def _damage(path, limit_s):
    """Returns the output of `trainrt verify` if the checkpoint is damaged, else `None`."""
    try:
        process = subprocess.Popen([_executable.trainrt(), "verify", path, "--quiet"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, errors="replace")
    except FileNotFoundError:  # trainrt is not installed here; the runtime verifies the checkpoint at the first report
        return None
    output = _output_within(process, limit_s, path)
    return " ".join(output.split()) if process.returncode == _DAMAGED else None


def _limit_s(manifest):
    nbytes = sum(part.get("bytes", 0) for part in [*manifest.get("shards", []), *manifest.get("files", [])])
    return _BASE_LIMIT_S + nbytes / _MIN_BYTES_PER_S


def _output_within(process, limit_s, path):
    """Returns the output of the process. On any exception the process is killed and not waited for: unavailable storage may block its exit."""
    try:
        return process.communicate(timeout=limit_s)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        raise TimeoutError(f"get_checkpoint(): {path} was not read within {limit_s:.0f} s ({_MIN_BYTES_PER_S / 1e6:.0f} MB/s). Check that its storage "
                           f"is available; `trainrt verify {path}` shows the progress of reading it") from None
    except BaseException:
        process.kill()
        raise
