"""The newest checkpoint with files that is whole: what get_checkpoint() gives before the runtime has looked."""

import subprocess

from ..._support import _executable, _notes
from .._results import _run_directory

_DAMAGED = 70
# So long may it take to read a checkpoint: storage that is away would be waited for without end.
_LONGEST_START_S = 600
_SLOWEST_BYTES_PER_S = 10e6


class NoneIsWhole(RuntimeError):
    """There are checkpoints with files, and all are damaged."""


def newest(run_dir):
    """(its path or None, the paths of newer ones, which are damaged and passed over). NoneIsWhole if all are."""
    damaged = []
    for path, manifest in reversed(_run_directory.with_directories(run_dir)):
        why = _damage(path, _limit_s(manifest))
        if why is None:
            return path, damaged
        _notes.say(f"warning: get_checkpoint() passes over {path}, which is damaged: {why}")
        damaged.append(path)
    if damaged:
        raise NoneIsWhole(f"all checkpoints with files in {run_dir} are damaged ({', '.join(damaged)}): move them away to begin anew; "
                          f"trainrt verify {run_dir} says what is wrong")
    return None, damaged


def _damage(path, limit_s):
    """What `trainrt verify` says of it; None if it is whole. TimeoutError if it does not come to an end."""
    try:
        process = subprocess.Popen([_executable.trainrt(), "verify", path, "--quiet"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, errors="replace")
    except FileNotFoundError:  # no such program here: the runtime verifies it at the first report
        return None
    said = _output_within(process, limit_s, path)
    return " ".join(said.split()) if process.returncode == _DAMAGED else None


def _limit_s(manifest):
    nbytes = sum(part.get("bytes", 0) for part in [*manifest.get("shards", []), *manifest.get("files", [])])
    return _LONGEST_START_S + nbytes / _SLOWEST_BYTES_PER_S


def _output_within(process, limit_s, path):
    """Whatever ends the wait ends the process, which is not waited for then: storage that is away may hold it."""
    try:
        return process.communicate(timeout=limit_s)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        raise TimeoutError(f"get_checkpoint(): {path} was not read within {limit_s:.0f} s ({_SLOWEST_BYTES_PER_S / 1e6:.0f} MB/s): is its storage "
                           f"away? `trainrt verify {path}` shows how far it comes") from None
    except BaseException:
        process.kill()
        raise
