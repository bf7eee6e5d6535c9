"""Trials that ended in earlier starts of the script."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ...train import Result
from ...train._results import _run_state
from .._live_trial import LiveTrial
from .._results import trials_of
from .scheduling import ScriptScheduler
from .searching import ScriptSearch, without_unsuggested


def replayed(path: str, config_of: Callable[[dict[str, Any]], Any], max_failures: int, search: ScriptSearch | None,
             scheduler: ScriptScheduler | None) -> list[LiveTrial]:
    """Passes the reports and the ends of the trials that have ended to the scheduler, and the ends to the searcher, by trial number. Returns these trials.

    Parameters
    ----------
    path, config_of, max_failures
        Arguments of SweepWatcher.
    search, scheduler
        The objects that decide in the script, or `None`.
    """
    made = []
    for trial, has_failed in _ended(path, config_of, max_failures):
        reports = Result.from_path(trial.path).reports
        if scheduler is not None:
            scheduler.on_start(trial)
        pass_reports(trial, reports, scheduler)
        trial.has_ended = True
        trial.set_state(_run_state.FAILED if has_failed else _run_state.FINISHED)
        if scheduler is not None:
            scheduler.on_end(trial, has_failed)
        if search is not None:
            search.on_earlier_end(trial.trial_id, trial.last_result, has_failed)
        made.append(trial)
    return made


def pass_reports(trial: LiveTrial, reports: list[dict[str, Any]], scheduler: ScriptScheduler | None) -> None:
    """Adds recorded reports to the trial, and passes them to the scheduler until it stops the trial. The last one of a finished trial has `done`, which was
    not known when the scheduler decided."""
    for report in reports:
        result = {"trial_id": trial.trial_id, "config": trial.config, **report}
        if scheduler is not None and not trial.is_stopped and scheduler.ends(trial, {**result, "done": False}):
            trial.is_stopped = True
        trial.add(result)


def _ended(path: str, config_of: Callable[[dict[str, Any]], Any], max_failures: int) -> Iterator[tuple[LiveTrial, bool]]:
    """Generates (trial, whether it has failed) for the trials that are not started again."""
    for each in without_unsuggested(path, trials_of(path)):
        if each["state"] not in (_run_state.FINISHED, _run_state.FAILED):
            continue
        trial = LiveTrial(each["trial"], each["path"], config_of(each) or {})
        has_failed = each["state"] == _run_state.FAILED
        if not has_failed or trial.num_failures > max_failures:
            yield trial, has_failed
