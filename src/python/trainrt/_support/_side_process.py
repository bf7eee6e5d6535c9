"""A Python process beside this one, which runs the user's functions: it is reached through a socket, its standard input, and ends when this
process does, however that ends. Never made by fork: libraries keep threads and locks."""

import multiprocessing.connection
import os
import select
import signal
import socket
import subprocess
import sys
import threading

from ._signals import STOP_SIGNALS

_PACKAGES = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # where trainrt lies
# It is no rank, and frameworks in it shall not think so.
_OF_RANKS = ("PMI_", "PMIX_", "SLURM_PROCID", "TRAINRT_FD", "RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "NODE_RANK", "GROUP_RANK",
             "MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_", "TF_CONFIG", "HOROVOD_", "JAX_COORDINATOR_", "KERAS_DISTRIBUTION_")


def without_ranks():
    """The environment for a process that is no rank's program."""
    return {name: value for name, value in os.environ.items() if not name.startswith(_OF_RANKS)}


class SideProcess:
    """`module`: its main program, which calls connection_here(). It has its own environment variables `more`."""

    def __init__(self, module, **more):
        ours, theirs = socket.socketpair()
        with theirs:
            environment = {**without_ranks(), **more}
            environment["PYTHONPATH"] = os.pathsep.join([_PACKAGES, *filter(None, [environment.get("PYTHONPATH")])])
            self._process = subprocess.Popen([sys.executable, "-m", module], stdin=theirs, env=environment)
        self.connection = multiprocessing.connection.Connection(ours.detach())

    @property
    def pid(self):
        return self._process.pid

    def end_in_words(self):
        """How it ended, of one that is gone."""
        try:
            code = self._process.wait(10)
        except subprocess.TimeoutExpired:
            return "and does not end"
        return f"killed by signal {-code}" if code < 0 else f"exit {code}"

    def close(self):
        """Ends it, also inside of a function."""
        self.connection.close()  # at which it ends
        try:
            self._process.wait(1)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


# ---- in that process ------------------------------------------------------------------------------------------------------------


def connection_here():
    """To the process that started this one, which decides when this one ends: signals of the batch system are its to obey."""
    for each in STOP_SIGNALS:
        signal.signal(each, signal.SIG_IGN)
    connection = multiprocessing.connection.Connection(os.dup(0))
    with open(os.devnull) as nothing:
        os.dup2(nothing.fileno(), 0)
    threading.Thread(target=_end_with, args=(connection.fileno(),), daemon=True).start()
    return connection


def _end_with(descriptor):
    """Ends this process when the one that started it is gone, whatever function runs here."""
    poll = select.poll()
    poll.register(descriptor, select.POLLRDHUP)
    while not poll.poll():
        pass
    os._exit(1)
