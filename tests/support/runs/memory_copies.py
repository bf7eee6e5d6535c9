"""The file in memory with the copies of a State (src/checkpoint/memory/copy_file.cpp), as a test sees it from outside of the run."""
import os
import struct
from pathlib import Path

_SEALS_BEGIN, _SEAL_BYTES, _IN_USE_AT = 64, 64, 48


class Copies:
    """The copies of a run that `trainrt -n` has started as `job`."""

    def __init__(self, job):
        self._folder = Path(f"/proc/{job.process.pid}/fd")
        self._path = None

    def is_in_use(self):
        """Returns whether a step has been copied since the last start of the ranks."""
        return self._number_at(_IN_USE_AT) != 0

    def is_being_written(self, rank):
        """Returns whether one of the rank's two copies is not sealed."""
        numbers = [self._number_at(_SEALS_BEGIN + (2 * rank + slot) * _SEAL_BYTES) for slot in range(2)]
        return 0 in numbers and any(numbers)

    def _number_at(self, offset):
        try:
            self._path = self._path or self._find()
            with open(self._path, "rb", buffering=0) as file:
                found = os.pread(file.fileno(), 8, offset)
        except (OSError, TypeError):  # the run has not made the file, or has ended
            self._path = None
            return 0
        return struct.unpack("q", found)[0] if len(found) == 8 else 0

    def _find(self):
        for entry in self._folder.iterdir():
            if os.readlink(entry).startswith("/memfd:trainrt state"):
                return entry
        return None
