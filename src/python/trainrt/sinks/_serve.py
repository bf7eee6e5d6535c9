"""What programs that get a run's reports on standard input have in common."""
import json
import os
import re
import signal
import sys
from dataclasses import dataclass

from .._support import _metric_json

_LIKE_OWN = re.compile(r"(metric/)*runtime/")
IS_OF_NO_USE = 64  # the exit code that says that another start would not help


@dataclass(frozen=True)
class Begin:
    """What the program is told first."""
    run: str  # its name
    run_id: str  # 16 hexadecimal digits, the same over restarts
    run_dir: str
    after: int  # reports up to this one have been kept before
    config: dict  # "section.key": text


class CannotServe(Exception):
    """Another start would not help: what is missing, and what to do."""


def serve(open_tracker):
    """Hands the reports to open_tracker(Begin), an object with

    log(iteration, metrics, time)   metrics: numbers by key, NaN and infinities among them; time: seconds since 1970
    finish(complete)                the run's attempt ended in order, or not

    and, if the tracker can tell, `last`: the report that it had last. Returns when the run's attempt is over."""
    for each in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(each, signal.SIG_IGN)  # Slurm sends them to all of a job; the end of the input says when it is over
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints is no answer
    print(0, file=answers, flush=True)  # from here on only what is printed counts as kept
    messages = map(json.loads, sys.stdin)
    first = next(messages, None)
    if first is None:
        return
    tracker = _opened(open_tracker, Begin(*(first[key] for key in Begin.__dataclass_fields__)))
    complete = False
    for message in messages:
        if message["type"] == "report":
            if message["iteration"] > getattr(tracker, "last", 0):
                tracker.log(message["iteration"], numbers(message["metrics"]), message["metrics"].get("_timestamp"))
            print(message["iteration"], file=answers, flush=True)
        complete = message["type"] == "end"
    tracker.finish(complete)


def _opened(open_tracker, begin):
    try:
        return open_tracker(begin)
    except ImportError as error:
        why = f"{error}; install it for {sys.executable}"
    except CannotServe as error:
        why = str(error)
    print(why, file=sys.stderr)
    sys.exit(IS_OF_NO_USE)


def numbers(metrics):
    """The numbers of a line of result.json, each under a name of its own. The runtime's own keys are below `runtime/`, since trackers have keys
    with `_` themselves; a user's key that begins so is below `metric/`: `metric/runtime/x`. src/metrics/outputs/event_file.cpp does the same."""
    own = {"_training_iteration", "_timestamp"}
    values = {key: _number(value) for key, value in metrics.items() if key not in own}
    return {_name_of(key): value for key, value in values.items() if value is not None}


def _name_of(key):
    if key.startswith("_"):
        return f"runtime/{key[1:]}"
    return f"metric/{key}" if _LIKE_OWN.match(key) else key


def _number(value):
    found = _metric_json.number_or_text(value)
    return None if isinstance(found, str) else found
