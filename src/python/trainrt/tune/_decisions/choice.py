"""The searcher and the scheduler of a TuneConfig, with its metric and mode."""

from __future__ import annotations

from typing import Any

from .._nested_values import domains_in
from .._spaces import DEFAULT_METRIC
from .._sweep_record import DECIDED_IN_SCRIPT
from .._tune_config import TuneConfig
from ..schedulers import FIFOScheduler
from ..schedulers._base import MetricScheduler
from ..search import BasicVariantGenerator, ConcurrencyLimiter


class Choice:
    """The searcher and the scheduler. An argument that contradicts them is an error of `check()`, which fit() calls, as in Ray Tune.

    Parameters
    ----------
    config : TuneConfig
    param_space : dict, optional
    """

    def __init__(self, config: TuneConfig, param_space: Any) -> None:
        self.scheduler = config.scheduler or FIFOScheduler()
        self.search = config.search_alg or BasicVariantGenerator()
        self.space = self.search.with_own_space({} if param_space is None else param_space)
        self._problem = self._configured(config)
        self.metric: str | None = self._of(config.metric, "metric")
        self.mode: str | None = self._of(config.mode, "mode")

    def _configured(self, config: TuneConfig) -> str:
        """Passes metric, mode and space to the searcher and the scheduler. Returns a description of what contradicts them, or ""."""
        asked = (config.metric, config.mode)
        limit = config.max_concurrent_trials
        own_limit = self.search.max_concurrent if isinstance(self.search, ConcurrencyLimiter) else limit
        if limit is not None and limit < 0:
            return f"TuneConfig(max_concurrent_trials={limit}): it must be 1 or more, or 0 for no limit"
        if limit and limit != own_limit:
            return (f"TuneConfig(max_concurrent_trials={limit}): the search_alg is a ConcurrencyLimiter with max_concurrent={own_limit}; leave "
                    f"max_concurrent_trials out")
        space = self.space if isinstance(self.space, dict) else {}
        if not self.search.set_search_properties(*asked, space, num_samples=config.num_samples) and self.search.suggests() and any(
                True for _ in domains_in(space)):
            return (f"Tuner(param_space=...) has domains, and {type(self.search).__name__} has a search space of its own: put all domains into the "
                    f"space of the searcher")
        if getattr(self.scheduler, "_given_by_tuner", None) != asked and not self.scheduler.set_search_properties(*asked):
            return (f"TuneConfig(metric={config.metric!r}, mode={config.mode!r}): {type(self.scheduler).__name__} has the metric "
                    f"{self.scheduler.metric!r} and the mode {self.scheduler.mode!r} already; remove them from one of the two")
        self.scheduler._given_by_tuner = asked  # type: ignore[attr-defined]
        if isinstance(self.scheduler, MetricScheduler) and not (self.scheduler.metric and self.scheduler.mode):
            return (f"{type(self.scheduler).__name__} has been instantiated without a valid `metric` ({self.scheduler.metric}) or `mode` "
                    f"({self.scheduler.mode}): pass them to the scheduler, or to tune.TuneConfig()")
        if not self.scheduler.name and getattr(self.scheduler, "needs_pauses", False):
            return (f"{type(self.scheduler).__name__}: a sweep counts the time of trials in reports, so that it has the same result on any machine: use "
                    f"time_attr='training_iteration' and stop_last_trials=True, and give arguments such as max_t as numbers of reports")
        if self.plugin == "pbt" and self.search.suggests():
            return f"{type(self.scheduler).__name__} cannot be combined with the searcher {type(self.search).__name__}: leave search_alg out"
        return ""

    def _of(self, given: str | None, name: str) -> str | None:
        """Returns the given metric or mode; if none was given, that of the scheduler or the searcher."""
        for value in (given, getattr(self.scheduler, name), getattr(self.search, name)):
            if isinstance(value, str) and value and (value != DEFAULT_METRIC or given or not isinstance(self.scheduler, FIFOScheduler) or self.scheduler.mode):
                return value
        return None

    def check(self) -> None:
        """Raises ValueError if the TuneConfig contradicts the searcher or the scheduler."""
        if self._problem:
            raise ValueError(self._problem)

    def decided_in_script(self) -> dict[str, str]:
        """Returns {DECIDED_IN_SCRIPT: names of the classes} if the searcher or the scheduler decides in the script; otherwise {}."""
        names = [type(each).__name__ for each, decides in ((self.search, self.search.suggests()), (self.scheduler, not self.scheduler.name)) if decides]
        return {DECIDED_IN_SCRIPT: ", ".join(names)} if names else {}

    @property
    def plugin(self) -> str:
        """The key tune.scheduler."""
        return self.scheduler.name or "fifo"
