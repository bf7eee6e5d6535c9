"""Callback: methods that a Tuner calls in the script, as the results of the trials arrive."""

from __future__ import annotations

from typing import Any

from .._support import _notes
from ..train import Checkpoint, UserCallback
from ._trial import Trial


class Callback(UserCallback):
    """Base class of callbacks for `RunConfig(callbacks=[...])` of a Tuner.

    The methods are called in the script, one at a time, in a thread other than the main thread. A trial waits until its result was processed. The results of
    one trial arrive in order, each once. A restarted script does not receive the results of its earlier starts. An exception ends the sweep, and `fit()`
    raises it.

    In all methods, `iteration` is the number of results so far, and `trials` are the trials that have started.

    Examples
    --------
    >>> import tempfile
    >>> from trainrt import tune
    >>> class Losses(tune.Callback):
    ...     def __init__(self):
    ...         self.found = []
    ...     def on_trial_result(self, iteration, trials, trial, result, **info):
    ...         self.found.append((trial.trial_id, result["training_iteration"], result["loss"]))
    >>> def train(config):
    ...     tune.report({"loss": config["x"]})
    >>> losses = Losses()
    >>> run_config = tune.RunConfig(name="losses", storage_path=tempfile.mkdtemp(), callbacks=[losses])
    >>> _ = tune.Tuner(train, param_space={"x": 3}, run_config=run_config).fit()
    >>> losses.found
    [('trial_00000', 1, 3)]
    """

    def setup(self, stop: Any = None, num_samples: int | None = None, total_num_samples: int | None = None, **info: Any) -> None:
        """Called before the trials start, with the stopper or `None`, and the number of samples without and with the values of grids."""

    def on_step_begin(self, iteration: int, trials: list[Trial], **info: Any) -> None:
        """Called before each result is processed."""

    def on_step_end(self, iteration: int, trials: list[Trial], **info: Any) -> None:
        """Called after each result was processed."""

    def on_trial_start(self, iteration: int, trials: list[Trial], trial: Trial, **info: Any) -> None:
        """Called when a trial starts, also after a pause or a failure."""

    def on_trial_restore(self, iteration: int, trials: list[Trial], trial: Trial, **info: Any) -> None:
        """Called after on_trial_start(), if the trial continues from a checkpoint."""

    def on_trial_result(self, iteration: int, trials: list[Trial], trial: Trial, result: dict[str, Any], **info: Any) -> None:
        """Called for each result, before it is recorded."""

    def on_trial_save(self, iteration: int, trials: list[Trial], trial: Trial, **info: Any) -> None:
        """Called when a trial has saved a checkpoint, which is `trial.checkpoint`."""

    def on_checkpoint(self, iteration: int, trials: list[Trial], trial: Trial, checkpoint: Checkpoint, **info: Any) -> None:
        """Called after on_trial_save(), with the checkpoint."""

    def on_trial_complete(self, iteration: int, trials: list[Trial], trial: Trial, **info: Any) -> None:
        """Called when a trial has finished."""

    def on_trial_recover(self, iteration: int, trials: list[Trial], trial: Trial, **info: Any) -> None:
        """Called before on_trial_start() if the trial is restarted after a failure."""

    def on_trial_error(self, iteration: int, trials: list[Trial], trial: Trial, **info: Any) -> None:
        """Called within a second after a trial has failed, unless it is restarted."""

    def on_experiment_end(self, trials: list[Trial], **info: Any) -> None:
        """Called after the last trial."""

    def get_state(self) -> dict[str, Any] | None:
        """Not called: the state of callbacks is not saved."""
        return None

    def set_state(self, state: dict[str, Any]) -> None:
        """Not called."""

    def _resume_from(self, checkpoint: Checkpoint | None) -> None:
        _notes.say(f"RunConfig(callbacks=[{type(self).__name__}()]) has no effect: only a Tuner calls the methods of a trainrt.tune.Callback")
