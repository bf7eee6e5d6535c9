"""LoggerCallback: the base class of loggers."""

from __future__ import annotations

from typing import Any

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
