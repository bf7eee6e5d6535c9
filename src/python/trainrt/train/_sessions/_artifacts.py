"""Copies files that the ranks write into their working directory into the folder artifacts/ of the run (`SyncConfig(sync_artifacts=True)`)."""

import contextlib
import hashlib
import os
import shutil
import socket
import stat
import time

from ..._support import _new_file, _notes

_TURN_S = 60.0  # how long a rank waits for the copies of other ranks; then it copies what is missing


def folder_of(run_dir):
    """Returns the folder of the run for files of the train function."""
    return os.path.join(run_dir, "artifacts")


class Artifacts:
    """Copies the files and folders at the top level of the working directory that are new since begin(), and those that an earlier start copied.
    Links are not followed, and names that begin with a dot are left out. Files that cannot be copied cause a note, and no failure.

    `run_dir`: run directory, which is never copied. `config`: SyncConfig.
    """

    def __init__(self, run_dir, config):
        self._target, self._config = folder_of(run_dir), config
        self._skipped = os.path.realpath(run_dir)
        self._source = None  # working directory of the ranks; `None`: nothing to copy
        self._before: set[str] = set()  # names in the working directory that are not copied
        self._copied_s = time.monotonic()
        self._failed: dict[str, OSError] = {}  # paths that could not be copied

    def begin(self):
        """Notes which files exist in the working directory. Called before the train function."""
        source = os.path.realpath(os.getcwd())
        if (source + os.sep).startswith(os.path.realpath(self._target) + os.sep):
            return  # the ranks write into the folder itself
        self._source = source
        self._before = set(os.listdir(source)) - set(_names_in(self._target))

    def after_report(self, has_checkpoint):
        """Copies every `sync_period` seconds, and after a report with a checkpoint if sync_artifacts_on_checkpoint. Called on one rank of each node."""
        is_due = has_checkpoint and self._config.sync_artifacts_on_checkpoint
        if is_due or time.monotonic() - self._copied_s >= self._config.sync_period:
            self.copy()

    def copy(self):
        """Copies the files that changed since their last copy."""
        if self._source is None:
            return
        self._copied_s = time.monotonic()
        known = len(self._failed)
        with _turn_on_this_node(self._skipped):
            for name in sorted(set(_names_in(self._source)) - self._before):
                if not name.startswith(".") and name != "__pycache__":
                    self._copy_tree(os.path.join(self._source, name), os.path.join(self._target, name))
        self._note_failures(list(self._failed.items())[known:])

    def _note_failures(self, failures):
        if failures:
            (path, error), more = failures[0], len(failures) - 1
            rest = f"; {more} more files or folders cannot be copied either" if more else ""
            _notes.warn(f"SyncConfig(sync_artifacts=True): {path} cannot be copied into {self._target}: {error}{rest}")

    def _copy_tree(self, source, target):
        try:
            status = os.lstat(source)
            if stat.S_ISDIR(status.st_mode):
                if (self._skipped + os.sep).startswith(source + os.sep):
                    return  # it contains the run
                os.makedirs(target, exist_ok=True)
                for name in sorted(os.listdir(source)):
                    self._copy_tree(os.path.join(source, name), os.path.join(target, name))
            elif stat.S_ISREG(status.st_mode):
                _copy_file(source, target, status)
        except OSError as error:
            if os.path.lexists(source):
                self._failed.setdefault(source, error)


@contextlib.contextmanager
def _turn_on_this_node(run_dir):
    """Context manager that the ranks of a node enter one after the other, so that each changed file of a working directory that they share is copied once.
    At the end of the train function every rank copies, since a rank cannot know whether the others have written all their files."""
    name = hashlib.sha256(f"{os.getuid()} {run_dir}".encode()).hexdigest()
    until_s = time.monotonic() + _TURN_S
    with socket.socket(socket.AF_UNIX) as turn:
        while time.monotonic() < until_s:
            try:
                turn.bind(f"\0trainrt-artifacts-{name}")  # a name without a file; the kernel frees it with the process
                break
            except OSError:
                time.sleep(0.02)
        yield


def _copy_file(source, target, status):
    """Copies a file with its modification time, by an atomic rename. Does nothing if the existing copy has the same size and time."""
    try:
        known = os.lstat(target)
        if (known.st_size, known.st_mtime_ns) == (status.st_size, status.st_mtime_ns):
            return
    except FileNotFoundError:
        pass
    with open(source, "rb", opener=lambda path, flags: os.open(path, flags | os.O_NOFOLLOW)) as file:

        def write(copy):
            shutil.copyfileobj(file, copy)
            copy.flush()
            os.utime(copy.fileno(), ns=(status.st_atime_ns, status.st_mtime_ns))

        _new_file.replace(os.path.dirname(target), os.path.basename(target), write)


def _names_in(folder):
    try:
        return os.listdir(folder)
    except OSError:
        return []
