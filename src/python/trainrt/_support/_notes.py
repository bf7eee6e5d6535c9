"""Notes on standard error, each at most once per process. A level of the logger `trainrt.train` above INFO hides them."""

from __future__ import annotations

import logging
import os
import sys

LOGGER = "trainrt.train"
_printed: set[str] = set()


def say(line: str) -> None:
    """Prints a note, on rank 0 or in a script that starts the ranks, unless this process has printed it before or the logger hides notes."""
    if line in _printed or os.environ.get("RANK", "0") != "0" or logging.getLogger(LOGGER).level > logging.INFO:
        return
    _printed.add(line)
    print(f"trainrt: {line}", file=sys.stderr, flush=True)
