"""Loggers of Ray Tune: the base class, and those whose files trainrt writes by default."""

from __future__ import annotations

import json
from typing import Any

from ..._ray_names import names_of
from ..._support import _notes
from .._callback import Callback
from .._trial import Trial


class LoggerCallback(Callback):
    """Base class of callbacks that log the results of trials.

    Examples
    --------
    >>> from trainrt.tune.logger import LoggerCallback
    >>> class Print(LoggerCallback):
    ...     def log_trial_result(self, iteration, trial, result):
    ...         print(trial.trial_id, result["loss"])
    >>> callback = Print()
    """

    def log_trial_start(self, trial: Trial) -> None:
        """Called when a trial starts."""

    def log_trial_restore(self, trial: Trial) -> None:
        """Called when a trial continues from a checkpoint."""

    def log_trial_save(self, trial: Trial) -> None:
        """Called when a trial has saved a checkpoint."""

    def log_trial_result(self, iteration: int, trial: Trial, result: dict[str, Any]) -> None:
        """Called for each result."""

    def log_trial_end(self, trial: Trial, failed: bool = False) -> None:
        """Called when a trial has finished or failed."""

    def on_trial_start(self, iteration: int, trials: list[Trial], trial: Trial, **info: Any) -> None:
        self.log_trial_start(trial)

    def on_trial_restore(self, iteration: int, trials: list[Trial], trial: Trial, **info: Any) -> None:
        self.log_trial_restore(trial)

    def on_trial_save(self, iteration: int, trials: list[Trial], trial: Trial, **info: Any) -> None:
        self.log_trial_save(trial)

    def on_trial_result(self, iteration: int, trials: list[Trial], trial: Trial, result: dict[str, Any], **info: Any) -> None:
        self.log_trial_result(iteration, trial, result)

    def on_trial_complete(self, iteration: int, trials: list[Trial], trial: Trial, **info: Any) -> None:
        self.log_trial_end(trial, failed=False)

    def on_trial_error(self, iteration: int, trials: list[Trial], trial: Trial, **info: Any) -> None:
        self.log_trial_end(trial, failed=True)


class _WrittenByDefault(LoggerCallback):
    """A logger whose files the runtime writes for each trial."""

    _files = ""

    def __init__(self, *_given: Any, **_named: Any) -> None:
        _notes.say(f"{type(self).__name__} has no effect: each trial's directory has {self._files} without it")


class CSVLoggerCallback(_WrittenByDefault):
    """Has no effect, with a note: each trial writes progress.csv.

    Examples
    --------
    >>> from trainrt.tune.logger import CSVLoggerCallback
    >>> callback = CSVLoggerCallback()
    """

    _files = "progress.csv"


class JsonLoggerCallback(_WrittenByDefault):
    """Has no effect, with a note: each trial writes result.json.

    Examples
    --------
    >>> from trainrt.tune.logger import JsonLoggerCallback
    >>> callback = JsonLoggerCallback()
    """

    _files = "result.json"


class TBXLoggerCallback(_WrittenByDefault):
    """Has no effect, with a note: each trial writes events for TensorBoard.

    Examples
    --------
    >>> from trainrt.tune.logger import TBXLoggerCallback
    >>> callback = TBXLoggerCallback()
    """

    _files = "events for TensorBoard"


def pretty_print(result: dict[str, Any], exclude: set[str] | None = None) -> str:
    """Returns a result as lines "name: value", without its config, values that are `None`, and the names in `exclude`.

    Examples
    --------
    >>> from trainrt.tune.logger import pretty_print
    >>> print(pretty_print({"loss": 0.5, "config": {"lr": 1}, "val": {"loss": 0.25}}), end="")
    loss: 0.5
    val:
      loss: 0.25
    """
    hidden = {"config", "hist_stats", *(exclude or ())}
    return "".join(_lines({name: value for name, value in result.items() if name not in hidden and value is not None}, ""))


def _lines(values: dict[str, Any], indent: str) -> list[str]:
    found = []
    for name in sorted(values, key=str):
        value = values[name]
        if isinstance(value, dict) and value:
            found += [f"{indent}{name}:\n", *_lines(value, indent + "  ")]
        else:
            found.append(f"{indent}{name}: {value if isinstance(value, str) else json.dumps(value, default=str)}\n")
    return found


__getattr__ = names_of(__name__)
__all__ = ["CSVLoggerCallback", "JsonLoggerCallback", "LoggerCallback", "TBXLoggerCallback", "pretty_print"]
