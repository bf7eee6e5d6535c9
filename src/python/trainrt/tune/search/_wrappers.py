"""Searchers that contain another one: ConcurrencyLimiter and Repeater."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from typing import Any

from .._domains import Domain
from . import _wrapper_state
from ._base import Searcher

TRIAL_INDEX = "__trial_index__"  # key in a config: index of the trial among the trials with the same suggestion


class _Wrapper(Searcher):
    """A searcher that passes calls to another searcher. Raises RuntimeError if `searcher` is not a Searcher."""

    def __init__(self, searcher: Searcher) -> None:
        if not isinstance(searcher, Searcher):
            raise RuntimeError(f"{type(self).__name__}({searcher!r}): it must be a searcher, which is derived from trainrt.tune.search.Searcher")
        self.searcher = searcher
        super().__init__(metric=searcher.metric, mode=searcher.mode)

    @property
    def metric(self) -> Any:
        return self.searcher.metric

    @property
    def mode(self) -> Any:
        return self.searcher.mode

    def set_search_properties(self, metric: str | None, mode: str | None, config: dict[str, Any], **spec: Any) -> bool:
        return self.searcher.set_search_properties(metric, mode, config, **spec)

    def on_trial_result(self, trial_id: str, result: dict[str, Any]) -> None:
        self.searcher.on_trial_result(trial_id, result)

    def add_evaluated_point(self, parameters: dict[str, Any], value: float, error: bool = False, pruned: bool = False,
                            intermediate_values: Sequence[float] | None = None) -> None:
        self.searcher.add_evaluated_point(parameters, value, error, pruned, intermediate_values)

    def get_state(self) -> dict[str, Any]:
        return copy.deepcopy({name: value for name, value in self.__dict__.items() if name != "searcher"})

    def set_state(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def save(self, checkpoint_path: str) -> None:
        """Writes the state of this object and that of the inner searcher, as JSON."""
        _wrapper_state.write(checkpoint_path, self._own_state(), self.searcher)

    def restore(self, checkpoint_path: str) -> None:
        """Restores both states. Raises NotImplementedError if the inner searcher has not saved its state."""
        state = _wrapper_state.read(checkpoint_path, self.searcher)
        if state:
            self._set_own_state(state)
        if not state.get("has_inner", True):
            raise NotImplementedError(f"{type(self.searcher).__name__} does not define save()")

    def _own_state(self) -> dict[str, Any]:
        raise NotImplementedError

    def _set_own_state(self, state: dict[str, Any]) -> None:
        raise NotImplementedError

    def settings(self) -> dict[str, str]:
        return self.searcher.settings()

    def suggests(self) -> bool:
        return self.searcher.suggests()

    def with_own_space(self, param_space: Any) -> Any:
        return self.searcher.with_own_space(param_space)

    def check_domains(self, domains: Mapping[str, Domain]) -> None:
        self.searcher.check_domains(domains)


class ConcurrencyLimiter(_Wrapper):
    """Limits the number of trials that a searcher runs at the same time.

    Parameters
    ----------
    searcher : Searcher
    max_concurrent : int
        Maximum number of trials, 1 or more.
    batch : bool
        Whether the searcher gets the results of `max_concurrent` trials together, and only then suggests more values.

    Raises
    ------
    AssertionError
        `max_concurrent` is not an integer above 0.
    RuntimeError
        `searcher` is no Searcher.

    Examples
    --------
    >>> from trainrt.tune.search import ConcurrencyLimiter, HaltonSearch
    >>> ConcurrencyLimiter(HaltonSearch(), max_concurrent=2).settings()
    {'searcher': 'halton', 'max_concurrent_trials': '2'}
    """

    def __init__(self, searcher: Searcher, max_concurrent: int, batch: bool = False) -> None:
        assert isinstance(max_concurrent, int) and max_concurrent > 0, f"ConcurrencyLimiter(max_concurrent={max_concurrent!r}): it must be an integer above 0"
        self.max_concurrent, self.batch = max_concurrent, batch
        self.live_trials: set[str] = set()
        self.num_unfinished_live_trials = 0
        self.cached_results: dict[str, tuple[Any, bool]] = {}
        super().__init__(searcher)
        if batch and not searcher.suggests():
            raise ValueError(f"ConcurrencyLimiter({type(searcher).__name__}, batch=True) is not supported: the searcher gets each result at once")
        self._limits = not searcher.set_max_concurrency(max_concurrent)

    def set_max_concurrency(self, max_concurrent: int) -> bool:
        self.max_concurrent = max_concurrent
        return True

    def set_search_properties(self, metric: str | None, mode: str | None, config: dict[str, Any], **spec: Any) -> bool:
        self._limits = not self.searcher.set_max_concurrency(self.max_concurrent)
        return super().set_search_properties(metric, mode, config, **spec)

    def suggest(self, trial_id: str) -> dict[str, Any] | str | None:
        if not self._limits:
            return self.searcher.suggest(trial_id)
        assert trial_id not in self.live_trials, f"ConcurrencyLimiter.suggest({trial_id!r}): the trial is running already; each needs an ID of its own"
        if len(self.live_trials) >= self.max_concurrent:
            return None
        found = self.searcher.suggest(trial_id)
        if found is not None and found != Searcher.FINISHED:
            self.live_trials.add(trial_id)
            self.num_unfinished_live_trials += 1
        return found

    def on_trial_complete(self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False) -> None:
        if not self._limits:
            self.searcher.on_trial_complete(trial_id, result=result, error=error)
        elif trial_id in self.live_trials:
            self.cached_results[trial_id] = (result, error)
            self.num_unfinished_live_trials -= 1
            if not self.batch or self.num_unfinished_live_trials <= 0:
                self._pass_results()

    def _pass_results(self) -> None:
        for trial_id, (result, error) in self.cached_results.items():
            self.searcher.on_trial_complete(trial_id, result=result, error=error)
            self.live_trials.remove(trial_id)
        self.cached_results = {}

    def _own_state(self) -> dict[str, Any]:
        results = {trial_id: [_wrapper_state.recordable(result), error] for trial_id, (result, error) in self.cached_results.items()}
        return {"live_trials": sorted(self.live_trials), "cached_results": results}

    def _set_own_state(self, state: dict[str, Any]) -> None:
        self.live_trials = set(state["live_trials"])
        self.cached_results = {trial_id: (result, error) for trial_id, (result, error) in state["cached_results"].items()}
        self.num_unfinished_live_trials = len(self.live_trials) - len(self.cached_results)

    def settings(self) -> dict[str, str]:
        return {**self.searcher.settings(), "max_concurrent_trials": str(self.max_concurrent)}

    def total_samples(self, num_samples: int, param_space: dict[str, Any]) -> int:
        return self.searcher.total_samples(num_samples, param_space)


class Repeater(_Wrapper):
    """Tries each suggestion of a searcher in several trials, and gives the searcher the mean of their metric, without NaN.

    Parameters
    ----------
    searcher : Searcher
        One that defines `suggest()`.
    repeat : int
        Number of trials of each suggestion. `num_samples` is the number of all trials.
    set_index : bool
        Whether the config has the number of the trial of its suggestion, from 0, as "__trial_index__".

    Examples
    --------
    >>> from trainrt.tune.search import Repeater, Searcher
    >>> class Counts(Searcher):
    ...     def suggest(self, trial_id):
    ...         return {"x": trial_id}
    ...     def on_trial_complete(self, trial_id, result=None, error=False):
    ...         print(trial_id, result)
    >>> repeater = Repeater(Counts(metric="loss", mode="min"), repeat=2)
    >>> repeater.suggest("a"), repeater.suggest("b")
    ({'x': 'a', '__trial_index__': 0}, {'x': 'a', '__trial_index__': 1})
    >>> for name, loss in (("a", 1.0), ("b", 2.0)):
    ...     repeater.on_trial_complete(name, {"loss": loss})
    a {'loss': 1.5}
    """

    def __init__(self, searcher: Searcher, repeat: int = 1, set_index: bool = True) -> None:
        super().__init__(searcher)
        if not searcher.suggests() and type(searcher).suggest is Searcher.suggest:
            raise ValueError(f"Repeater({type(searcher).__name__}): the searcher has no suggest(), which a Repeater calls; use one that defines it")
        self.repeat, self._set_index = repeat, set_index
        self._groups: list[_Group] = []
        self._group_of: dict[str, _Group] = {}

    def suggest(self, trial_id: str) -> dict[str, Any] | str | None:
        if not self._groups or len(self._groups[-1].scores) >= self.repeat:
            config = self.searcher.suggest(trial_id)
            if not isinstance(config, dict):
                return config
            self._groups.append(_Group(trial_id, copy.deepcopy(config)))
        group = self._groups[-1]
        made = {**group.config, **({TRIAL_INDEX: len(group.scores)} if self._set_index else {})}
        group.scores[trial_id] = None
        self._group_of[trial_id] = group
        return made

    def on_trial_complete(self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False, **kwargs: Any) -> None:
        group = self._group_of.get(trial_id)
        if group is None:  # a trial of an earlier start of the script, without a saved state
            return
        group.scores[trial_id] = (result or {}).get(self.searcher.metric, math.nan)
        scores = list(group.scores.values())
        if None in scores or len(scores) < self.repeat:
            return
        known = [score for score in scores if score is not None and not math.isnan(score)]
        mean = sum(known) / len(known) if known else math.nan
        self.searcher.on_trial_complete(group.first, result={self.searcher.metric: mean}, **kwargs)

    def _own_state(self) -> dict[str, Any]:
        return {"groups": [[group.first, group.config, group.scores] for group in self._groups]}

    def _set_own_state(self, state: dict[str, Any]) -> None:
        self._groups = []
        for first, config, scores in state["groups"]:
            self._groups.append(_Group(first, config))
            self._groups[-1].scores.update(scores)
        self._group_of = {trial_id: group for group in self._groups for trial_id in group.scores}

    def suggests(self) -> bool:
        return True


class _Group:
    """The trials of one suggestion."""

    def __init__(self, first: str, config: dict[str, Any]) -> None:
        self.first, self.config = first, config
        self.scores: dict[str, float | None] = {}
