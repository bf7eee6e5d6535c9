"""LaunchedCommand: the command that `fit()` launches, with its output, signals and exit code."""

import codecs
import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from typing import Any

from ..._support._key_pipe import key_pipe

_FORWARDED = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
_PR_SET_PDEATHSIG = 1
_MAX_LAST_LINES = 30
_SAME_STOP_S = 1.0


class CommandEnd:
    """How a command ended: its exit code, the last lines of its standard error as far as they were read, whether Ctrl-C was pressed, and whether a second
    SIGTERM killed it."""

    def __init__(self, code, last_lines, interrupted, is_killed):
        self.code, self.last_lines, self.interrupted, self.is_killed = code, last_lines, interrupted, is_killed


def stop_signal_of(command):
    """Returns the signal that makes `command` (srun or trainrt) stop its ranks. srun handles SIGINT itself. A signal that this process ignores
    (SIGINT in a background command of a shell script) is ignored by trainrt, too."""
    if command[0] == "srun":
        return signal.SIGUSR1
    return signal.SIGTERM if signal.getsignal(signal.SIGINT) is signal.SIG_IGN else signal.SIGINT


class LaunchedCommand:
    """A command in a session of its own, so that a Ctrl-C of the terminal reaches it only through this process.

    Parameters: `command`, its words; `environment`; `stop_signal`, the signal that stops its ranks; `store_keys`, access keys that the command reads
    from a pipe, or `None`.
    """

    def __init__(self, command, environment, stop_signal, store_keys=None):
        self._command, self._environment, self._stop_signal, self._store_keys = command, environment, stop_signal, store_keys
        self._process: Any = None
        self._interrupts = 0
        self._stopped_at = None  # time of the first SIGTERM
        self._is_killed = False  # whether a second SIGTERM has killed the command
        self._early = []  # (kill function, signal) of signals that arrived before the process was started

    def run(self):
        """Starts the command, waits for it and returns its CommandEnd. In the main thread, signals of this process are forwarded meanwhile."""
        is_main = threading.current_thread() is threading.main_thread()
        taken = [number for number in (*_FORWARDED, signal.SIGINT) if is_main and signal.getsignal(number) is not signal.SIG_IGN]  # nohup ignores SIGHUP
        before = {number: signal.signal(number, self._on_signal) for number in taken}
        try:
            forwarders = self._start()
            code = self._process.wait()
        finally:
            for number, handler in before.items():
                signal.signal(number, signal.SIG_DFL if handler is None else handler)
        lines = [each.finish() if each else [] for each in forwarders]
        return CommandEnd(code, lines[1], self._interrupts > 0, self._is_killed)

    def interrupt(self):
        """At the first call, makes the ranks save and stop; at the second call, kills them. Any thread may call it."""
        self._interrupts += 1
        if self._interrupts == 1:
            print("trainrt: interrupted: the ranks save and stop (interrupt again to kill them)", file=sys.stderr, flush=True)
            self._send(os.kill, self._stop_signal)
        else:
            self._send(_signal_session, signal.SIGKILL)

    def ask_to_stop(self):
        """Makes the ranks save and stop. Any thread may call it."""
        self._send(os.kill, signal.SIGTERM)

    def _start(self):
        """Returns the forwarders of standard output and standard error, or `None` for a stream that the process writes to directly."""
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:  # Python sets it to `None` if the file descriptor was closed at the start
                stream.flush()
        writes_out = _is_descriptor(sys.stdout, 1)
        writes_err = _is_descriptor(sys.stderr, 2) and os.isatty(2)  # a progress bar needs the terminal
        with key_pipe(self._store_keys) as (variables, descriptors):
            self._process = subprocess.Popen(self._command, env={**self._environment, **variables}, stdin=subprocess.DEVNULL, start_new_session=True,
                                             stdout=None if writes_out else subprocess.PIPE, stderr=None if writes_err else subprocess.PIPE,
                                             preexec_fn=_make_parent_death_signal(), pass_fds=descriptors)
        for function, number in self._early:
            self._send(function, number)
        return (None if writes_out else _Forwarder(self._process.stdout, sys.stdout),
                None if writes_err else _Forwarder(self._process.stderr, sys.stderr))

    def _on_signal(self, number, _frame):
        if number == signal.SIGINT:
            self.interrupt()
        elif number == signal.SIGTERM and self._is_second_stop():
            self._is_killed = True
            self._send(_signal_session, signal.SIGKILL)
        else:
            self._send(os.kill, number)

    def _is_second_stop(self):
        """Returns whether the first SIGTERM arrived more than a second ago. Two SIGTERMs within a second are one stop: a batch script may forward the signal
        to a process that also receives it from Slurm."""
        now, first = time.monotonic(), self._stopped_at
        if first is None:
            self._stopped_at = now
        return first is not None and now - first > _SAME_STOP_S

    def _send(self, function, number):
        if self._process is None:
            self._early.append((function, number))
            return
        try:
            function(self._process.pid, number)
        except ProcessLookupError:
            pass


def _signal_session(leader, number):
    """Sends a signal to all processes of a session: first to the group of its leader, so that it starts no other processes, then to those in other groups,
    such as the trials of a sweep."""
    os.killpg(leader, number)
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):  # the process has ended, or belongs to another user
            if os.getsid(int(entry)) == leader:
                os.kill(int(entry), number)


def _make_parent_death_signal():
    """Returns a function for the child process: if this process is killed, the child receives SIGTERM, so that the run saves and stops."""
    libc = ctypes.CDLL(None)

    def set_parent_death_signal():
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)

    return set_parent_death_signal


def _is_descriptor(stream, number):
    """Returns whether `stream` writes to file descriptor `number`. In a notebook, the standard streams do not."""
    try:
        return stream.fileno() == number
    except (AttributeError, OSError, ValueError):
        return False


class _Forwarder:
    """Copies a pipe into a stream of this process, in a thread, and keeps the last lines. The pipe is read to its end even if the stream fails:
    otherwise the ranks would block."""

    def __init__(self, pipe, stream):
        self.lines = deque(maxlen=_MAX_LAST_LINES)
        self._pipe, self._stream = pipe, stream
        self._thread = threading.Thread(target=self._copy, daemon=True)
        self._thread.start()

    def _copy(self):
        rest, decoder, is_open = "", codecs.getincrementaldecoder("utf-8")("replace"), True
        while is_open:
            data = os.read(self._pipe.fileno(), 1 << 16)
            is_open = bool(data)
            text = decoder.decode(data, final=not is_open)
            self._show(text)
            *complete, rest = (rest + text).split("\n")
            self.lines.extend(complete)
        if rest:
            self.lines.append(rest)

    def _show(self, text):
        try:
            if self._stream is not None:
                self._stream.write(text)
                self._stream.flush()
        except Exception:  # for example, the stream is closed, its reader has exited, or its encoding lacks a character
            self._stream = None

    def finish(self):
        """Returns the last lines. Waits at most 5 s, since processes left by the ranks may keep the pipe open."""
        self._thread.join(timeout=5)
        return list(self.lines)
