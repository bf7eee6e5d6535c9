"""Main program of a process that validates one checkpoint: `python3 -m trainrt.train._validation._process`, started by Validator."""

import pickle
import sys
import traceback

from ..._client.values import kind_of
from ..._support import _pickling
from ..._support._side_process import connection_here
from .._results._checkpoint import Checkpoint
from .._sessions._metrics import flat_metrics


def main():
    connection = connection_here()
    try:
        answer = _answer(connection)
        sys.stdout.flush()
        connection.send(answer)
    except (EOFError, OSError, KeyboardInterrupt):
        pass  # the Validator has closed the connection


def _answer(connection):
    """Returns ('metrics', metrics) or ('error', text) for the request that the Validator sends."""
    call, function, path, arguments = pickle.loads(connection.recv_bytes())  # trusted: the Validator, which started this process, sent it
    try:
        return "metrics", _metrics_of(_pickling.loaded(function, call), path, arguments)
    except Exception as error:
        print(f"trainrt: validation of {path} failed:", file=sys.stderr)
        traceback.print_exc()
        return "error", f"{type(error).__name__}: {error}"


def _metrics_of(function, path, arguments):
    found = function(Checkpoint(path), **arguments)
    if not isinstance(found, dict):
        raise TypeError(f"the validation function returned {kind_of(found)}; it must return a dict of metrics")
    return {name: getattr(value, "value", value) for name, value in flat_metrics(found).items()}


if __name__ == "__main__":
    main()
