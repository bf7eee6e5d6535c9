"""TrialScheduler and FIFOScheduler: the base classes of the schedulers."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from .._compared import Compared
from .._domains import Domain
from .._spaces import DEFAULT_METRIC


class TrialScheduler(Compared):
    """Base class of the schedulers, which stop trials early.

    A scheduler with a `name` is a plug-in of trainrt, which decides in the processes of the trials. The schedulers of this package have a name if their
    `time_attr` is "training_iteration", the number of reports. Any other scheduler decides in the script: its methods are called with the trials of the
    sweep, one at a time, in a thread other than the main thread. `on_trial_result()` returns `TrialScheduler.CONTINUE` or `STOP`; a trial for which it
    returns `PAUSE` continues, with a note.

    Examples
    --------
    >>> from trainrt import tune
    >>> class Impatient(tune.schedulers.FIFOScheduler):
    ...     def on_trial_result(self, tune_controller, trial, result):
    ...         return self.STOP if result["loss"] > 1 else self.CONTINUE
    >>> isinstance(Impatient(), tune.schedulers.TrialScheduler)
    True
    """

    CONTINUE, PAUSE, STOP, NOOP = "CONTINUE", "PAUSE", "STOP", "NOOP"

    name = ""  # the key tune.scheduler; "": the scheduler decides in the script
    explore: Callable[[dict[str, Any]], Any] | None = None  # function that adjusts the config of a clone
    _supports_buffered_results = True

    def __init__(self) -> None:
        pass

    @property
    def supports_buffered_results(self) -> bool:
        """Whether results may arrive later than they were reported."""
        return self._supports_buffered_results

    def settings(self) -> dict[str, str]:
        """Returns the keys of the section [tune.NAME]."""
        return {}

    def mutations(self) -> dict[tuple, Domain]:
        """Returns the domains of the values that change during a trial, as {path: Domain}."""
        return {}

    def set_search_properties(self, metric: str | None, mode: str | None, **spec: Any) -> bool:
        """Sets the metric and the mode of the TuneConfig. Returns False if the scheduler already has a metric of its own."""
        del mode, spec
        if self._metric and metric:
            return False
        self._metric = metric or self._metric or DEFAULT_METRIC
        return True

    def on_trial_add(self, tune_controller: Any, trial: Any) -> None:
        """Called when a trial is added to the sweep."""
        raise NotImplementedError(f"{type(self).__name__} does not define on_trial_add()")

    def on_trial_error(self, tune_controller: Any, trial: Any) -> None:
        """Called when a trial has failed."""
        raise NotImplementedError(f"{type(self).__name__} does not define on_trial_error()")

    def on_trial_result(self, tune_controller: Any, trial: Any, result: dict[str, Any]) -> str:
        """Called for each result of a trial. Returns CONTINUE, STOP or PAUSE."""
        raise NotImplementedError(f"{type(self).__name__} does not define on_trial_result()")

    def on_trial_complete(self, tune_controller: Any, trial: Any, result: dict[str, Any]) -> None:
        """Called when a trial has finished, with its last result."""
        raise NotImplementedError(f"{type(self).__name__} does not define on_trial_complete()")

    def on_trial_remove(self, tune_controller: Any, trial: Any) -> None:
        """Called when a trial that has not started is removed."""
        raise NotImplementedError(f"{type(self).__name__} does not define on_trial_remove()")

    def choose_trial_to_run(self, tune_controller: Any) -> Any:
        """Returns the next trial to run, or `None`. Sweeps of trainrt start their trials in the order of their numbers."""
        raise NotImplementedError(f"{type(self).__name__} does not define choose_trial_to_run()")

    def debug_string(self) -> str:
        """Returns a description of the state."""
        raise NotImplementedError(f"{type(self).__name__} does not define debug_string()")


class FIFOScheduler(TrialScheduler):
    """Runs every trial to its end. Base class of schedulers that stop some trials.

    Examples
    --------
    >>> from trainrt.tune.schedulers import FIFOScheduler
    >>> FIFOScheduler().debug_string()
    'Using FIFO scheduling algorithm.'
    """

    def __init__(self) -> None:
        super().__init__()
        self.name = "fifo" if type(self) is FIFOScheduler else ""

    def on_trial_add(self, tune_controller: Any, trial: Any) -> None:
        pass

    def on_trial_error(self, tune_controller: Any, trial: Any) -> None:
        pass

    def on_trial_result(self, tune_controller: Any, trial: Any, result: dict[str, Any]) -> str:
        return TrialScheduler.CONTINUE

    def on_trial_complete(self, tune_controller: Any, trial: Any, result: dict[str, Any]) -> None:
        pass

    def on_trial_remove(self, tune_controller: Any, trial: Any) -> None:
        pass

    def choose_trial_to_run(self, tune_controller: Any) -> Any:
        trials = tune_controller.get_trials()
        waiting = [trial for status in ("PENDING", "PAUSED") for trial in trials if trial.status == status]
        return waiting[0] if waiting else None

    def debug_string(self) -> str:
        return "Using FIFO scheduling algorithm."


class MetricScheduler(FIFOScheduler):
    """Base class of the schedulers that compare a metric. Raises AssertionError for an invalid mode.

    Parameters
    ----------
    plugin : str
        Name of the plug-in of trainrt with these rules. A scheduler that is derived from one of Ray Tune's decides in the script.
    time_attr : str
        Metric that is the time of a trial. A plug-in counts reports.
    """

    def __init__(self, plugin: str, time_attr: str, metric: str | None, mode: str | None) -> None:
        super().__init__()
        assert mode in (None, "", "min", "max"), f"{type(self).__name__}(mode={mode!r}): it must be 'min' or 'max'"
        self._metric, self._mode, self._time_attr = metric, mode or None, time_attr
        counts_reports = time_attr == "training_iteration"
        self.name = plugin if counts_reports and type(self).__module__.startswith("trainrt.") else ""

    def set_search_properties(self, metric: str | None, mode: str | None, **spec: Any) -> bool:
        if (self._metric and metric) or (self._mode and mode):
            return False
        self._metric, self._mode = metric or self._metric, mode or self._mode
        if self._metric is None and self._mode:
            self._metric = DEFAULT_METRIC
        return True

    def on_trial_add(self, tune_controller: Any, trial: Any) -> None:
        if not self._metric or not self._mode:
            raise ValueError(f"{type(self).__name__} has been instantiated without a valid `metric` ({self._metric}) or `mode` ({self._mode}): pass them to "
                             f"the scheduler, or to tune.TuneConfig()")

    def _can_compare(self, result: dict[str, Any]) -> bool:
        """Returns whether the result has the time and the metric."""
        return self._time_attr in result and self._metric in result

    def _score(self, result: dict[str, Any]) -> Any:
        """Returns the metric, negated if it is minimized."""
        value = result[self._metric or DEFAULT_METRIC]
        return value if self._mode == "max" else -value


def write_state(path: str, state: dict[str, Any]) -> None:
    """Writes a state that JSON can represent."""
    with open(path, "w", encoding="utf-8") as file:
        json.dump(state, file)


def read_state(path: str) -> dict[str, Any]:
    """Returns the state of write_state()."""
    with open(path, encoding="utf-8") as file:
        return json.load(file)
