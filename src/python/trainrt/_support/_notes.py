"""Notes, warnings and errors on standard error, each at most once per process. A level of the logger `trainrt.train` above INFO hides only notes."""

from __future__ import annotations

import logging
import os
import sys

LOGGER = "trainrt.train"
_printed: set[str] = set()


def say(line: str) -> None:
    """Prints a note, on rank 0 or in a script that starts the ranks, unless this process has printed it before or the logger hides notes."""
    if logging.getLogger(LOGGER).level <= logging.INFO:
        _print_once(line)


def warn(line: str) -> None:
    """Prints "warning: " and the line, as say() does, but at every level of the logger."""
    _print_once(f"warning: {line}")


def error(line: str) -> None:
    """Prints "error: " and the line, as say() does, but at every level of the logger."""
    _print_once(f"error: {line}")


def _print_once(line: str) -> None:
    if line in _printed or os.environ.get("RANK", "0") != "0":
        return
    _printed.add(line)
    print(f"trainrt: {line}", file=sys.stderr, flush=True)
