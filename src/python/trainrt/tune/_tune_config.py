"""TuneConfig: how trials are chosen, compared and stopped early."""

from __future__ import annotations

import datetime
import enum
from dataclasses import dataclass
from typing import Any, Callable

from .._support import _notes
from ._domains import plain_number
from .schedulers import TrialScheduler
from .search import Searcher


@dataclass
class TuneConfig:
    """How trials are chosen, compared and stopped early.

    Parameters
    ----------
    metric : str, optional
        Name of the metric; it may be passed to the scheduler instead.
    mode : {"min", "max"}, optional
        Whether a lower or a higher metric is better.
    search_alg : trainrt.tune.search.Searcher, optional
        Default: grids and random values.
    scheduler : trainrt.tune.schedulers.TrialScheduler, optional
        Default: all trials run to their end.
    num_samples : int
        Number of trials; with grids, number of trials of each combination.
    max_concurrent_trials : int, optional
        Default: as many as the machine has CPUs, or the job has tasks, for.
    time_budget_s : float or datetime.timedelta, optional
        Stops the sweep after that time.
    reuse_actors, chdir_to_trial_dir
        Ignored.
    trial_name_creator, trial_dirname_creator
        Ignored, with a note.

    Examples
    --------
    >>> from trainrt import tune
    >>> tune.TuneConfig(metric="loss", mode="min", num_samples=20).num_samples
    20
    """

    mode: str | None = None
    metric: str | None = None
    search_alg: Searcher | None = None
    scheduler: TrialScheduler | None = None
    num_samples: int = 1
    max_concurrent_trials: int | None = None
    time_budget_s: float | datetime.timedelta | None = None
    reuse_actors: bool = False
    trial_name_creator: Callable | None = None
    trial_dirname_creator: Callable | None = None
    chdir_to_trial_dir: Any = None

    def __post_init__(self) -> None:
        if self.mode not in (None, "min", "max"):
            raise ValueError(f"TuneConfig(mode={self.mode!r}): it must be 'min' or 'max'")
        self.num_samples = plain_number(self.num_samples)
        if isinstance(self.num_samples, bool) or not isinstance(self.num_samples, int) or self.num_samples < 1:
            raise ValueError(f"TuneConfig(num_samples={self.num_samples!r}): it must be an integer, 1 or more")
        if isinstance(self.time_budget_s, datetime.timedelta):
            self.time_budget_s = self.time_budget_s.total_seconds()
        for name, kind in (("search_alg", Searcher), ("scheduler", TrialScheduler)):
            value = getattr(self, name)
            if value is not None and not isinstance(value, kind):
                raise TypeError(f"TuneConfig({name}={value!r}): it must be one of trainrt.tune.{'search' if kind is Searcher else 'schedulers'}")
        for name in ("trial_name_creator", "trial_dirname_creator"):
            if getattr(self, name) is not None:
                _notes.say(f"TuneConfig({name}=...) has no effect: trials are named trial_00000 and so on, in the sweep's directory")


@dataclass
class ResumeConfig:
    """Which trials `Tuner.restore()` continues, as Ray Tune names them.

    Examples
    --------
    >>> from trainrt import tune
    >>> tune.ResumeConfig(errored=tune.ResumeConfig.ResumeType.RESUME).errored.value
    'resume'
    """

    class ResumeType(enum.Enum):
        """The action for a trial: it continues, starts again, or keeps its state."""

        RESUME = "resume"
        RESTART = "restart"
        SKIP = "skip"

    finished: ResumeType = ResumeType.SKIP
    unfinished: ResumeType = ResumeType.RESUME
    errored: ResumeType = ResumeType.SKIP
