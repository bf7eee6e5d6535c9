"""ScriptScheduler: a scheduler that decides in the script."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._support import _notes
from ..schedulers import TrialScheduler


class Controller:
    """The argument `tune_controller` of the methods of a scheduler: the trials that have started.

    Parameters
    ----------
    trials : function
        Returns the trials.
    """

    search_alg = None

    def __init__(self, trials: Callable[[], list[Any]]) -> None:
        self._trials = trials

    def get_trials(self) -> list[Any]:
        """Returns all trials that have started."""
        return self._trials()

    def get_live_trials(self) -> list[Any]:
        """Returns the trials that have not ended."""
        return [trial for trial in self._trials() if trial.status not in ("TERMINATED", "ERROR")]

    def get_trial(self, trial_id: str) -> Any:
        """Returns the trial with this ID, or `None`."""
        return next((trial for trial in self._trials() if trial.trial_id == trial_id), None)

    def stop_trial(self, trial: Any) -> None:
        """Marks the trial: it ends at its next result."""
        trial.is_stopped = True


class ScriptScheduler:
    """Calls the methods of a scheduler. Calls must be serialized.

    Parameters
    ----------
    scheduler : TrialScheduler
    trials : function
        Returns the trials that have started.
    """

    def __init__(self, scheduler: TrialScheduler, trials: Callable[[], list[Any]]) -> None:
        self._scheduler, self._controller = scheduler, Controller(trials)
        self._added: set[str] = set()
        self._has_warned = False

    def on_start(self, trial: Any) -> None:
        """Adds a trial, once."""
        if trial.trial_id not in self._added:
            self._added.add(trial.trial_id)
            self._scheduler.on_trial_add(self._controller, trial)

    def ends(self, trial: Any, result: dict[str, Any]) -> bool:
        """Passes a result to the scheduler. Returns whether the trial ends with this result."""
        if result.get("done"):
            return False
        action = self._scheduler.on_trial_result(self._controller, trial, result)
        if action == TrialScheduler.PAUSE and not self._has_warned:
            self._has_warned = True
            _notes.say(f"{type(self._scheduler).__name__} paused {trial.trial_id}, which continues: a scheduler in the script can only stop trials")
        return action == TrialScheduler.STOP

    def on_end(self, trial: Any, error: bool) -> None:
        """Notifies the scheduler that a trial has ended."""
        if error:
            self._scheduler.on_trial_error(self._controller, trial)
        elif not trial.is_stopped:
            self._scheduler.on_trial_complete(self._controller, trial, trial.last_result)
