"""Trial: a trial of a sweep, as it is passed to callbacks and returned by ExperimentAnalysis."""

from __future__ import annotations

import os
import secrets
from typing import Any

from ..train import Checkpoint, Result
from ..train._results import _run_directory, _run_state

_STATUS = {_run_state.FINISHED: "TERMINATED", _run_state.FAILED: "ERROR", "running": "RUNNING", "paused": "PAUSED"}


class Trial:
    """A trial of a sweep. Scripts get them from callbacks, schedulers and ExperimentAnalysis.

    Parameters
    ----------
    trainable_name : str
    config : dict, optional
    trial_id : str, optional
        Default: a random one.
    evaluated_params : dict, optional
        The values that the searcher has chosen. Default: the config.
    experiment_tag : str
    **others
        Further arguments of Ray Tune, which are ignored.

    Examples
    --------
    >>> from trainrt.tune.experiment import Trial
    >>> trial = Trial("train", config={"lr": 0.1}, trial_id="trial_00000")
    >>> trial.status, trial.config, trial.is_finished()
    ('PENDING', {'lr': 0.1}, False)
    """

    PENDING, RUNNING, PAUSED, TERMINATED, ERROR = "PENDING", "RUNNING", "PAUSED", "TERMINATED", "ERROR"

    def __init__(self, trainable_name: str, *, config: dict[str, Any] | None = None, trial_id: str | None = None,
                 evaluated_params: dict[str, Any] | None = None, experiment_tag: str = "", _result: Result | None = None, **others: Any) -> None:
        del others
        self.trainable_name, self.experiment_tag = trainable_name, experiment_tag
        self.trial_id = self.generate_id() if trial_id is None else trial_id
        self.result = _result if _result is not None else Result._of_run("", [], [], config=config or {}, state="pending")
        self.evaluated_params = self.config if evaluated_params is None else evaluated_params
        self._status: str | None = None

    @classmethod
    def generate_id(cls) -> str:
        """Returns a new random ID of 8 characters."""
        return secrets.token_hex(4)

    @property
    def config(self) -> dict[str, Any]:
        """Config of the trial."""
        return self.result.config or {}

    def set_config(self, config: dict[str, Any]) -> None:
        """Replaces the config of this object."""
        self.result._set_config(config)

    @property
    def last_result(self) -> dict[str, Any]:
        """Metrics of the last report; {} before the first report."""
        return self.result.metrics or {}

    @property
    def status(self) -> str:
        """TERMINATED, ERROR, RUNNING, PAUSED or PENDING."""
        return self._status or _STATUS.get(self.result.state, "PENDING")

    def set_status(self, status: str) -> None:
        """Sets the status of this object."""
        self._status = status

    def is_finished(self) -> bool:
        """Returns whether the trial has ended, also by an error."""
        return self.status in (Trial.TERMINATED, Trial.ERROR)

    @property
    def checkpoint(self) -> Checkpoint | None:
        """The newest checkpoint."""
        return self.result.checkpoint

    def has_checkpoint(self) -> bool:
        """Returns whether the trial has a checkpoint."""
        return self.checkpoint is not None

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
    def local_experiment_path(self) -> str:
        """Directory of the sweep."""
        return os.path.dirname(self.path)

    @property
    def experiment_dir_name(self) -> str:
        """Name of the sweep."""
        return os.path.basename(self.local_experiment_path)

    @property
    def error_file(self) -> str | None:
        """Path of the file with the error; `None` if the trial has not failed, or has no such file."""
        path = os.path.join(self.path, "error.txt")
        return path if self.result.error is not None and os.path.exists(path) else None

    def get_error(self) -> Exception | None:
        """Returns the error of the trial, or `None`."""
        return self.result.error

    @property
    def num_failures(self) -> int:
        """Number of attempts that have failed."""
        return sum(str(each.get("why", "")).startswith("failed") for each in _run_directory.attempts(self.path)) if self.path else 0

    @property
    def metric_analysis(self) -> _MetricAnalysis:
        """{metric: {"max": ..., "min": ..., "avg": ..., "last": ..., "last-5-avg": ..., "last-10-avg": ...}} of the numbers that the trial has reported.
        A call with a metric returns its dict."""
        names = dict.fromkeys(name for report in self.result.reports for name in report)
        found = {name: self._numbers(name) for name in names}
        return _MetricAnalysis({name: {"max": max(values), "min": min(values), "avg": _mean(values), "last": values[-1], "last-5-avg": _mean(values[-5:]),
                                       "last-10-avg": _mean(values[-10:])} for name, values in found.items() if values})

    def _numbers(self, metric: str) -> list[float]:
        return [report[metric] for report in self.result.reports if isinstance(report.get(metric), (int, float)) and not isinstance(report[metric], bool)]

    def __repr__(self) -> str:
        return self.trial_id


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


class _MetricAnalysis(dict):
    def __call__(self, metric: str) -> dict[str, float]:
        return self.get(metric, {})
