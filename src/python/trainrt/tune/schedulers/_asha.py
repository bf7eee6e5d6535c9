"""Asynchronous successive halving."""

from __future__ import annotations

import math
import random
from typing import Any

from ._base import MetricScheduler, TrialScheduler, read_state, write_state


class AsyncHyperBandScheduler(MetricScheduler):
    """Asynchronous successive halving (ASHA): continues the best of the trials that have reached a rung.

    Parameters
    ----------
    time_attr : str, optional
        The metric that is the time of a trial, see TrialScheduler.
    metric, mode : str, optional
        As in TuneConfig.
    max_t : int
        Maximum time of a trial.
    grace_period : int
        Minimum time before a trial may stop.
    reduction_factor : float
        One of `reduction_factor` trials continues at each rung.
    brackets : int
        Number of brackets, each with another first rung.
    stop_last_trials : bool
        Whether trials end at `max_t`.

    Raises
    ------
    AssertionError
        For an invalid argument.

    Examples
    --------
    >>> from trainrt.tune.schedulers import ASHAScheduler
    >>> ASHAScheduler(max_t=10).settings()["max_t"]
    '10'
    """

    def __init__(self, time_attr: str = "training_iteration", metric: str | None = None, mode: str | None = None, max_t: int = 100,
                 grace_period: int = 1, reduction_factor: float = 4, brackets: int = 1, stop_last_trials: bool = True) -> None:
        assert max_t > 0, f"ASHAScheduler(max_t={max_t!r}): it must be above 0"
        assert grace_period > 0, f"ASHAScheduler(grace_period={grace_period!r}): it must be above 0"
        assert max_t >= grace_period, f"ASHAScheduler(grace_period={grace_period!r}, max_t={max_t!r}): grace_period must be at most max_t"
        assert reduction_factor > 1, f"ASHAScheduler(reduction_factor={reduction_factor!r}): it must be above 1"
        assert brackets > 0, f"ASHAScheduler(brackets={brackets!r}): it must be above 0"
        is_native = stop_last_trials and reduction_factor >= 1.5 and max_t == int(max_t) and grace_period == int(grace_period)
        super().__init__("asha" if is_native else "", time_attr, metric, mode)
        self._settings = {"max_t": max_t, "grace_period": grace_period, "reduction_factor": reduction_factor, "brackets": brackets}
        self._max_t, self._stop_last_trials = max_t, stop_last_trials
        self._brackets = [_Bracket(grace_period, max_t, reduction_factor, number, stop_last_trials) for number in range(brackets)]
        self._bracket_of: dict[str, int] = {}
        self._num_stopped = 0

    def settings(self) -> dict[str, str]:
        return {key: str(value) for key, value in self._settings.items()}

    def on_trial_add(self, tune_controller: Any, trial: Any) -> None:
        super().on_trial_add(tune_controller, trial)
        weights = [math.exp(len(bracket.rungs)) for bracket in self._brackets]
        self._bracket_of[trial.trial_id] = random.Random(trial.trial_id).choices(range(len(weights)), weights)[0]

    def on_trial_result(self, tune_controller: Any, trial: Any, result: dict[str, Any]) -> str:
        if not self._can_compare(result):
            return TrialScheduler.CONTINUE
        if result[self._time_attr] >= self._max_t and self._stop_last_trials:
            action = TrialScheduler.STOP
        else:
            action = self._decision(trial, result)
        self._num_stopped += action == TrialScheduler.STOP
        return action

    def _decision(self, trial: Any, result: dict[str, Any]) -> str:
        bracket = self._brackets[self._bracket_of[trial.trial_id]]
        return bracket.on_result(trial.trial_id, result[self._time_attr], self._score(result))

    def on_trial_complete(self, tune_controller: Any, trial: Any, result: dict[str, Any]) -> None:
        if self._can_compare(result):
            self._decision(trial, result)
            self.on_trial_remove(tune_controller, trial)

    def on_trial_remove(self, tune_controller: Any, trial: Any) -> None:
        del self._bracket_of[trial.trial_id]

    def debug_string(self) -> str:
        return "\n".join([f"Using AsyncHyperBand: num_stopped={self._num_stopped}", *(bracket.debug_str() for bracket in self._brackets)])

    def save(self, checkpoint_path: str) -> None:
        """Writes the state of the scheduler, such as the results of the rungs, into a file as JSON."""
        write_state(checkpoint_path, {"num_stopped": self._num_stopped, "bracket_of": self._bracket_of, "metric": self._metric, "mode": self._mode,
                                      "recorded": [[recorded for _, recorded in bracket.rungs] for bracket in self._brackets]})

    def restore(self, checkpoint_path: str) -> None:
        state = read_state(checkpoint_path)
        self._num_stopped, self._bracket_of = state["num_stopped"], state["bracket_of"]
        self._metric, self._mode = state["metric"], state["mode"]
        for bracket, recorded in zip(self._brackets, state["recorded"]):
            bracket.rungs = [(milestone, scores) for (milestone, _), scores in zip(bracket.rungs, recorded)]


ASHAScheduler = AsyncHyperBandScheduler


class _Bracket:
    """The rungs of a bracket, the last one first: [(time, {trial_id: score})]."""

    def __init__(self, min_t: float, max_t: float, reduction_factor: float, number: int, stop_last_trials: bool) -> None:
        self._factor, self._stop_last_trials = reduction_factor, stop_last_trials
        count = int(math.log(max_t / min_t) / math.log(reduction_factor) - number + 1)
        self.rungs: list[tuple[float, dict[str, float]]] = [(min_t * reduction_factor ** (k + number), {}) for k in reversed(range(count))]

    def cutoff(self, recorded: dict[str, float]) -> float | None:
        """Returns the score that a trial must reach, or `None` if no trial has reached the rung."""
        scores = sorted(score for score in recorded.values() if not math.isnan(score))
        if not scores:
            return math.nan if recorded else None
        at = (1 - 1 / self._factor) * (len(scores) - 1)
        low, high = scores[math.floor(at)], scores[math.ceil(at)]
        return low + (high - low) * (at - math.floor(at))

    def on_result(self, trial_id: str, time: float, score: float) -> str:
        """Returns the decision at the highest rung that the trial has reached and at which the trial was not recorded before."""
        for milestone, recorded in self.rungs:
            if time >= milestone and trial_id in recorded and not self._stop_last_trials:
                break
            if time < milestone or trial_id in recorded:
                continue
            cutoff = self.cutoff(recorded)
            recorded[trial_id] = score
            return TrialScheduler.STOP if cutoff is not None and score < cutoff else TrialScheduler.CONTINUE
        return TrialScheduler.CONTINUE

    def debug_str(self) -> str:
        return "Bracket: " + " | ".join(f"Iter {milestone:.3f}: {self.cutoff(recorded)}" for milestone, recorded in self.rungs)
