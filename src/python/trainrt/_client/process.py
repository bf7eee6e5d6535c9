"""context(), which returns the Context of this process and connects the process to its runtime at the first call."""

from __future__ import annotations

import atexit
import os
import stat
import sys
from collections.abc import Callable
from typing import Any

from .channel import Channel
from .context import Context
from .handshake import leave_stops_to_runtime

_context: Context | None = None
_launch_run_dir = os.environ.get("TRAINRT_RUN_DIR", "")  # read at the import, since each run that opens changes the variable


def context() -> Context:
    """Returns the Context of this program. Each call returns the same object.

    The main thread must make the first call. After the first call, this process and its child processes ignore the signals SIGTERM, SIGINT, SIGHUP,
    SIGUSR1 and SIGUSR2. Batch systems send these signals to all processes to stop a run. The runtime handles the signals: it decides when the run
    stops, and the next collective call then raises Stop. `multiprocessing` and `subprocess.Popen.terminate()` use SIGKILL in place of SIGTERM.

    Raises
    ------
    RuntimeError
        trainrt has not started this program.

    Examples
    --------
    >>> import trainrt
    >>> trainrt.context().world_rank
    0
    """
    return _context or _connect(Context._greet)


def open_run(settings: dict[str, str], number: int = 1, defaults: dict[str, str] | None = None) -> bool:
    """Opens a run by Context.open_run(). Must be the first use of the Context, or follow close_run(). Returns False if the run has already finished."""
    if _context is not None:
        return _context.open_run(settings, number, defaults)
    is_running: list[bool] = []
    _connect(lambda ctx: is_running.append(ctx.open_run(settings, number, defaults)))
    return is_running[0]


def is_connected() -> bool:
    """Returns whether trainrt has started this process. If not, context() raises RuntimeError."""
    return has_context() or "TRAINRT_FD" in os.environ


def has_context() -> bool:
    """Returns whether context() or open_run() was called."""
    return _context is not None


def launch_run_dir() -> str:
    """Returns the directory of the run that the launch opens by default: STORAGE_PATH/NAME, the same on all ranks. "" if trainrt has not started this
    program."""
    return _launch_run_dir


def _connect(greet: Callable[[Context], Any]) -> Context:
    """Creates the Context, and calls `greet(context)`, which sends the first request."""
    global _context
    fd = os.environ.get("TRAINRT_FD")
    if fd is None:
        name = os.path.basename(sys.argv[0])
        script = "train.py" if name in ("", "-c", "-m") else name
        raise RuntimeError(f"trainrt did not start this program. Start it by `trainrt -n 2 -- python3 {script}`, "
                           f"or in a Slurm job by `srun trainrt -- python3 {script}`")
    _require_socket(fd)
    leave_stops_to_runtime()
    del os.environ["TRAINRT_FD"]  # child processes must not use the connection
    _context = Context(Channel(int(fd)))
    _report_uncaught_exceptions(_context)
    os.register_at_fork(after_in_child=_context._close_in_fork)
    greet(_context)
    atexit.register(_context._send_done)
    return _context


def _require_socket(fd: str) -> None:
    """Raises RuntimeError unless `fd`, the value of TRAINRT_FD, is an open socket. If the parent process is a program of trainrt, this process may
    have inherited TRAINRT_FD without the socket."""
    try:
        if stat.S_ISSOCK(os.fstat(int(fd)).st_mode):
            return
    except (ValueError, OverflowError, OSError):
        pass
    raise RuntimeError(f"TRAINRT_FD={fd} is inherited from another program, and is not a connection of this process. A program that trainrt "
                       f"starts must call trainrt.context() before it starts other programs; start an independent program without TRAINRT_FD "
                       f"(env -u TRAINRT_FD)")


def _report_uncaught_exceptions(ctx: Context) -> None:
    """Makes this process send uncaught exceptions to the runtime, which logs them with the rank. Python prints an exception
    that the runtime does not accept, because it has exited or the run already ends for another reason."""
    print_exception = sys.excepthook

    def report(kind, error, trace):
        if not ctx._report_failure(kind, error, trace):
            print_exception(kind, error, trace)

    sys.excepthook = report
