"""The main program of a process that validates one checkpoint (_validator.py starts it)."""

import pickle
import sys
import traceback

from ..._support import _pickling
from .._results._checkpoint import Checkpoint
from .._sessions._metrics import flat_metrics
from ..._support._side_process import connection_here


def _metrics_of(function, path, arguments):
    found = function(Checkpoint(path), **arguments)
    if not isinstance(found, dict):
        raise TypeError(f"the validation function returned a {type(found).__name__}, and not a dict of metrics")
    return {name: getattr(value, "value", value) for name, value in flat_metrics(found).items()}


def _answer(connection):
    call, work, path, arguments = pickle.loads(connection.recv_bytes())  # from the process that started this one
    try:
        return "metrics", _metrics_of(_pickling.loaded(work, call), path, arguments)
    except Exception as error:
        print(f"trainrt: the validation of {path} failed:", file=sys.stderr)
        traceback.print_exc()
        return "error", f"{type(error).__name__}: {error}"


def main():
    connection = connection_here()
    try:
        answer = _answer(connection)
        sys.stdout.flush()
        connection.send(answer)
    except (EOFError, OSError, KeyboardInterrupt):
        pass  # nobody takes the answer any more


if __name__ == "__main__":
    main()
