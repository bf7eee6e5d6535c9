"""Removes directories that the user reported, after the checkpoints with their files are committed."""

import os
import shutil

from ..._support import _notes


class DeferredRemovals:
    """Directories to remove. Keeps directories of a run, directories that changed after their report, and those without a committed checkpoint."""

    def __init__(self):
        self._reported = {}  # by path: stamp of the directory at its report, and index of the newest checkpoint before it

    def add(self, checkpoint, index_before):
        """Adds the directory of `checkpoint`. `index_before`: index of the newest committed checkpoint before the report, -1 without a checkpoint."""
        if not checkpoint.is_of_a_run():
            self._reported[checkpoint.path] = _stamp(checkpoint.path), index_before

    def __bool__(self):
        return bool(self._reported)

    def carry_out(self, newest_index):
        """Removes the directories. Call it when no commit is in progress. `newest_index`: index of the newest committed checkpoint."""
        for path, (stamp, index_before) in self._reported.items():
            if newest_index <= index_before:
                _notes.warn(f"{path} is kept: its checkpoint was not committed")
            elif stamp is not None and _stamp(path) == stamp:
                shutil.rmtree(path, ignore_errors=True)
        self._reported.clear()


def _stamp(path):
    """Returns a value that changes when the directory or one of its files is replaced, added or removed. Returns `None` if it does not exist."""
    try:
        found = os.stat(path)
        return found.st_dev, found.st_ino, found.st_mtime_ns
    except OSError:
        return None
