"""Validator: evaluates the checkpoints that request it, one at a time, on rank 0 during the training."""

import pickle
import threading
import time

from ..._support import _notes, _pickling
from ..._support._side_process import SideProcess
from .._results import _run_directory, _validation_file

_MIN_PAUSE_S, _MAX_PAUSE_S = 0.1, 5.0  # pause between two scans of the run directory


class Validator:
    """A thread that scans the run directory for checkpoints to validate, including those of earlier attempts, and evaluates each in a process.

    A validation that has not finished when this process exits is repeated by the next attempt.

    Parameters: `config`, a ValidationConfig; `run_dir`. Raises ValueError if the function cannot be pickled.
    """

    def __init__(self, config, run_dir):
        self._function = _pickling.pickled(config.fn, "the validation function")
        self._call = _pickling.call_of()
        self._run_dir = run_dir
        self._scan_now = threading.Event()
        self._scan_done = threading.Condition()
        self._scans = 0  # number of scans after which no checkpoint was left
        self._ended = False
        self._current = None  # path and SideProcess of the running validation, or `None`
        self._thread = threading.Thread(target=self._run, name="trainrt-validation", daemon=True)
        self._thread.start()

    def expect(self):
        """Announces that a checkpoint to validate was reported, and will be committed soon."""
        self._scan_now.set()

    def wait(self, timeout_s):
        """Waits at most `timeout_s`. Returns whether all checkpoints that are committed now are validated."""
        with self._scan_done:
            wanted = self._scans + 2  # a scan in progress may have missed the newest checkpoint
        until = time.monotonic() + timeout_s
        while True:
            self._scan_now.set()
            with self._scan_done:
                if self._scans >= wanted:
                    return True
                left = until - time.monotonic()
                if left <= 0:
                    return False
                self._scan_done.wait(min(left, 0.2))

    def current_path(self):
        """Returns the path of the checkpoint that is being validated, or `None`."""
        current = self._current
        return current[0] if current else None

    def end(self):
        """Ends the thread and its process. The next attempt repeats the validation that was running."""
        self._ended = True
        self._scan_now.set()
        current = self._current
        if current:
            current[1].close()

    # ---- methods that the thread calls ----

    def _run(self):
        pause_s = _MAX_PAUSE_S
        while not self._ended:
            if self._scan_now.wait(pause_s):
                self._scan_now.clear()
                pause_s = _MIN_PAUSE_S
            else:
                pause_s = min(1.5 * pause_s, _MAX_PAUSE_S)
            try:
                while not self._ended and self._validate_oldest():
                    pass
            except Exception as error:  # for example, the storage is not available; the checkpoint is validated later
                _notes.warn(f"cannot start a validation or write its result: {type(error).__name__}: {error}")
            with self._scan_done:
                self._scans += 1
                self._scan_done.notify_all()

    def _validate_oldest(self):
        """Validates the oldest checkpoint that requests it. Returns False if no checkpoint requests it."""
        path, request = next(iter(_run_directory.awaiting_validation(self._run_dir)), (None, None))
        if path is None:
            return False
        kind, found = self._outcome(path, request)
        if kind == "ended":
            return False
        if kind == "error":
            _notes.warn(f"validation of {path} failed; its metrics stay as they were reported: {found}")
        return _validation_file.write(path, found if kind == "metrics" else {}, found if kind == "error" else None)

    def _outcome(self, path, request):
        """Returns ('metrics', metrics), ('error', text), or ('ended', None) if end() was called."""
        process = SideProcess("trainrt.train._validation._process")
        self._current = path, process
        try:
            process.connection.send_bytes(pickle.dumps((self._call, self._function, path, request.get("fn_kwargs") or {})))
            if not process.connection.poll(request.get("timeout_s")):
                return "error", f"{_validation_file.TOO_LONG}, {request['timeout_s']:g} s"
            return process.connection.recv()
        except (EOFError, OSError):
            return ("ended", None) if self._ended else ("error", f"its process exited early, {process.end_in_words()}")
        finally:
            self._current = None
            process.close()
