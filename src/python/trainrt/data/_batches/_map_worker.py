"""Main program of a process that runs map functions. _map_workers.py starts `python3 -m trainrt.data._batches._map_worker` with a socket as standard input."""

import pickle
import sys
import traceback
from typing import Any

from ..._support import _pickling
from ..._support._side_process import connection_here
from .._operations import applied


def _serve(connection):
    call, work = pickle.loads(connection.recv_bytes())  # safe: sent by the parent process over a private socket
    operations = _pickling.loaded(work, call)
    while True:
        try:
            batch, draws = connection.recv()
        except EOFError:
            return
        try:
            answer: tuple[str, Any] = ("batch", applied(operations, batch, draws))
        except Exception:
            answer = ("error", traceback.format_exc())
        connection.send(answer)


def main():
    connection = connection_here()
    try:
        _serve(connection)
    except (OSError, KeyboardInterrupt):
        pass  # the receiver has exited
    except Exception:
        connection.send(("error", traceback.format_exc()))
        sys.exit(1)


if __name__ == "__main__":
    main()
