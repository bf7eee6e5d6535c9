"""Callbacks of Ray Train 1.x: they run in the script that called Trainer.run(), with the results of all ranks."""

import json
import os
import time

from ..._support import _metric_json
from .._config._callbacks import UserCallback


class TrainingCallback:
    """Methods that Trainer.run() calls in the script."""

    def start_training(self, logdir, config, **info):
        """Before the train function."""

    def handle_result(self, results, **info):
        """After each report: what each rank reported, in their order."""

    def finish_training(self, error=False, **info):
        """At the end."""


class JsonLoggerCallback(TrainingCallback):
    """Writes the results of all ranks, a list a line, into results.json of the run directory; NaN and infinities as result.json has them."""

    def __init__(self, logdir=None, filename=None, workers_to_log=None):
        self._folder, self._name = logdir, filename or "results.json"
        self._ranks = [workers_to_log] if isinstance(workers_to_log, int) else workers_to_log
        self._path = None

    def start_training(self, logdir, config, **info):
        self._path = os.path.join(self._folder or logdir, self._name)

    def handle_result(self, results, **info):
        with open(self._path, "a", encoding="utf-8") as file:
            file.write(json.dumps([_metric_json.encoded(each) for rank, each in enumerate(results) if self._ranks is None or rank in self._ranks]) + "\n")


class Relay(UserCallback):
    """On rank 0: hands the results of all ranks to the script, a line a report in a file of the private folder."""

    def __init__(self, path):
        self._path, self._iteration, self._last = path, 0, time.monotonic()

    def __setstate__(self, state):
        """The first report counts from the moment that it comes to rank 0 on: clocks of two nodes differ."""
        self.__dict__.update(state, _last=time.monotonic())

    def after_report(self, run_context, metrics, checkpoint):
        if checkpoint is not None:  # of save_checkpoint(), which is no report here
            return
        now = time.monotonic()  # the calendar may be set back meanwhile
        self._iteration += 1
        filled = {"_timestamp": int(time.time()), "_time_this_iter_s": now - self._last, "_training_iteration": self._iteration}
        self._last = now
        with open(self._path, "a", encoding="utf-8") as file:
            file.write(json.dumps([{**each, **filled} for each in metrics]) + "\n")


def results_in(path, start):
    """(the whole lines from byte `start` on, where they end)."""
    try:
        with open(path, "rb") as file:
            file.seek(start)
            data = file.read()
    except FileNotFoundError:
        return [], start
    whole = data[:data.rfind(b"\n") + 1]
    return [json.loads(line) for line in whole.splitlines()], start + len(whole)
