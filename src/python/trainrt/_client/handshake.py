"""The first messages between a program and its rank, and how the program then handles POSIX signals."""

from __future__ import annotations

import faulthandler
import os
import platform
import signal
import socket
import subprocess
from multiprocessing.popen_fork import Popen
from typing import Any

from .._support._signals import STOP_SIGNALS

_PROTOCOL = 1
_store_keys: dict[str, str] | None = None


def use_store_keys(keys: dict[str, str] | None) -> None:
    """Makes the next introduction() contain the access keys of the run's store, {"key": text, "secret": text, "token": text}. `None`: no keys."""
    global _store_keys
    _store_keys = keys


def introduction() -> dict[str, Any]:
    """Returns the fields of the messages 'hello' and 'open_run'."""
    keys = {} if _store_keys is None else {"store_keys": _store_keys}
    use_store_keys(None)
    return {"protocol": _PROTOCOL, "client": f"Python {platform.python_version()}", "pid": os.getpid(), **keys, **_register_stacks_signal()}


def announce() -> None:
    """Notifies the runtime that this program uses the client. The runtime then waits longer for the first request. Does nothing if TRAINRT_FD does
    not name the descriptor that trainrt opened, for example in a process that the program has started."""
    try:
        fd = int(os.environ.get("TRAINRT_FD", ""))
        if os.fstat(fd).st_ino != int(os.environ.get("TRAINRT_FD_INODE", "")):
            return
        with socket.socket(fileno=os.dup(fd)) as channel:
            channel.sendall(b'{"op":"imported"}\n')
    except (ValueError, OSError):
        pass


def leave_stops_to_runtime() -> None:
    """Makes this process ignore and block the signals that stop a run. Child processes inherit this; terminate() therefore sends SIGKILL to them."""
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    # Workers of torch's DataLoader set their own handler of SIGTERM, which would end the worker and then this process. The inherited mask blocks
    # the signal in the workers.
    signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
    # Child processes ignore SIGTERM. With SIGTERM, closing a multiprocessing Pool would block forever.
    for kind in (Popen, subprocess.Popen):
        kind.terminate = kind.kill  # type: ignore[method-assign,attr-defined]


def _register_stacks_signal() -> dict[str, int]:
    """Makes this process, and processes that it forks, print the stacks of all threads on an unused real-time signal. The runtime sends the signal if
    the run hangs. Returns the signal's number as a field of the message, or {} if all signals are in use."""
    try:
        with open("/proc/self/status") as status:  # includes handlers of C libraries
            caught = int(next(line for line in status if line.startswith("SigCgt:")).split()[1], 16)
    except (OSError, StopIteration):  # no /proc, as in some containers: the program runs without stacks
        return {}
    free = [number for number in range(signal.SIGRTMAX, signal.SIGRTMIN - 1, -1) if not caught >> (number - 1) & 1]
    if not free:
        return {}
    faulthandler.register(free[0], file=2, all_threads=True)
    return {"stacks_signal": int(free[0])}
