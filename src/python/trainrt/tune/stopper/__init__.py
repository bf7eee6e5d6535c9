"""Stoppers of RunConfig(stop=...): objects that end trials, or the sweep, by the results of the trials. They are called in the script of the Tuner."""

from __future__ import annotations

import datetime
import math
import statistics
import time
from collections import defaultdict, deque
from collections.abc import Callable
from typing import Any

from ..._support import _notes


class Stopper:
    """Base class of stoppers.

    Examples
    --------
    >>> from trainrt import tune
    >>> class Enough(tune.Stopper):
    ...     def __call__(self, trial_id, result):
    ...         return result["loss"] < 0.1
    ...     def stop_all(self):
    ...         return False
    >>> Enough()("trial_00000", {"loss": 0.05})
    True
    """

    def __call__(self, trial_id: str, result: dict[str, Any]) -> bool:
        """Returns whether the trial ends with this result. Called once for each result."""
        raise NotImplementedError(f"{type(self).__name__} does not define __call__(trial_id, result)")

    def stop_all(self) -> bool:
        """Returns whether the sweep ends. Called after each result, and every second. The trials then save and pause, and the next start of the
        sweep continues them."""
        raise NotImplementedError(f"{type(self).__name__} does not define stop_all()")


class NoopStopper(Stopper):
    """Stops nothing.

    Examples
    --------
    >>> from trainrt.tune.stopper import NoopStopper
    >>> NoopStopper()("trial_00000", {})
    False
    """

    def __call__(self, trial_id: str, result: dict[str, Any]) -> bool:
        return False

    def stop_all(self) -> bool:
        return False


class FunctionStopper(NoopStopper):
    """Stops a trial when `function(trial_id, result)` returns true.

    Examples
    --------
    >>> from trainrt.tune.stopper import FunctionStopper
    >>> FunctionStopper(lambda trial_id, result: result["loss"] < 0.1)("trial_00000", {"loss": 0.5})
    False
    """

    def __init__(self, function: Callable[[str, dict[str, Any]], Any]) -> None:
        if not callable(function):
            raise ValueError(f"FunctionStopper({function!r}): it must be a function of (trial_id, result)")
        self._function = function

    @classmethod
    def is_valid_function(cls, fn: Any) -> bool:
        """Returns whether `fn` can be called and is not a Stopper. Raises ValueError if such an object has a method stop_all()."""
        is_function = callable(fn) and not isinstance(fn, Stopper)
        if is_function and hasattr(fn, "stop_all"):
            raise ValueError(f"stop={fn!r} has a method stop_all(): its class must be derived from trainrt.tune.Stopper")
        return is_function

    def __call__(self, trial_id: str, result: dict[str, Any]) -> bool:
        return bool(self._function(trial_id, result))


class CombinedStopper(Stopper):
    """Stops a trial, or the sweep, if one of the stoppers does.

    Examples
    --------
    >>> from trainrt.tune.stopper import CombinedStopper, MaximumIterationStopper, NoopStopper
    >>> CombinedStopper(NoopStopper(), MaximumIterationStopper(1))("trial_00000", {})
    True
    """

    def __init__(self, *stoppers: Stopper) -> None:
        for each in stoppers:
            if not isinstance(each, Stopper):
                raise ValueError(f"CombinedStopper({each!r}): it must be a trainrt.tune.Stopper")
        self._stoppers = stoppers

    def __call__(self, trial_id: str, result: dict[str, Any]) -> bool:
        return any([each(trial_id, result) for each in self._stoppers])  # each stopper sees each result

    def stop_all(self) -> bool:
        return any([each.stop_all() for each in self._stoppers])


class MaximumIterationStopper(NoopStopper):
    """Stops each trial after `max_iter` results.

    Examples
    --------
    >>> from trainrt.tune.stopper import MaximumIterationStopper
    >>> stopper = MaximumIterationStopper(max_iter=2)
    >>> stopper("trial_00000", {}), stopper("trial_00000", {})
    (False, True)
    """

    def __init__(self, max_iter: int) -> None:
        self._max_iter = max_iter
        self._counts: dict[str, int] = defaultdict(int)

    def __call__(self, trial_id: str, result: dict[str, Any]) -> bool:
        self._counts[trial_id] += 1
        return self._counts[trial_id] >= self._max_iter


