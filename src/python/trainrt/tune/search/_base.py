"""Searcher: the base class of the searchers."""

from __future__ import annotations

import glob
import os
import secrets
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from .._compared import Compared
from .._domains import Domain


class Searcher(Compared):
    """Base class of the searchers, which choose the values of trials.

    A subclass defines `suggest()`, which is called in the script once for each trial, one at a time, in a thread other than the main thread. Its values are
    merged with the param_space. `on_trial_result()` and `on_trial_complete()` are called as the results arrive. A restarted script restores the searcher by
    `restore()`, if the searcher defines `save()`; trials that have started keep their values.

    Parameters
    ----------
    metric, mode : str or list of str, optional
        The metric, and "min" or "max".

    Raises
    ------
    AssertionError
        For an invalid mode.

    Examples
    --------
    >>> from trainrt.tune.search import Searcher
    >>> class Doubling(Searcher):
    ...     def __init__(self):
    ...         super().__init__(metric="loss", mode="min")
    ...         self.x = 1
    ...     def suggest(self, trial_id):
    ...         self.x *= 2
    ...         return {"x": self.x}
    ...     def on_trial_complete(self, trial_id, result=None, error=False):
    ...         pass
    >>> Doubling().suggest("trial_00000")
    {'x': 2}
    """

    FINISHED = "FINISHED"
    CKPT_FILE_TMPL = "searcher-state-{}.pkl"

    def __init__(self, metric: Any = None, mode: Any = None) -> None:
        self._metric, self._mode = metric, mode
        if not metric or not mode:
            return
        title = f"{type(self).__name__}(metric={metric!r}, mode={mode!r})"
        assert isinstance(metric, type(mode)), f"{title}: both must be strings, or lists"
        if isinstance(mode, str):
            assert mode in ("min", "max"), f"{title}: mode must be 'min' or 'max'"
        elif isinstance(mode, list):
            assert len(mode) == len(metric), f"{title}: the lists must have the same length"
            assert all(each in ("min", "max", "obs") for each in mode), f"{title}: each mode must be 'min', 'max' or 'obs'"
        else:
            raise ValueError(f"{title}: mode must be a string or a list")

    # ---- methods that subclasses define ----

    def set_search_properties(self, metric: str | None, mode: str | None, config: dict[str, Any], **spec: Any) -> bool:
        """Sets the metric and the mode of the TuneConfig, and the param_space with its domains. Returns whether the searcher uses them."""
        del metric, mode, config, spec
        return False

    def suggest(self, trial_id: str) -> dict[str, Any] | str | None:
        """Returns the values of a trial; `None` to be asked again later; `Searcher.FINISHED` if there are no more."""
        raise NotImplementedError(f"{type(self).__name__} does not define suggest()")

    def on_trial_result(self, trial_id: str, result: dict[str, Any]) -> None:
        """Called for each result of a trial."""

    def on_trial_complete(self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False) -> None:
        """Called when a trial has finished or failed, with its last result."""
        raise NotImplementedError(f"{type(self).__name__} does not define on_trial_complete()")

    def add_evaluated_point(self, parameters: dict[str, Any], value: float, error: bool = False, pruned: bool = False,
                            intermediate_values: Sequence[float] | None = None) -> None:
        """Adds the result of an earlier trial."""
        raise NotImplementedError(f"{type(self).__name__} does not define add_evaluated_point()")

    def get_state(self) -> dict[str, Any]:
        """Returns the state of a searcher that contains another one."""
        raise NotImplementedError(f"{type(self).__name__} does not define get_state()")

    def set_state(self, state: dict[str, Any]) -> None:
        """Sets the state of get_state()."""
        raise NotImplementedError(f"{type(self).__name__} does not define set_state()")

    def set_max_concurrency(self, max_concurrent: int) -> bool:
        """Called by a ConcurrencyLimiter. Returns whether the searcher limits the number of its trials itself."""
        del max_concurrent
        return False

    # ---- methods that scripts call ----

    def add_evaluated_trials(self, trials_or_analysis: Any, metric: str) -> None:
        """Passes the results of a trial, a list of trials or an ExperimentAnalysis to `add_evaluated_point()`.

        Raises
        ------
        NotImplementedError
            The searcher does not define add_evaluated_point(), or the argument has another type.
        """
        if type(self).add_evaluated_point is Searcher.add_evaluated_point:
            raise NotImplementedError(f"{type(self).__name__} does not define add_evaluated_point()")
        given = getattr(trials_or_analysis, "trials", trials_or_analysis)
        trials = list(given) if isinstance(given, (list, tuple)) else [given]
        if not all(hasattr(trial, "last_result") for trial in trials):
            raise NotImplementedError(f"add_evaluated_trials({trials_or_analysis!r}): it must be a trial, a list of trials, or an ExperimentAnalysis")
        known = [trial for trial in trials if metric in trial.last_result]
        for trial in known:
            is_done = trial.status == "TERMINATED" and bool(trial.last_result.get("done", False))
            self.add_evaluated_point(parameters=trial.config, value=trial.last_result[metric], error=trial.status == "ERROR",
                                     pruned=trial.status == "TERMINATED" and not is_done, intermediate_values=None)
        if not known:
            warnings.warn(f"add_evaluated_trials(metric={metric!r}): no trial has reported this metric", stacklevel=2)

    def save_to_dir(self, checkpoint_dir: str, session_str: str = "default") -> None:
        """Saves the state into a file of the directory by an atomic rename. Does nothing if the searcher does not define save()."""
        aside = os.path.join(checkpoint_dir, f".{secrets.token_hex(8)}-searcher-state")
        try:
            self.save(aside)
        except NotImplementedError:
            return
        if os.path.exists(aside):
            os.replace(aside, os.path.join(checkpoint_dir, self.CKPT_FILE_TMPL.format(session_str)))

    def restore_from_dir(self, checkpoint_dir: str) -> None:
        """Restores the state from the file of save_to_dir(). Raises RuntimeError if there is no such file."""
        found = glob.glob(os.path.join(glob.escape(checkpoint_dir), self.CKPT_FILE_TMPL.format("*")))
        if not found:
            raise RuntimeError(f"{type(self).__name__}: the directory {checkpoint_dir} has no state of a searcher, {self.CKPT_FILE_TMPL.format('*')}")
        self.restore(max(found))

    # ---- methods that a Tuner calls ----

    def suggests(self) -> bool:
        """Returns whether `suggest()` chooses the values of trials, in the script. If not, trainrt chooses them as the keys of `settings()` request."""
        return True

    def settings(self) -> dict[str, str]:
        """Returns the keys of [tune] that select this searcher."""
        return {}

    def total_samples(self, num_samples: int, param_space: dict[str, Any]) -> int:
        """Returns the number of trials of a sweep, if the searcher suggests the values."""
        del param_space
        return num_samples

    def with_own_space(self, param_space: Any) -> Any:
        """Returns the param_space, to which the domains that were passed to the searcher itself are added."""
        return param_space

    def check_domains(self, domains: Mapping[str, Domain]) -> None:
        """Raises ValueError if the searcher cannot choose values of one of the domains, {name: domain}."""


def seed_setting(seed: Any) -> dict[str, str]:
    """Returns the key `seed` of [tune]; {} for `None`. Raises ValueError for an invalid seed."""
    if seed is None:
        return {}
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise ValueError(f"the seed is {seed!r}; it must be an integer, 0 or more")
    return {"seed": str(seed)}
