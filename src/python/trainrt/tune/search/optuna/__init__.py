"""OptunaSearch: Optuna chooses the values of trials (pip install optuna, or Debian's python3-optuna)."""

from __future__ import annotations

import importlib.util
import shlex
import sys
from collections.abc import Sequence
from typing import Any

from ...._client.values import kind_of
from ..._spaces import DEFAULT_METRIC
from ...utils._checks import validate_warmstart
from ...utils._dicts import flatten_dict, unflatten_dict
from .. import Searcher
from .._base import seed_setting
from ._spaces import Captor, distributions_of, is_search_space
from ._study import Study


class OptunaSearch(Searcher):
    """Searches the param_space of the Tuner by a sampler of Optuna, by default TPE.

    By default, the state is in the sweep's journal, so a sweep can be interrupted at any time. With `space`, `points_to_evaluate`, `sampler`, `storage`, or
    lists of metrics, the study is an object in the script. A restarted script then restores the trials of the study, and draws other values than before. With
    `sampler`, these values also differ from one restart to the next.

    Parameters
    ----------
    space : dict or function, optional
        {name: distribution of Optuna}, nested as the config; or a function of an optuna.Trial that calls its `suggest_` methods, and returns further values or
        `None`. Default: the domains of the param_space.
    metric, mode : str or list of str, optional
        As in TuneConfig. Lists optimize several objectives at once.
    points_to_evaluate : list of dict, optional
        Values of the first trials, {name: value}. With `evaluated_rewards`, they are not tried again.
    sampler : optuna.samplers.BaseSampler, optional
    study_name : str, optional
        Name of the study in `storage`.
    storage : optuna.storages.BaseStorage, optional
    seed : int, optional
        Seed of the default sampler.
    evaluated_rewards : list of float, optional
        The metrics of `points_to_evaluate`.

    Raises
    ------
    ImportError
        optuna is not installed.
    AssertionError
        `sampler` or `storage` has another type.

    Examples
    --------
    >>> from trainrt.tune.search.optuna import OptunaSearch  # doctest: +SKIP
    >>> OptunaSearch(metric="loss", mode="min", seed=3).settings()["seed"]  # doctest: +SKIP
    '3'
    """

    def __init__(self, space: Any = None, metric: Any = None, mode: Any = None, points_to_evaluate: list[dict[str, Any]] | None = None, sampler: Any = None,
                 study_name: str | None = None, storage: Any = None, seed: int | None = None, evaluated_rewards: list[float] | None = None) -> None:
        if importlib.util.find_spec("optuna") is None:
            raise ImportError("OptunaSearch needs optuna (pip install optuna, or Debian's python3-optuna)")
        super().__init__(metric=metric, mode=mode)
        self._seed = seed_setting(seed)
        self._points, self._rewards = points_to_evaluate or [], evaluated_rewards
        self._needs_script = bool(space or points_to_evaluate or sampler or storage or isinstance(mode, list))
        self._study = Study(study_name or "optuna", storage, sampler, seed)
        self._space: Any = None
        if isinstance(space, dict) and space:
            self._space = self.convert_search_space(space) if is_search_space(space) else flatten_dict(space)
        elif space:
            self._space = space
        if self._space:
            self._open()

    def suggests(self) -> bool:
        return self._needs_script

    def settings(self) -> dict[str, str]:
        if self._needs_script:
            return {}
        return {"searcher_program": f"{shlex.quote(sys.executable)} -m trainrt.tune.search.optuna", **self._seed}

    @staticmethod
    def convert_search_space(spec: dict[str, Any]) -> dict[str, Any]:
        """Returns Optuna's distributions for a param_space, as {name: distribution}. Raises ValueError for grids and other values that Optuna does not
        support."""
        return distributions_of(spec)

    def set_search_properties(self, metric: str | None, mode: str | None, config: dict[str, Any], **spec: Any) -> bool:
        if self._space:
            return False
        self._metric, self._mode = metric or self._metric, mode or self._mode
        if not self._needs_script:
            return True
        self._space = self.convert_search_space(config)
        self._open()
        return True

    def _open(self) -> None:
        if self._metric is None and self._mode:
            if isinstance(self._mode, list):
                raise ValueError(f"OptunaSearch(mode={self._mode!r}): a list of modes needs a list of metrics")
            self._metric = DEFAULT_METRIC
        self._study.open(self._mode)
        validate_warmstart(list(self._space) if isinstance(self._space, dict) else [], self._points, self._rewards,
                           validate_point_name_lengths=not callable(self._space))
        for number, point in enumerate(self._points):
            if not self._rewards:
                self._study.enqueue(point)
            elif not self._study.has_complete(point, self._rewards[number]):
                self.add_evaluated_point(point, self._rewards[number])

    def _require_ready(self) -> None:
        if not self._space:
            raise RuntimeError("OptunaSearch has no search space: pass `space` to it, or a `param_space` to tune.Tuner()")
        if not self._metric or not self._mode:
            raise RuntimeError(f"OptunaSearch has been instantiated without a valid `metric` ({self._metric}) or `mode` ({self._mode}): pass them to it, or to "
                               f"tune.TuneConfig()")

    def suggest(self, trial_id: str) -> dict[str, Any] | str | None:
        self._require_ready()
        if not callable(self._space):
            return unflatten_dict(self._study.asked(trial_id, self._space).params)
        captor = Captor(self._study.asked(trial_id, None))
        returned = self._space(captor)
        if returned is not None and not isinstance(returned, dict):
            raise TypeError(f"OptunaSearch(space=...): the function returned {kind_of(returned)}; it must return a dict or None")
        if not all(isinstance(name, str) for name in returned or ()):
            raise TypeError("OptunaSearch(space=...): the function returned a dict with a key that is no string; all keys must be strings")
        return unflatten_dict({**captor.captured_values, **(returned or {})})

    def on_trial_result(self, trial_id: str, result: dict[str, Any]) -> None:
        if not isinstance(self._metric, list):  # Optuna has no intermediate values of several objectives
            self._study.report(trial_id, result[self._metric], result["training_iteration"])

    def on_trial_complete(self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False) -> None:
        names = self._metric if isinstance(self._metric, list) else [self._metric]
        values = [(result or {}).get(name) for name in names]
        self._study.tell(trial_id, values if isinstance(self._metric, list) else values[0], error)

    def add_evaluated_point(self, parameters: dict[str, Any], value: Any, error: bool = False, pruned: bool = False,
                            intermediate_values: Sequence[float] | None = None) -> None:
        self._require_ready()
        if callable(self._space):
            raise TypeError("OptunaSearch(space=function): a point with a reward needs distributions; pass a dict of distributions, or no space")
        self._study.add(parameters, value, self._space, "FAIL" if error else "PRUNED" if pruned else "COMPLETE", intermediate_values)

    def save(self, checkpoint_path: str) -> None:
        """Writes the trials of the study, as JSON."""
        self._study.save(checkpoint_path)

    def restore(self, checkpoint_path: str) -> None:
        self._study.restore(checkpoint_path)


__all__ = ["OptunaSearch"]