class TrialPlateauStopper(NoopStopper):
    """Stops a trial whose metric changes no more: the standard deviation of its last `num_results` values is below `std`.

    Parameters
    ----------
    metric : str
    std : float
    num_results : int
        Number of results that are compared.
    grace_period : int
        Minimum number of results of a trial.
    metric_threshold : float, optional
        A trial is stopped only if its metric is at most (`mode="min"`) or at least (`mode="max"`) this value.
    mode : {"min", "max"}, optional
        Required with `metric_threshold`; other values raise ValueError.

    Examples
    --------
    >>> from trainrt.tune.stopper import TrialPlateauStopper
    >>> stopper = TrialPlateauStopper("loss", num_results=2, grace_period=2)
    >>> [stopper("trial_00000", {"loss": loss}) for loss in (1.0, 0.5, 0.5)]
    [False, False, True]
    """

    def __init__(self, metric: str, std: float = 0.01, num_results: int = 4, grace_period: int = 4, metric_threshold: float | None = None,
                 mode: str | None = None) -> None:
        if metric_threshold and mode not in ("min", "max"):
            raise ValueError(f"TrialPlateauStopper(metric_threshold={metric_threshold!r}, mode={mode!r}): mode must be 'min' or 'max'")
        self._metric, self._std, self._num_results, self._grace_period = metric, std, num_results, grace_period
        self._threshold, self._mode = metric_threshold, mode
        self._counts: dict[str, int] = defaultdict(int)
        self._values: dict[str, deque[Any]] = defaultdict(lambda: deque(maxlen=num_results))

    def __call__(self, trial_id: str, result: dict[str, Any]) -> bool:
        value: Any = result.get(self._metric)
        values = self._values[trial_id]
        values.append(value)
        self._counts[trial_id] += 1
        if self._counts[trial_id] < self._grace_period or len(values) < self._num_results or not all(map(_is_finite, values)):
            return False
        if self._threshold is not None and (value > self._threshold if self._mode == "min" else value < self._threshold):
            return False
        return statistics.pstdev(values) < self._std


class ExperimentPlateauStopper(Stopper):
    """Stops the sweep when the best results of all trials change no more: the standard deviation of the `top` best values is at most `std`, for more than
    `patience` results.

    Raises
    ------
    ValueError
        If `mode` is not "min" or "max", `top` is below 2, `std` is not a float above 0, or `patience` is negative.

    Examples
    --------
    >>> from trainrt.tune.stopper import ExperimentPlateauStopper
    >>> stopper = ExperimentPlateauStopper("loss", top=2)
    >>> [stopper(name, {"loss": loss}) for name, loss in (("trial_00000", 0.5), ("trial_00001", 0.5))], stopper.stop_all()
    ([False, True], True)
    """

    def __init__(self, metric: str, std: float = 0.001, top: int = 10, mode: str = "min", patience: int = 0) -> None:
        if mode not in ("min", "max"):
            raise ValueError(f"ExperimentPlateauStopper(mode={mode!r}): it must be 'min' or 'max'")
        if not isinstance(top, int) or top <= 1:
            raise ValueError(f"ExperimentPlateauStopper(top={top!r}): it must be an integer, 2 or more")
        if not isinstance(patience, int) or patience < 0:
            raise ValueError(f"ExperimentPlateauStopper(patience={patience!r}): it must be an integer, 0 or more")
        if not isinstance(std, float) or std <= 0:
            raise ValueError(f"ExperimentPlateauStopper(std={std!r}): it must be a float above 0")
        self._metric, self._std, self._top, self._mode, self._patience = metric, std, top, mode, patience
        self._best: list[float] = []
        self._count = 0  # number of successive results with a plateau

    def __call__(self, trial_id: str, result: dict[str, Any]) -> bool:
        value = result[self._metric]
        if _is_finite(value):
            self._best = sorted([*self._best, value], reverse=self._mode == "max")[:self._top]
        self._count = self._count + 1 if self.has_plateaued() else 0
        return self.stop_all()

    def has_plateaued(self) -> bool:
        """Returns whether the best values are equal enough."""
        return len(self._best) == self._top and statistics.pstdev(self._best) <= self._std

    def stop_all(self) -> bool:
        return self.has_plateaued() and self._count >= self._patience


class TimeoutStopper(NoopStopper):
    """Stops the sweep after `timeout` seconds, or a `datetime.timedelta`. The time starts at the first call of `stop_all()`. Raises ValueError for other
    types.

    Examples
    --------
    >>> from trainrt.tune.stopper import TimeoutStopper
    >>> TimeoutStopper(60).stop_all()
    False
    """

    def __init__(self, timeout: float | datetime.timedelta) -> None:
        seconds = timeout.total_seconds() if isinstance(timeout, datetime.timedelta) else timeout
        if not isinstance(seconds, (int, float)):
            raise ValueError(f"TimeoutStopper({timeout!r}): it must be a number of seconds or a datetime.timedelta")
        self._timeout_s = self._left_s = seconds
        self._checked_s: float | None = None  # time of the last call of stop_all()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_checked_s": None}  # the time between two starts does not count

    def stop_all(self) -> bool:
        now = time.monotonic()
        self._left_s -= now - self._checked_s if self._checked_s is not None else 0
        self._checked_s = now
        if self._left_s > 0:
            return False
        _notes.say(f"TimeoutStopper: {self._timeout_s:g} s have elapsed")
        return True


def _is_finite(value: Any) -> bool:
    return isinstance(value, (int, float)) and math.isfinite(value)


__all__ = ["CombinedStopper", "ExperimentPlateauStopper", "FunctionStopper", "MaximumIterationStopper", "NoopStopper", "Stopper", "TimeoutStopper",
           "TrialPlateauStopper"]
