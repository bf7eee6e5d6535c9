"""The main program of a process that runs map functions (_map_workers.py starts it): `python3 -m trainrt.data._map_worker`, with a socket
as its standard input."""

import multiprocessing.connection
import os
import pickle
import select
import signal
import sys
import threading
import traceback

from .. import _client
from ..train import _travel
from ._operations import applied


def _end_with(descriptor):
    """Ends this process when the one that started it is gone, whatever function runs here."""
    poll = select.poll()
    poll.register(descriptor, select.POLLRDHUP)
    while not poll.poll():
        pass
    os._exit(1)


def _serve(connection):
    call, work = pickle.loads(connection.recv_bytes())  # from the process that started this one: there is no other end
    operations = _travel.loaded(work, call)
    while True:
        try:
            batch, draws = connection.recv()
        except EOFError:
            return
        try:
            answer = ("batch", applied(operations, batch, draws))
        except Exception:
            answer = ("error", traceback.format_exc())
        connection.send(answer)


def main():
    for each in (*_client._STOP_SIGNALS, signal.SIGINT):
        signal.signal(each, signal.SIG_IGN)  # the process that takes the batches decides
    connection = multiprocessing.connection.Connection(os.dup(0))
    with open(os.devnull) as nothing:
        os.dup2(nothing.fileno(), 0)
    threading.Thread(target=_end_with, args=(connection.fileno(),), daemon=True).start()
    try:
        _serve(connection)
    except (OSError, KeyboardInterrupt):
        pass  # nobody takes the answer any more
    except Exception:
        connection.send(("error", traceback.format_exc()))
        sys.exit(1)


if __name__ == "__main__":
    main()
