"""The median stopping rule."""

from __future__ import annotations

import math
import statistics
from typing import Any

from ._base import MetricScheduler, TrialScheduler


class MedianStoppingRule(MetricScheduler):
    """Stops a trial if its best report is worse than the median of the means of the other trials.

    Parameters
    ----------
    time_attr : str, optional
        The metric that is the time of a trial, see TrialScheduler.
    metric, mode : str, optional
        As in TuneConfig.
    grace_period : float
        Minimum time before a trial may stop.
    min_samples_required : int
        Minimum number of other trials.
    min_time_slice : float
        Time between two pauses of a trial that cannot be compared yet. It must be 0 with `time_attr="training_iteration"`.
    hard_stop : bool
        False: a trial is paused instead, and continues later.

    Raises
    ------
    AssertionError
        For an invalid mode.

    Examples
    --------
    >>> from trainrt.tune.schedulers import MedianStoppingRule
    >>> MedianStoppingRule(time_attr="training_iteration", grace_period=5).settings()
    {'grace_period': '5', 'min_samples_required': '3'}
    """

    def __init__(self, time_attr: str = "time_total_s", metric: str | None = None, mode: str | None = None, grace_period: float = 60.0,
                 min_samples_required: int = 3, min_time_slice: float = 0, hard_stop: bool = True) -> None:
        super().__init__("median" if hard_stop and not min_time_slice else "", time_attr, metric, mode)
        self._grace_period, self._min_samples_required = grace_period, min_samples_required
        self._min_time_slice, self._hard_stop = min_time_slice, hard_stop
        self._stopped: set[Any] = set()
        self._last_pause: dict[Any, float] = {}
        self._results: dict[Any, list[dict[str, Any]]] = {}

    def settings(self) -> dict[str, str]:
        return {"grace_period": str(int(self._grace_period)), "min_samples_required": str(self._min_samples_required)}

    def on_trial_result(self, tune_controller: Any, trial: Any, result: dict[str, Any]) -> str:
        if not self._can_compare(result) or trial in self._stopped:
            return TrialScheduler.CONTINUE
        time = result[self._time_attr]
        self._results.setdefault(trial, []).append(result)
        if time < self._grace_period:
            return TrialScheduler.CONTINUE
        means = [mean for mean in (self._running_mean(other, time) for other in self._beyond(time) if other is not trial) if math.isfinite(mean)]
        if len(means) < self._min_samples_required:
            return self._without_samples(tune_controller, trial, time)
        if self._best(trial) >= statistics.median(means):
            return TrialScheduler.CONTINUE
        self._stopped.add(trial)
        return TrialScheduler.STOP if self._hard_stop else TrialScheduler.PAUSE

    def _without_samples(self, tune_controller: Any, trial: Any, time: float) -> str:
        if time - self._last_pause.get(trial, -math.inf) <= self._min_time_slice:
            return TrialScheduler.CONTINUE
        if not any(each.status in ("PENDING", "PAUSED") for each in tune_controller.get_live_trials()):
            return TrialScheduler.CONTINUE
        self._last_pause[trial] = time
        return TrialScheduler.PAUSE

    def on_trial_complete(self, tune_controller: Any, trial: Any, result: dict[str, Any]) -> None:
        self._results.setdefault(trial, []).append(result)

    def _beyond(self, time: float) -> list[Any]:
        return [trial for trial, results in self._results.items() if results[-1].get(self._time_attr, -math.inf) >= time]

    def _running_mean(self, trial: Any, time: float) -> float:
        scores = [self._score(each) for each in self._results[trial] if self._grace_period <= each[self._time_attr] <= time]
        return sum(scores) / len(scores) if scores else math.nan

    def _best(self, trial: Any) -> float:
        return max(self._score(each) for each in self._results[trial])

    def debug_string(self) -> str:
        return f"Using MedianStoppingRule: num_stopped={len(self._stopped)}."
