"""A trial of a sweep, as ExperimentAnalysis returns it."""

from __future__ import annotations

import os
from typing import Any

from ..train import Checkpoint, Result
from ..train._results import _run_state

_STATUS = {_run_state.FINISHED: "TERMINATED", _run_state.FAILED: "ERROR", "running": "RUNNING", "paused": "PAUSED"}


class Trial:
    """A trial of `tune.run()`.

    Parameters
    ----------
    trial_id : str
    result : Result

    Examples
    --------
    >>> from trainrt.train import Result
    >>> from trainrt.tune.experiment import Trial
    >>> Trial("trial_00000", Result("/runs/sweep/trial_00000", [{"loss": 0.5}], [], config={"lr": 0.1})).last_result["loss"]
    0.5
    """

    def __init__(self, trial_id: str, result: Result) -> None:
        self.trial_id, self.result = trial_id, result

    @property
    def config(self) -> dict[str, Any]:
        """Config of the trial."""
        return self.result.config or {}

    @property
    def last_result(self) -> dict[str, Any]:
        """Metrics of the last report; {} before the first report."""
        return self.result.metrics

    @property
    def status(self) -> str:
        """TERMINATED, ERROR, RUNNING, PAUSED or PENDING."""
        return _STATUS.get(self.result.state, "PENDING")

    @property
    def checkpoint(self) -> Checkpoint | None:
        """The newest checkpoint."""
        return self.result.checkpoint

    @property
    def path(self) -> str:
        """Directory of the trial, also as `logdir` and `local_path`."""
        return self.result.path or ""

    @property
    def logdir(self) -> str:
        return self.path

    @property
    def local_path(self) -> str:
        return self.path

    @property
    def error_file(self) -> str | None:
        """Path of the file with the error; `None` if the trial has not failed, or has no such file."""
        path = os.path.join(self.path, "error.txt")
        return path if self.result.error is not None and os.path.exists(path) else None

    def metric_analysis(self, metric: str) -> dict[str, float]:
        """Returns {"max": ..., "min": ..., "avg": ..., "last": ...} of a metric; {} if the trial has not reported it."""
        values = [report[metric] for report in self.result.reports if isinstance(report.get(metric), (int, float))]
        return {"max": max(values), "min": min(values), "avg": sum(values) / len(values), "last": values[-1]} if values else {}

    def __repr__(self) -> str:
        return self.trial_id
