"""Evaluates the checkpoints that ask for it beside the training, one after the other: on rank 0."""

import pickle
import threading
import time

from ..._support import _notes, _script, _pickling
from .._results import _run_directory, _validation_file
from ..._support._side_process import SideProcess

_SHORTEST_LOOK_S, _LONGEST_LOOK_S = 0.1, 5.0  # between two looks for a checkpoint that is to be committed


class Validator:
    """A thread that looks for checkpoints of the run that await their validation, also of earlier attempts, and has each evaluated in a
    process of its own. What is under way when this process ends is done again by the next attempt."""

    def __init__(self, config, run_dir):
        script = _script.of_this_process()
        self._work, needs_script = _pickling.pickled(config.fn, script, "the validation function")
        self._call = _pickling.call_of(script if needs_script else None)
        self._run_dir = run_dir
        self._look_now = threading.Event()
        self._pass_done = threading.Condition()
        self._passes = 0  # looks that found nothing more to do
        self._ended = False
        self._under_way = None  # (path, SideProcess)
        self._thread = threading.Thread(target=self._run, name="trainrt-validation", daemon=True)
        self._thread.start()

    def expect(self):
        """A checkpoint that asks for it has been reported; it is committed soon."""
        self._look_now.set()

    def wait(self, timeout_s):
        """Whether all that are committed now are validated, within that time."""
        with self._pass_done:
            wanted = self._passes + 2  # one may be looking already, and have passed by
        until = time.monotonic() + timeout_s
        while True:
            self._look_now.set()
            with self._pass_done:
                if self._passes >= wanted:
                    return True
                left = until - time.monotonic()
                if left <= 0:
                    return False
                self._pass_done.wait(min(left, 0.2))

    def under_way(self):
        """The checkpoint that is being evaluated, or None."""
        found = self._under_way
        return found[0] if found else None

    def end(self):
        """What is under way is left for the next attempt."""
        self._ended = True
        self._look_now.set()
        found = self._under_way
        if found:
            found[1].close()

    # ---- the thread ----

    def _run(self):
        pause_s = _LONGEST_LOOK_S
        while not self._ended:
            if self._look_now.wait(pause_s):
                self._look_now.clear()
                pause_s = _SHORTEST_LOOK_S
            else:
                pause_s = min(1.5 * pause_s, _LONGEST_LOOK_S)
            try:
                while not self._ended and self._validate_oldest():
                    pass
            except Exception as error:  # of the storage, say: the checkpoint stays as it is, and awaits the next attempt
                _notes.say(f"a validation could not be begun, or kept: {type(error).__name__}: {error}")
            with self._pass_done:
                self._passes += 1
                self._pass_done.notify_all()

    def _validate_oldest(self):
        """False if there is none."""
        path, request = next(iter(_run_directory.awaiting_validation(self._run_dir)), (None, None))
        if path is None:
            return False
        kind, found = self._outcome(path, request)
        if kind == "ended":
            return False
        if kind == "error":
            _notes.say(f"the validation of {path} failed, and its metrics stay as they were reported: {found}")
        return _validation_file.write(path, found if kind == "metrics" else {}, found if kind == "error" else None)

    def _outcome(self, path, request):
        process = SideProcess("trainrt.train._validation._validation_process")
        self._under_way = path, process
        try:
            process.connection.send_bytes(pickle.dumps((self._call, self._work, path, request.get("fn_kwargs") or {})))
            if not process.connection.poll(request.get("timeout_s")):
                return "error", f"it took longer than timeout_s, {request['timeout_s']:g} s"
            return process.connection.recv()
        except (EOFError, OSError):
            return ("ended", None) if self._ended else ("error", f"its process is gone, {process.end_in_words()}")
        finally:
            self._under_way = None
            process.close()
