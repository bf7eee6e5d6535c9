"""Notes on standard error, each at most once per process."""

from __future__ import annotations

import os
import sys

_printed: set[str] = set()


def say(line: str) -> None:
    """Prints a note, on rank 0 or in a script that starts the ranks, unless this process has printed it before."""
    if line in _printed or os.environ.get("RANK", "0") != "0":
        return
    _printed.add(line)
    print(f"trainrt: {line}", file=sys.stderr, flush=True)
