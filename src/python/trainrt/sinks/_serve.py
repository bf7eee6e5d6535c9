"""Reads the reports of a run, which trainrt writes to this program's standard input, and passes them to a tracker."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

from .._support import _metric_json

_LIKE_OWN = re.compile(r"(metric/)*runtime/")
EXIT_NO_RESTART = 64  # exit code after which trainrt does not start the program again


@dataclass(frozen=True)
class Begin:
    """The first message, which describes the run.

    Examples
    --------
    >>> from trainrt.sinks import Begin
    >>> Begin(run="first", run_id="0123456789abcdef", run_dir="runs/first", after=0, config={}).run
    'first'
    """

    run: str  # name of the run
    run_id: str  # 16 hexadecimal digits, the same after restarts
    run_dir: str
    after: int  # number of the last report that the tracker has stored before
    config: dict  # "section.key": text


class CannotServe(Exception):
    """Raised if the program cannot work and a restart would not help. The message names the cause and the solution."""


def serve(open_tracker: Callable[[Begin], Any]) -> None:
    """Sends the reports to a tracker. Returns when the attempt of the run has ended.

    Parameters
    ----------
    open_tracker : function
        Called with Begin. It returns an object with `log(iteration, metrics, time)` and `finish(complete)`. `metrics` is {key: number}, which may be
        NaN and infinite; `time` is seconds since 1970; `complete` is whether the attempt has ended without an error. The object may have an attribute
        `last`, the number of the last report that the tracker has stored. The function raises CannotServe or ImportError if the program cannot work.

    Examples
    --------
    >>> from trainrt.sinks import serve
    >>> class Lines:
    ...     def __init__(self, begin):
    ...         self.file = open(f"{begin.run_dir}/lines.txt", "a")
    ...     def log(self, iteration, metrics, time):
    ...         print(iteration, metrics, file=self.file)
    ...     def finish(self, complete):
    ...         self.file.close()
    >>> if __name__ == "__main__":  # in the program that `[sink.NAME] program` starts
    ...     serve(Lines)  # doctest: +SKIP
    """
    for each in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(each, signal.SIG_IGN)  # Slurm sends these signals to all processes of a job, but this program must run until its input ends
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # output of libraries must not be read as an answer
    print(0, file=answers, flush=True)  # reports count as stored when their number is printed
    messages = map(json.loads, sys.stdin)
    first = next(messages, None)
    if first is None:
        return
    tracker = _opened(open_tracker, Begin(*(first[field.name] for field in fields(Begin))))
    complete = False
    for message in messages:
        if message["type"] == "report":
            if message["iteration"] > getattr(tracker, "last", 0):
                tracker.log(message["iteration"], numbers(message["metrics"]), message["metrics"].get("_timestamp"))
            print(message["iteration"], file=answers, flush=True)
        complete = message["type"] == "end"
    tracker.finish(complete)


def _opened(open_tracker: Callable[[Begin], Any], begin: Begin) -> Any:
    try:
        return open_tracker(begin)
    except ImportError as error:
        why = f"{error}; install it for {sys.executable}"
    except CannotServe as error:
        why = str(error)
    print(why, file=sys.stderr)
    sys.exit(EXIT_NO_RESTART)


def numbers(metrics: dict[str, Any]) -> dict[str, float]:
    """Returns the numbers of a line of result.json by name. Keys of the runtime are below `runtime/`, since trackers use keys with `_` themselves; a
    user's key that begins with `runtime/` is below `metric/`. src/metrics/outputs/event_file.cpp does the same."""
    own = {"_training_iteration", "_timestamp"}
    values = {key: _number(value) for key, value in metrics.items() if key not in own}
    return {_name_of(key): value for key, value in values.items() if value is not None}


def _name_of(key: str) -> str:
    if key.startswith("_"):
        return f"runtime/{key[1:]}"
    return f"metric/{key}" if _LIKE_OWN.match(key) else key


def _number(value: Any) -> Any:
    found = _metric_json.number_or_text(value)
    return None if isinstance(found, str) else found
