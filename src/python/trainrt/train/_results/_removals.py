"""Directories of the user's that go once what was in them is committed."""

import os
import shutil

from ..._support import _notes


class Removals:
    """Nothing goes that a run has committed, that was written to after it was reported, or whose commit failed."""

    def __init__(self):
        self._reported = {}  # {path: (stamp of the directory when it was reported, the newest checkpoint's index before that)}

    def add(self, checkpoint, index_before):
        if not checkpoint.is_of_a_run():
            self._reported[checkpoint.path] = _stamp(checkpoint.path), index_before

    def __bool__(self):
        return bool(self._reported)

    def carry_out(self, newest_index):
        """No commit is on its way, and `newest_index` is that of the newest checkpoint."""
        for path, (stamp, index_before) in self._reported.items():
            if newest_index <= index_before:
                _notes.say(f"warning: {path} stays: its checkpoint was not committed")
            elif stamp is not None and _stamp(path) == stamp:
                shutil.rmtree(path, ignore_errors=True)
        self._reported.clear()


def _stamp(path):
    """Another one for a directory that was made anew, or in which a file came, went or was replaced."""
    try:
        found = os.stat(path)
        return found.st_dev, found.st_ino, found.st_mtime_ns
    except OSError:
        return None
