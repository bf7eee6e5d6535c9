"""TuneConfig: how trials are chosen, compared, and ended early."""

from dataclasses import dataclass
from typing import Any, Callable, Optional

from .._support import _notes
from ._spaces import plain_number
from .schedulers import TrialScheduler
from .search import Searcher


@dataclass
class TuneConfig:
    """Ray Tune's fields. metric and mode may also be given to the scheduler. num_samples: trials, and with grids so many of each of their
    combinations."""

    metric: Optional[str] = None
    mode: Optional[str] = None
    search_alg: Optional[Searcher] = None
    scheduler: Optional[TrialScheduler] = None
    num_samples: int = 1
    max_concurrent_trials: Optional[int] = None
    time_budget_s: Optional[float] = None
    reuse_actors: bool = False
    trial_name_creator: Optional[Callable] = None
    trial_dirname_creator: Optional[Callable] = None
    chdir_to_trial_dir: Any = None

    def __post_init__(self):
        if self.mode not in (None, "min", "max"):
            raise ValueError(f"TuneConfig(mode={self.mode!r}): it must be 'min' or 'max'")
        self.num_samples = plain_number(self.num_samples)
        if isinstance(self.num_samples, bool) or not isinstance(self.num_samples, int) or self.num_samples < 1:
            raise ValueError(f"TuneConfig(num_samples={self.num_samples!r}): it must be a whole number, 1 or more")
        for name, kind in (("search_alg", Searcher), ("scheduler", TrialScheduler)):
            value = getattr(self, name)
            if value is not None and not isinstance(value, kind):
                raise TypeError(f"TuneConfig({name}={value!r}): it must be one of trainrt.tune.{'search' if kind is Searcher else 'schedulers'}")
        for name in ("trial_name_creator", "trial_dirname_creator"):
            if getattr(self, name) is not None:
                _notes.say(f"TuneConfig({name}=...) changes nothing: trials are trial_00000 and so on, in the sweep's directory")
