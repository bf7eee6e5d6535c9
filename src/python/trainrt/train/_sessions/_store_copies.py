"""StoreCopies: copies the checkpoints of a run into a file system of pyarrow.fs that trainrt does not know, in a thread of rank 0."""

import os
import threading
import time

from ..._support import _notes
from .._results import _run_directory

_PAUSE_S = 2.0  # pause between two searches for new checkpoints
_MAX_FAILURES = 3  # maximum number of failures in a row after the train function has returned
_CALL_LIMIT_S = 600.0  # time limit of one call of the file system
_CHUNK_BYTES = 8 << 20
_RECORDS = ("run.json", "params.json", "result.json")


class StoreCopies:
    """The copies of one run. The thread runs until `wait()` returns True, or `end()`.

    Parameters: `run_dir`; `filesystem`, an object of pyarrow.fs; `folder`, the folder of the run in it. The manifest of a checkpoint is written last and
    removed first. A failed copy prints a note, and is tried again. A call of the file system that does not return in 10 minutes ends the wait.
    """

    def __init__(self, run_dir, filesystem, folder):
        self._run_dir, self._filesystem, self._folder = run_dir, filesystem, folder
        self._copied, self._failure = set(), None
        self._call = (time.monotonic(), folder)  # start and path of the newest call of the file system
        self._last, self._done, self._ended = threading.Event(), threading.Event(), threading.Event()
        threading.Thread(target=self._run, daemon=True).start()

    def wait(self, limit_s):
        """Waits at most `limit_s` for the copies of all checkpoints. Must be called after the train function has returned. Returns whether the copies are
        complete or were given up."""
        self._last.set()
        if self._done.wait(limit_s):
            return True
        began_s, path = self._call
        if time.monotonic() - began_s < _CALL_LIMIT_S:
            return False
        _notes.warn(f"storage_filesystem did not answer for {path} within {_CALL_LIMIT_S:g} s; the newest checkpoints are only in {self._run_dir}")
        return True

    def end(self):
        """Makes the thread stop before its next file."""
        self._ended.set()

    def _run(self):
        failures = 0
        while not self._ended.is_set():
            is_last = self._last.is_set()
            failures = 0 if self._copy_new() else failures + is_last
            if is_last and failures in (0, _MAX_FAILURES):
                break
            (self._ended if is_last else self._last).wait(_PAUSE_S)
        self._done.set()

    def _copy_new(self):
        """Copies new checkpoints, and removes checkpoints that the run no longer has. Returns False if a copy has failed."""
        self._begin_call(self._folder)
        try:
            paths = [path for path, _ in _run_directory.checkpoints(self._run_dir)]
            for path in paths:
                self._copy_checkpoint(path)
            for name in _RECORDS:
                if paths and os.path.exists(os.path.join(self._run_dir, name)):
                    self._put(name)
            kept = {os.path.basename(path) for path in paths}
            for name in self._copied - kept:
                self._remove(name)
        except _Ended:
            return True
        except Exception as error:  # an implementation of a file system may raise any exception
            if str(error) != self._failure:
                _notes.warn(f"cannot copy checkpoints to {self._folder} of storage_filesystem: {type(error).__name__}: {error}; training continues")
            self._failure = str(error)
            return False
        self._failure = None
        return True

    def _copy_checkpoint(self, path):
        name = os.path.basename(path)
        if name in self._copied:
            return
        try:
            manifest = _bytes_of(os.path.join(path, "manifest.json"))
            if self._content(f"{name}/manifest.json") != manifest:
                self._remove(name)
                manifest_name, rebuilt = f"{name}/manifest.json", f"{name}/state.h5"  # the runtime can build state.h5 from the other files
                inner = (os.path.relpath(os.path.join(folder, each), self._run_dir) for folder, _, files in os.walk(path) for each in files)
                for each in [*(each for each in inner if each not in (manifest_name, rebuilt)), manifest_name]:
                    self._put(each)
        except FileNotFoundError:
            if os.path.exists(path):
                raise
            return  # the run has deleted it
        self._copied.add(name)

    def _put(self, name):
        """Copies the file `name` of the run directory."""
        if self._ended.is_set():
            raise _Ended
        target = f"{self._folder}/{name}"
        with open(os.path.join(self._run_dir, name), "rb") as source:
            self._begin_call(target)
            self._filesystem.create_dir(os.path.dirname(target), recursive=True)
            with self._filesystem.open_output_stream(target) as stream:
                while chunk := source.read(_CHUNK_BYTES):
                    self._begin_call(target)
                    stream.write(chunk)

    def _content(self, name):
        """Returns the content of a small file of the copy, or `None` if it does not exist."""
        self._begin_call(f"{self._folder}/{name}")
        try:
            with self._filesystem.open_input_stream(f"{self._folder}/{name}") as stream:
                return stream.read()
        except FileNotFoundError:
            return None

    def _remove(self, name):
        for remove, target in ((self._filesystem.delete_file, f"{name}/manifest.json"), (self._filesystem.delete_dir, name)):
            self._begin_call(f"{self._folder}/{target}")
            try:
                remove(f"{self._folder}/{target}")
            except FileNotFoundError:
                pass
        self._copied.discard(name)

    def _begin_call(self, path):
        self._call = (time.monotonic(), path)


class _Ended(Exception):
    """Raised in the thread after end()."""


def _bytes_of(path):
    with open(path, "rb") as file:
        return file.read()
