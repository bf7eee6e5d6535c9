"""HyperBand."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

from ._base import MetricScheduler, TrialScheduler


class HyperBandScheduler(MetricScheduler):
    """HyperBand: the trials of a bracket wait for each other, and the best continue. The train function must save checkpoints.

    Parameters
    ----------
    time_attr : str, optional
        The metric that is the time of a trial. In a sweep, it must be "training_iteration", the number of reports.
    metric, mode : str, optional
        As in TuneConfig.
    max_t : int
        Maximum time of a trial.
    reduction_factor : float
        One of `reduction_factor` trials of a bracket continues.
    stop_last_trials : bool
        Whether trials end at `max_t`. In a sweep, it must be True.

    Raises
    ------
    AssertionError
        For an invalid argument.

    Examples
    --------
    >>> from trainrt.tune.schedulers import HyperBandScheduler
    >>> HyperBandScheduler(max_t=27).settings()
    {'max_t': '27', 'reduction_factor': '3'}
    """

    _supports_buffered_results = False
    needs_pauses = True  # so that it cannot decide in the script, which cannot pause trials

    def __init__(self, time_attr: str = "training_iteration", metric: str | None = None, mode: str | None = None, max_t: int = 81,
                 reduction_factor: float = 3, stop_last_trials: bool = True) -> None:
        assert max_t > 0, f"HyperBandScheduler(max_t={max_t!r}): it must be above 0"
        super().__init__("hyperband" if stop_last_trials else "", time_attr, metric, mode)
        self._max_t, self._eta, self._stop_last_trials = max_t, reduction_factor, stop_last_trials
        self._s_max_1 = round(math.log(max_t) / math.log(reduction_factor)) + 1  # number of brackets of a band
        self._hyperbands: list[list[_Bracket | None]] = [[]]
        self._trial_info: dict[Any, tuple[_Bracket, int]] = {}
        self._state: dict[str, Any] = {"bracket": None, "band_idx": 0}
        self._num_stopped = 0

    def settings(self) -> dict[str, str]:
        return {"max_t": str(self._max_t), "reduction_factor": str(self._eta)}

    # ---- brackets ----

    def on_trial_add(self, tune_controller: Any, trial: Any) -> None:
        super().on_trial_add(tune_controller, trial)
        if self._state["bracket"] is None or self._state["bracket"].filled():
            self._state["bracket"] = self._next_bracket()
        self._state["bracket"].add_trial(trial)
        self._trial_info[trial] = (self._state["bracket"], self._state["band_idx"])

    def _next_bracket(self) -> _Bracket:
        while True:
            if len(self._hyperbands[-1]) == self._s_max_1:
                self._hyperbands.append([])
                self._state["band_idx"] += 1
            number = len(self._hyperbands[-1])
            first_t = int(self._max_t * self._eta ** -number)
            made = None if first_t == 0 else _Bracket(self._time_attr, math.ceil(self._s_max_1 / (number + 1) * self._eta ** number), first_t, self._max_t,
                                                      self._eta, number, self._stop_last_trials)
            self._hyperbands[-1].append(made)
            if made is not None:
                return made

    # ---- results ----

    def on_trial_result(self, tune_controller: Any, trial: Any, result: dict[str, Any]) -> str:
        bracket, _ = self._trial_info[trial]
        bracket.update_trial_stats(trial, result)
        return TrialScheduler.CONTINUE if bracket.continue_trial(trial) else self._process_bracket(tune_controller, bracket)

    def _process_bracket(self, tune_controller: Any, bracket: _Bracket) -> str:
        """Halves the bracket if all of its trials have reached the milestone. Returns the action for the trial that is running."""
        if not bracket.cur_iter_done():
            return TrialScheduler.PAUSE
        if bracket.finished():
            bracket.cleanup_full(tune_controller)
            return TrialScheduler.STOP
        bracket.is_being_processed = True
        good, bad = bracket.successive_halving(self._score)
        self._num_stopped += len(bad)
        action = TrialScheduler.PAUSE
        for trial in bad:
            action = self._stopped(tune_controller, bracket, trial) or action
        for trial in good:
            if bracket.continue_trial(trial):
                if trial.status == "RUNNING":
                    action = TrialScheduler.CONTINUE
                else:
                    self._unpause_trial(tune_controller, trial)
                    bracket.trials_to_unpause.add(trial)
            elif bracket.finished() and self._stop_last_trials:
                action = self._stopped(tune_controller, bracket, trial) or action
        return action

    def _stopped(self, tune_controller: Any, bracket: _Bracket, trial: Any) -> str:
        """Stops the trial: returns STOP for a running trial that does not save; stops any other trial through the controller and returns ""."""
        if trial.status == "RUNNING" and not getattr(trial, "is_saving", False):
            bracket.cleanup_trial(trial)
            return TrialScheduler.STOP
        tune_controller.stop_trial(trial)
        return ""

    def _unpause_trial(self, tune_controller: Any, trial: Any) -> None:
        """Called for each paused trial that continues."""

    # ---- ends ----

    def on_trial_remove(self, tune_controller: Any, trial: Any) -> None:
        bracket, _ = self._trial_info[trial]
        bracket.cleanup_trial(trial)
        if not bracket.finished() and not bracket.is_being_processed:
            self._process_bracket(tune_controller, bracket)

    def on_trial_complete(self, tune_controller: Any, trial: Any, result: dict[str, Any]) -> None:
        self.on_trial_remove(tune_controller, trial)

    def on_trial_error(self, tune_controller: Any, trial: Any) -> None:
        self.on_trial_remove(tune_controller, trial)

    def choose_trial_to_run(self, tune_controller: Any) -> Any:
        for band in self._hyperbands:
            for bracket in sorted((each for each in band if each is not None), key=lambda each: each.completion_percentage()):
                for trial in bracket.current_trials():
                    if trial.status == "PENDING" or (trial.status == "PAUSED" and trial in bracket.trials_to_unpause):
                        return trial
        return None

    # ---- descriptions ----

    def state(self) -> dict[str, int]:
        """Returns the numbers of brackets and of stopped trials."""
        return {"num_brackets": sum(map(len, self._hyperbands)), "num_stopped": self._num_stopped}

    def debug_string(self) -> str:
        lines = [f"Using HyperBand: num_stopped={self._num_stopped} total_brackets={sum(map(len, self._hyperbands))}"]
        for number, band in enumerate(self._hyperbands):
            lines += [f"Round #{number}:", *(f"  {bracket}" for bracket in band if bracket is not None)]
        return "\n".join(lines)


class _Bracket:
    """Trials that are compared at the same times. After each halving, fewer continue for longer."""

    def __init__(self, time_attr: str, max_trials: int, init_t: int, max_t: int, eta: float, halvings: int, stop_last_trials: bool) -> None:
        self._time_attr, self._max_t, self._eta = time_attr, max_t, eta
        self._n, self._r, self._halves = max_trials, init_t, halvings
        self.stop_last_trials = stop_last_trials
        self._live: dict[Any, dict[str, Any] | None] = {}  # trial -> newest result
        self._all: list[Any] = []
        self._progress = 0.0
        self._total = self._work(max_trials, init_t, halvings)
        self.is_being_processed = False
        self.trials_to_unpause: set[Any] = set()

    def _work(self, n: float, r: float, halvings: int) -> int:
        total, first = 0, r
        for _ in range(halvings + 1):
            total += int(n) * int(r)
            n, r = math.ceil(n / self._eta), int(min(r * self._eta, self._max_t - first))
        return total

    def _time(self, result: dict[str, Any] | None) -> float:
        return 0 if result is None else result[self._time_attr]

    def add_trial(self, trial: Any) -> None:
        assert not self.filled(), "the bracket has all of its trials"
        self._live[trial] = None
        self._all.append(trial)

    def filled(self) -> bool:
        return len(self._live) == self._n

    def current_trials(self) -> list[Any]:
        return list(self._live)

    def cur_iter_done(self) -> bool:
        return all(self._time(result) >= self._r for result in self._live.values())

    def finished(self) -> bool:
        return self.stop_last_trials and self._halves == 0 and self.cur_iter_done()

    def continue_trial(self, trial: Any) -> bool:
        return (not self.stop_last_trials and self._halves == 0) or self._time(self._live[trial]) < self._r

    def successive_halving(self, score: Any) -> tuple[list[Any], list[Any]]:
        """Returns the trials that continue, and those that stop."""
        if self._halves == 0 and not self.stop_last_trials:
            return self.current_trials(), []
        self._halves -= 1
        self._n = math.ceil(self._n / self._eta)
        self._r = int(min(self._r * self._eta, self._max_t))
        ordered = sorted(self._live, key=lambda trial: score(self._live[trial]))
        return ordered[-self._n:], ordered[:-self._n]

    def update_trial_stats(self, trial: Any, result: dict[str, Any]) -> None:
        self._progress += self._time(result) - self._time(self._live[trial])
        self._live[trial] = result
        self.trials_to_unpause.discard(trial)

    def cleanup_trial(self, trial: Any) -> None:
        self._live.pop(trial, None)

    def cleanup_full(self, tune_controller: Any) -> None:
        for trial in self.current_trials():
            if trial.status == "PAUSED":
                tune_controller.stop_trial(trial)

    def completion_percentage(self) -> float:
        return 1.0 if self.finished() else min(self._progress / self._total, 1.0)

    def __repr__(self) -> str:
        counts = Counter(trial.status for trial in self._all)
        statuses = ", ".join(sorted(f"{status}: {count}" for status, count in counts.items()))
        return f"Bracket(Max Size (n)={self._n}, Milestone (r)={self._r}, completed={self.completion_percentage():.1%}): {{{statuses}}} "
