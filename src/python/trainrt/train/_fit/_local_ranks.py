"""The processes that fit() starts: their output, their signals, their end."""

import codecs
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque

_FORWARDED = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
_PR_SET_PDEATHSIG = 1
_LAST_LINES = 30
_ONE_STOP_S = 1.0


class End:
    """How they ended: the exit code, the last lines of standard error as far as they were seen, and whether Ctrl-C was pressed."""

    def __init__(self, code, last_lines, interrupted):
        self.code, self.last_lines, self.interrupted = code, last_lines, interrupted


def _dies_with_this_process():
    """What runs in the child before it becomes trainrt: if the script is killed, the run stops and saves."""
    libc = ctypes.CDLL(None)

    def ask_the_kernel():
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)

    return ask_the_kernel


def _is_the_process_own(stream, number):
    """Whether what a child writes to `number` comes out where `stream` goes; in a notebook it does not."""
    try:
        return stream.fileno() == number
    except (AttributeError, OSError, ValueError):
        return False


class _Forwarder:
    """Copies a pipe into a stream of this process as it comes, and keeps the last lines. A stream that takes no more is left alone; the
    pipe is read to its end, or the ranks would wait for it for ever."""

    def __init__(self, pipe, stream):
        self.lines = deque(maxlen=_LAST_LINES)
        self._pipe, self._stream = pipe, stream
        self._thread = threading.Thread(target=self._copy, daemon=True)
        self._thread.start()

    def _copy(self):
        rest, decoder, data = "", codecs.getincrementaldecoder("utf-8")("replace"), True
        while data:
            data = os.read(self._pipe.fileno(), 1 << 16)
            text = decoder.decode(data, final=not data)
            self._show(text)
            *whole, rest = (rest + text).split("\n")
            self.lines.extend(whole)
        if rest:
            self.lines.append(rest)

    def _show(self, text):
        try:
            if self._stream is not None:
                self._stream.write(text)
                self._stream.flush()
        except Exception:  # whatever a stream of the user's raises: nobody reads the pipe, or it is closed, or takes other characters
            self._stream = None

    def finish(self):
        self._thread.join(timeout=5)  # a process that the ranks left behind may hold the pipe
        return list(self.lines)


def stop_signal_of(command):
    """The signal that makes `command` (srun or trainrt) stop its ranks. srun keeps a SIGINT for itself; a signal that this process ignores
    (SIGINT in a background command of a shell script) is ignored by trainrt, too."""
    if command[0] == "srun":
        return signal.SIGUSR1
    return signal.SIGTERM if signal.getsignal(signal.SIGINT) is signal.SIG_IGN else signal.SIGINT


class Processes:
    """A command, with what it starts, in a session of its own: a Ctrl-C of the terminal reaches it once, from here."""

    def __init__(self, command, environment, stop_signal):
        self._command, self._environment, self._stop_signal = command, environment, stop_signal
        self._process = None
        self._interrupts = 0
        self._stopped_at = None
        self._early = []  # what came before there was a process

    def run(self):
        """Starts it; returns when it has ended. Signals of this process go there meanwhile, if this is the main thread."""
        is_main = threading.current_thread() is threading.main_thread()
        taken = [number for number in (*_FORWARDED, signal.SIGINT) if is_main and signal.getsignal(number) is not signal.SIG_IGN]  # nohup
        before = {number: signal.signal(number, self._take) for number in taken}
        try:
            forwarders = self._start()
            code = self._process.wait()
        finally:
            for number, handler in before.items():
                signal.signal(number, signal.SIG_DFL if handler is None else handler)
        lines = [each.finish() if each else [] for each in forwarders]
        return End(code, lines[1], self._interrupts > 0)

    def _start(self):
        """Returns what forwards standard output and standard error, None for what the process writes itself."""
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:  # Python has none if the descriptor was closed at the start
                stream.flush()
        owns_out = _is_the_process_own(sys.stdout, 1)
        shows_err = _is_the_process_own(sys.stderr, 2) and os.isatty(2)  # a progress bar needs the terminal itself
        self._process = subprocess.Popen(self._command, env=self._environment, stdin=subprocess.DEVNULL, start_new_session=True,
                                         stdout=None if owns_out else subprocess.PIPE, stderr=None if shows_err else subprocess.PIPE,
                                         preexec_fn=_dies_with_this_process())
        for how, number in self._early:
            self._send(how, number)
        return (None if owns_out else _Forwarder(self._process.stdout, sys.stdout),
                None if shows_err else _Forwarder(self._process.stderr, sys.stderr))

    def _take(self, number, _frame):
        if number == signal.SIGINT:
            self.interrupt()
        elif number == signal.SIGTERM and self._is_second_stop():
            self._send(os.killpg, signal.SIGKILL)
        else:
            self._send(os.kill, number)

    def _is_second_stop(self):
        """Not of the two that come for one stop, when a batch script passes on what its processes get too."""
        now, first = time.monotonic(), self._stopped_at
        if first is None:
            self._stopped_at = now
        return first is not None and now - first > _ONE_STOP_S

    def interrupt(self):
        """The ranks stop and save; the second time they are killed."""
        self._interrupts += 1
        if self._interrupts == 1:
            print("trainrt: interrupted: the ranks stop and save (again: they are killed)", file=sys.stderr, flush=True)
            self._send(os.kill, self._stop_signal)
        else:
            self._send(os.killpg, signal.SIGKILL)

    def ask_to_stop(self):
        """From another thread: the ranks stop and save."""
        self._send(os.kill, signal.SIGTERM)

    def _send(self, how, number):
        if self._process is None:
            self._early.append((how, number))
            return
        try:
            how(self._process.pid, number)
        except ProcessLookupError:
            pass
