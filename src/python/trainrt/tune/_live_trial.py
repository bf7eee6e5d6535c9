"""LiveTrial: a running trial, as it is passed to callbacks."""

from __future__ import annotations

import os
import time
from typing import Any

from ..train import Checkpoint, Result
from ..train._results import _run_directory
from ._trial import Trial


class LiveTrial(Trial):
    """A trial that runs and reports results.

    Parameters
    ----------
    trial_id : str
    path : str
        Directory of the trial.
    config : dict
    """

    def __init__(self, trial_id: str, path: str, config: dict[str, Any]) -> None:
        super().__init__(trial_id, trial_id=trial_id, _result=Result._of_run(path, [], [], config=config, state="running"))
        self.iteration = 0  # iteration of the newest result
        self.starts = 0  # number of starts of the trial in this start of the script
        self.has_ended = False
        self.has_failed = False  # whether the last start of the trial has failed
        self.is_stopped = False  # a stopper has ended the trial
        self.saved_iteration = 0  # iteration of the newest checkpoint of which the callbacks were notified
        self._total_s = 0.0

    @property
    def checkpoint(self) -> Checkpoint | None:
        """The newest checkpoint, read from the directory of the trial."""
        return Result.from_path(self.path).checkpoint if os.path.isdir(self.path) else None

    def earlier_reports(self, iteration: int) -> list[dict[str, Any]]:
        """Returns the recorded reports before `iteration`, oldest first."""
        reports = Result.from_path(self.path).reports if iteration > 1 else []
        return [report for report in reports if report["training_iteration"] < iteration]

    def add(self, report: dict[str, Any]) -> None:
        """Appends `report` to the reports of the trial, as the newest result."""
        self.result.reports.append(report)
        self.result.metrics = report
        self.iteration = report["training_iteration"]
        self._total_s = report.get("time_total_s") or self._total_s

    def completed(self, metrics: dict[str, Any], iteration: int, seconds: float) -> dict[str, Any]:
        """Returns the metrics of a report with those that Ray Tune adds."""
        now = time.time()
        return {"done": False, "training_iteration": iteration, "trial_id": self.trial_id, "config": self.config, "timestamp": int(now),
                "date": time.strftime("%Y-%m-%d_%H-%M-%S", time.localtime(now)), "time_this_iter_s": seconds, "time_total_s": self._total_s + seconds,
                **metrics}

    def recorded_state(self) -> str | None:
        """Returns the state in run.json."""
        return (_run_directory.run_record(self.path) or {}).get("state")

    def set_state(self, state: str, error: Any = None) -> None:
        self.result._state, self.result.error = state, error
