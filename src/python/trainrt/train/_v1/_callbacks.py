"""Callbacks of Ray Train 1.x, which receive the results of all ranks: in the script that called `Trainer.run()`, or on rank 0."""

import json
import os
import time
from collections.abc import Sequence
from typing import Any, Optional, Union

from ..._support import _metric_json, _this_process
from .._sessions._callbacks import UserCallback

COUNTERS = "trainrt_v1_counters"  # key in the metadata of a checkpoint
_DETAILED = "TRAIN_RESULT_ENABLE_DETAILED_AUTOFILLED_METRICS"


class TrainingCallback:
    """Base class of callbacks for `Trainer.run()`.

    Examples
    --------
    >>> from trainrt.train import TrainingCallback
    >>> class PrintResults(TrainingCallback):
    ...     def handle_result(self, results, **info):
    ...         print(results)
    >>> PrintResults().handle_result([{"loss": 0.5}])
    [{'loss': 0.5}]
    """

    def start_training(self, logdir: str, config: dict[str, Any], **info: Any) -> None:
        """Called before the ranks start. `logdir`: run directory; `config`: config of the train function."""

    def handle_result(self, results: list[dict[str, Any]], **info: Any) -> None:
        """Called after each report with the metrics of all ranks, by rank."""

    def finish_training(self, error: bool = False, **info: Any) -> None:
        """Called after the run. `error`: whether the run failed."""


class JsonLoggerCallback(TrainingCallback):
    """Writes the results to a file, as a JSON list per report. NaN and infinities are written as in result.json.

    Parameters
    ----------
    logdir : str, optional
        Directory of the file. Default: the run directory.
    filename : str, default 'results.json'
    workers_to_log : int or sequence of int, optional
        Ranks whose results are written. Default: all.

    Examples
    --------
    >>> from trainrt.train import JsonLoggerCallback
    >>> callback = JsonLoggerCallback(workers_to_log=0)
    """

    def __init__(self, logdir: Optional[str] = None, filename: Optional[str] = None, workers_to_log: Union[int, Sequence[int], None] = None):
        self._folder, self._name = logdir, filename or "results.json"
        self._ranks = [workers_to_log] if isinstance(workers_to_log, int) else workers_to_log
        self._path = ""

    def start_training(self, logdir: str, config: dict[str, Any], **info: Any) -> None:
        self._path = os.path.join(self._folder or logdir, self._name)

    def handle_result(self, results: list[dict[str, Any]], **info: Any) -> None:
        chosen = [_metric_json.encoded(each) for rank, each in enumerate(results) if self._ranks is None or rank in self._ranks]
        with open(self._path, "a", encoding="utf-8") as file:
            file.write(json.dumps(chosen) + "\n")


class Listeners:
    """The callbacks of one `Trainer.run()`, and the config of its train function."""

    def __init__(self, callbacks, config):
        self._callbacks, self._config = list(callbacks or ()), config or {}

    def start(self, logdir):
        for callback in self._callbacks:
            callback.start_training(logdir=logdir, config=self._config)

    def handle(self, results):
        for callback in self._callbacks:
            callback.handle_result(results)

    def finish(self, has_failed):
        for callback in self._callbacks:
            callback.finish_training(error=has_failed)


class ReportCounter(UserCallback):
    """Adds Ray's metrics to the results of each report, on rank 0, and passes the results to `_take()` of the subclass."""

    def __init__(self):
        self._iteration, self._reported_at, self._total_s = 0, 0.0, 0.0  # number of reports, time of the last report, time of all iterations

    def _take(self, results):
        raise NotImplementedError

    def _resume_from(self, checkpoint):
        counters = (checkpoint.get_metadata() if checkpoint is not None else {}).get(COUNTERS) or {}
        self._iteration, self._total_s = counters.get("iteration", 0), counters.get("time_total_s", 0.0)
        self._reported_at = time.monotonic()

    def counters(self):
        """Returns metadata for a checkpoint: the number of reports and their total time, which a restarted run continues."""
        return {COUNTERS: {"iteration": self._iteration, "time_total_s": self._total_s}}

    def _metrics_of_rank(self):
        if os.environ.get(_DETAILED) != "1":
            return {}
        return {"_date": time.strftime("%Y-%m-%d_%H-%M-%S"), **{f"_{name}": value for name, value in _this_process.facts().items()}}

    def after_report(self, run_context, metrics, checkpoint):
        if checkpoint is not None:  # save_checkpoint() reports a checkpoint, and is not a report of Ray Train 1.x
            return
        now = time.monotonic()
        self._iteration += 1
        added = {"_timestamp": int(time.time()), "_time_this_iter_s": now - self._reported_at, "_training_iteration": self._iteration}
        self._total_s += added["_time_this_iter_s"]
        if os.environ.get(_DETAILED) == "1":
            added["_time_total_s"] = self._total_s
        self._reported_at = now
        self._take([{**each, **added} for each in metrics])


class ResultWriter(ReportCounter):
    """Sends the results to the script: appends a JSON list per report to a file in a folder of the run."""

    def __init__(self, path):
        super().__init__()
        self._path = path

    def _take(self, results):
        with open(self._path, "a", encoding="utf-8") as file:
            file.write(json.dumps(results) + "\n")


def counters_of(callbacks):
    """Returns counters() of the first ReportCounter among the callbacks; {} if there is none."""
    return next((each.counters() for each in callbacks if isinstance(each, ReportCounter)), {})


def read_results(path, start):
    """Reads the file of a ResultWriter. Returns the results of the complete lines from byte `start` on, and the position after them."""
    try:
        with open(path, "rb") as file:
            file.seek(start)
            data = file.read()
    except FileNotFoundError:
        return [], start
    complete = data[:data.rfind(b"\n") + 1]
    return [json.loads(line) for line in complete.splitlines()], start + len(complete)
