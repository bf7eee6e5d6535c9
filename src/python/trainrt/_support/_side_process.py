"""Python processes that run functions of the user for this process. They communicate through a socket, which is their standard input, and exit when
this process exits for any reason. They are not forked, since threads and locks of libraries do not survive a fork."""

from __future__ import annotations

import multiprocessing.connection
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from typing import NoReturn

from ._signals import STOP_SIGNALS

_PACKAGES = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # the folder that contains trainrt
# Prefixes of environment variables by which frameworks detect that a process is a rank. A side process is no rank, so it does not get these
# variables.
_OF_RANKS = ("PMI_", "PMIX_", "SLURM_PROCID", "TRAINRT_FD", "RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "NODE_RANK", "GROUP_RANK",
             "MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_", "TF_CONFIG", "HOROVOD_", "JAX_COORDINATOR_", "KERAS_DISTRIBUTION_")


def without_ranks() -> dict[str, str]:
    """Returns the environment for a process that is not the program of a rank."""
    return {name: value for name, value in os.environ.items() if not name.startswith(_OF_RANKS)}


class SideProcess:
    """A process that runs the module `module`, which calls connection_here(). `more` are additional environment variables."""

    def __init__(self, module: str, **more: str) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            environment = {**without_ranks(), **more}
            environment["PYTHONPATH"] = os.pathsep.join([_PACKAGES, *filter(None, [environment.get("PYTHONPATH")])])
            self._process = subprocess.Popen([sys.executable, "-m", module], stdin=theirs.fileno(), env=environment)
        self.connection = multiprocessing.connection.Connection(ours.detach())

    @property
    def pid(self) -> int:
        return self._process.pid

    def end_in_words(self) -> str:
        """Returns how the process ended, for messages, after its connection has closed."""
        try:
            code = self._process.wait(10)
        except subprocess.TimeoutExpired:
            return "it closed its connection and did not exit within 10 s"
        return f"killed by signal {-code}" if code < 0 else f"exit {code}"

    def close(self) -> None:
        """Ends the process, also while it runs a function."""
        self.connection.close()  # the process exits when it notices the end of the connection
        try:
            self._process.wait(1)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


# ---- called in the side process ----


def connection_here() -> multiprocessing.connection.Connection:
    """Returns the connection to the process that started this one. That process handles the signals of the batch system, so this one ignores
    them, and exits when the connection closes."""
    for each in STOP_SIGNALS:
        signal.signal(each, signal.SIG_IGN)
    connection = multiprocessing.connection.Connection(os.dup(0))
    with open(os.devnull) as nothing:
        os.dup2(nothing.fileno(), 0)
    threading.Thread(target=_end_with, args=(connection.fileno(),), daemon=True).start()
    return connection


def _end_with(descriptor: int) -> NoReturn:
    """Waits until the other end of the connection closes. Then ends this process, even if a function is running."""
    poll = select.poll()
    poll.register(descriptor, select.POLLRDHUP)
    while not poll.poll():
        pass
    os._exit(1)
