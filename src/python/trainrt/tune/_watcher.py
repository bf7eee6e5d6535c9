"""SweepWatcher: calls the stopper and the callbacks of a Tuner, in the script, with the results of its trials."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from typing import Any

from .._support import _notes
from ..train import Result
from ..train._results import _run_directory, _run_state
from ._callback import Callback
from ._decisions.earlier import pass_reports, replayed
from ._decisions.scheduling import ScriptScheduler
from ._decisions.searching import ScriptSearch
from ._live_trial import LiveTrial
from ._results import trials_of
from ._sweep_record import is_sweep
from .stopper import FunctionStopper, Stopper

_POLL_S = 1.0


class SweepWatcher:
    """Receives the events of the trials. Calls of stoppers and callbacks are serialized.

    Parameters
    ----------
    path : str
        Directory of the sweep.
    stopper : Stopper, optional
    callbacks : sequence of Callback
    config_of : function
        Returns the config of a trial: config_of({"trial": name, "path": directory, "config": {name: text}}).
    max_failures : int
        How many times a failed trial is restarted.

    `search` and `scheduler` are `None`, or set before begin() to objects that decide in the script.
    """

    def __init__(self, path: str, stopper: Stopper | None, callbacks: Sequence[Callback], config_of: Callable[[dict[str, Any]], Any],
                 max_failures: int = 0) -> None:
        self._path, self._stopper, self._callbacks, self._config_of = path, stopper, callbacks, config_of
        self._max_failures = max_failures
        self.search: ScriptSearch | None = None
        self.scheduler: ScriptScheduler | None = None
        self._trials: dict[str, LiveTrial] = {}
        self._earlier: list[LiveTrial] | None = None  # trials that ended in earlier starts of the script; `None` before the first event
        self._suggested: set[str] = set()  # IDs of the trials that have got their config in this start
        self._no_more = False  # the searcher has no further values
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._processes: Any = None
        self._count = 0  # number of results
        self._error: Exception | None = None
        self.stops_sweep = False

    def trials(self) -> list[Any]:
        """Returns the trials that have started, also those that ended in earlier starts of the script."""
        return [*(trial for trial in self._earlier or () if trial.trial_id not in self._trials), *self._trials.values()]

    # ---- called by the Tuner ----

    def begin(self, processes: Any, num_samples: int, total: int) -> None:
        """Sets up the callbacks before the trials start. `processes`: the command that runs the trials, whose ask_to_stop() ends the sweep."""
        self._processes = processes
        if self._stopper is not None and not isinstance(self._stopper, FunctionStopper) and is_sweep(self._path):
            self._replay_finished()
        self._call("setup", stop=self._stopper, num_samples=num_samples, total_num_samples=total)
        if self._callbacks or self._stopper is not None or self._decides:
            threading.Thread(target=self._poll, daemon=True).start()

    def end(self) -> None:
        """Calls the methods of callbacks for the ends of trials, and of the sweep."""
        self._ended.set()
        with self._lock:
            if self._error is None:
                self._guarded(self._end_trials)

    def raise_error(self) -> None:
        """Raises the first exception of the stopper or a callback, if there was one."""
        if self._error is not None:
            raise self._error

    def on_event(self, event: dict[str, Any]) -> bool | bytes:
        """Processes an event of a trial. Returns whether the trial ends or, if the trial requests its config, the config as JSON. Any thread may call it."""
        with self._lock:
            if self._error is not None or self._ended.is_set():
                return False
            return self._guarded(self._on_event, event) or False

    @property
    def _decides(self) -> bool:
        return self.search is not None or self.scheduler is not None

    # ---- events ----

    def _on_event(self, event: dict[str, Any]) -> bool | bytes:
        if self._earlier is None:
            self._begin_decisions()
        trial = self._trials.get(event["trial"])
        if event["kind"] == "suggest":
            return self._suggestion(event["trial"])
        if event["kind"] == "start":
            self._on_start(event)
        elif trial is not None and event["kind"] == "saved":
            self._on_saved(trial)
        elif trial is not None:
            return self._on_result(trial, event)
        return False

    def _begin_decisions(self) -> None:
        """Restores the searcher, and notifies the searcher and the scheduler of the trials that ended in earlier starts of the script."""
        self._earlier = []
        if self.search is not None:
            self.search.restore()
        if self._decides and is_sweep(self._path):
            self._earlier = replayed(self._path, self._config_of, self._max_failures, self.search, self.scheduler)

    def _on_start(self, event: dict[str, Any]) -> None:
        name = event["trial"]
        path = os.path.join(self._path, name)
        if name not in self._trials:
            self._trials[name] = LiveTrial(name, path, self._config_of({"trial": name, "path": path, "config": event["texts"]}) or {})
        trial = self._trials[name]
        if trial.starts > 0 and trial.has_failed:
            self._call("on_trial_recover", trial=trial)
        trial.starts += 1
        trial.has_ended = trial.has_failed = False
        trial.set_state(_run_state.RUNNING)
        if self.scheduler is not None:
            self.scheduler.on_start(trial)
        self._call("on_trial_start", trial=trial)
        if event["is_restored"]:
            self._notify_unsent_save(trial)
            self._call("on_trial_restore", trial=trial)

    def _suggestion(self, trial_id: str) -> bytes | bool:
        """Returns the config of a trial as JSON, or False if the searcher has no suggestion. First passes trials that have ended to the searcher."""
        assert self.search is not None
        self._look()
        found = self.search.suggestion(trial_id)
        if found is not None:
            self._suggested.add(trial_id)
        elif self.search.has_finished and not self._no_more:
            self._no_more = True
            _notes.say("the searcher has no further values: the sweep ends when the running trials have ended")
        self._end_without_values()
        return found or False

    def _end_without_values(self) -> None:
        """Ends the sweep if the searcher has no further values and all trials with values have ended. The other trials would wait for values forever."""
        if self._no_more and not self.stops_sweep and not any(map(self._is_running, self._suggested)):
            self.stops_sweep = True
            self._processes.ask_to_stop()

    def _is_running(self, trial_id: str) -> bool:
        trial = self._trials.get(trial_id)
        if trial is not None:
            return not trial.has_ended
        record = _run_directory.run_record(os.path.join(self._path, trial_id)) or {}
        return record.get("state") not in (_run_state.FINISHED, _run_state.FAILED)  # otherwise the trial has ended before its start event arrived

    def _on_result(self, trial: LiveTrial, event: dict[str, Any]) -> bool:
        """Processes a result, unless a restarted trial has only repeated it. Returns whether the trial ends with this result."""
        if event["iteration"] <= trial.iteration:
            return trial.is_stopped
        if trial.iteration == 0:
            self._replay(trial, trial.earlier_reports(event["iteration"]))
        result = trial.completed(event["metrics"], event["iteration"], event["seconds"])
        self._call("on_step_begin")
        if self._stopper is not None:
            trial.is_stopped = bool(self._stopper(trial.trial_id, result)) or trial.is_stopped
            self._check_sweep()
        result["done"] = result["done"] in (True, 1) or trial.is_stopped
        if self.scheduler is not None and self.scheduler.ends(trial, result):
            result["done"] = trial.is_stopped = True
        if self.search is not None:
            self.search.on_result(trial.trial_id, result)
        trial.add(result)
        self._count += 1
        self._call("on_trial_result", trial=trial, result=result)
        self._call("on_step_end")
        return trial.is_stopped

    def _on_saved(self, trial: LiveTrial) -> None:
        checkpoint = trial.checkpoint
        self._call("on_trial_save", trial=trial)
        self._call("on_checkpoint", trial=trial, checkpoint=checkpoint)
        trial.saved_iteration = trial.iteration

    def _replay(self, trial: LiveTrial, reports: list[dict[str, Any]]) -> None:
        """Passes the reports of earlier starts of the script to the stopper, for its counters, and to the scheduler."""
        for report in reports if self._stopper is not None else ():
            self._stopper(trial.trial_id, report)  # type: ignore[misc]
        pass_reports(trial, reports, self.scheduler)

    def _replay_finished(self) -> None:
        for each in trials_of(self._path):
            if each["state"] == _run_state.FINISHED:
                for report in Result.from_path(each["path"]).reports:
                    self._stopper(each["trial"], report)  # type: ignore[misc]

    # ---- ends ----

    def _check_sweep(self) -> None:
        if self._stopper is not None and not self.stops_sweep and self._stopper.stop_all():
            self.stops_sweep = True
            _notes.say(f"stop_all() of {type(self._stopper).__name__} returned True: the trials stop and save")
            self._processes.ask_to_stop()

    def _poll(self) -> None:
        while not self._ended.wait(_POLL_S):
            with self._lock:
                if self._error is None and not self._ended.is_set():
                    self._guarded(self._look)

    def _look(self) -> None:
        if self._stopper is not None and not isinstance(self._stopper, FunctionStopper):
            self._check_sweep()
        for trial in self._trials.values() if self._callbacks or self._decides else ():
            if trial.has_ended:
                continue
            state = trial.recorded_state()
            if state == _run_state.FINISHED:
                self._complete(trial)
            elif state == _run_state.FAILED:
                trial.has_failed = True
                if trial.starts > self._max_failures:
                    self._fail(trial)
        self._end_without_values()

    def _end_trials(self) -> None:
        needs_states = (self._callbacks or self._decides) and is_sweep(self._path)
        states = {each["trial"]: each["state"] for each in trials_of(self._path)} if needs_states else {}
        for trial in self._trials.values():
            state = states.get(trial.trial_id)
            if trial.has_ended:
                continue
            if state == _run_state.FINISHED:
                self._complete(trial)
            elif state == _run_state.FAILED:
                self._fail(trial)
            elif state is not None:
                trial.set_state(state)
        for callback in self._callbacks:
            callback.on_experiment_end(trials=list(self._trials.values()))

    def _fail(self, trial: LiveTrial) -> None:
        """Calls the methods for a trial that has failed and is not restarted."""
        trial.has_ended = True
        trial.set_state(_run_state.FAILED, Result.from_path(trial.path).error)
        self._pass_end(trial, error=True)
        self._call("on_trial_error", trial=trial)

    def _pass_end(self, trial: LiveTrial, error: bool) -> None:
        if self.scheduler is not None:
            self.scheduler.on_end(trial, error)
        if self.search is not None:
            self.search.on_end(trial.trial_id, trial.last_result, error)

    def _complete(self, trial: LiveTrial) -> None:
        """Calls the methods for a trial that has finished."""
        trial.has_ended = True
        trial.set_state(_run_state.FINISHED)
        self._notify_unsent_save(trial)
        self._pass_end(trial, error=False)
        self._call("on_trial_complete", trial=trial)

    def _notify_unsent_save(self, trial: LiveTrial) -> None:
        """Calls the methods for the checkpoint of a report at which the trial stopped: report() did not return, so that no event was sent."""
        reports = Result.from_path(trial.path).reports if trial.iteration else []
        if reports and reports[-1].get("should_checkpoint") and trial.saved_iteration < reports[-1]["training_iteration"]:
            self._on_saved(trial)

    # ---- calls ----

    def _call(self, method: str, **arguments: Any) -> None:
        if method != "setup":
            arguments = {"iteration": self._count, "trials": list(self._trials.values()), **arguments}
        for callback in self._callbacks:
            getattr(callback, method)(**arguments)

    def _guarded(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Calls the function. At its first exception, ends the sweep; end() raises the exception."""
        try:
            return function(*arguments)
        except Exception as error:
            self._error = error
            if not self._ended.is_set():
                self._processes.ask_to_stop()
            return False
