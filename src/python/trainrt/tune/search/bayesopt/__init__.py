"""BayesOptSearch: Bayesian optimization chooses the values of trials (pip install bayesian-optimization)."""

from __future__ import annotations

import importlib.util
import json
import shlex
import sys
from collections.abc import Mapping
from typing import Any

from ..._domains import Categorical, Domain, Float, Integer
from ..._nested_values import as_domain, leaves, name_of, replaced
from ..._spaces import uniform
from .. import Searcher
from .._base import seed_setting

_KINDS = {"ucb": {"kappa"}, "ei": {"xi"}, "poi": {"xi"}}  # acquisition functions, with their arguments


class BayesOptSearch(Searcher):
    """Searches numbers by Bayesian optimization: a Gaussian process models the metric. Its state is in the sweep's journal, so a sweep can be interrupted
    at any time. With one trial at a time, the same seed gives the same trials.

    Parameters
    ----------
    space : dict, optional
        {name: (low, high)}, or {name: domain}, in addition to the param_space. A name such as "model/depth" is a value of a nested dict.
    metric, mode : str, optional
        As in TuneConfig.
    points_to_evaluate : list of dict, optional
        Values of the first trials.
    utility_kwargs : dict, optional
        Acquisition function: "kind" is "ucb", "ei" or "poi"; "kappa" is for ucb, "xi" for the others. Default: ucb with kappa 2.576.
    random_state : int
        Seed.
    random_search_steps : int
        Number of trials, after those of `points_to_evaluate`, with random values.
    verbose, patience, skip_duplicate
        Ignored.
    analysis
        Not supported: raises ValueError.

    Examples
    --------
    >>> from trainrt.tune.search.bayesopt import BayesOptSearch  # doctest: +SKIP
    >>> BayesOptSearch(random_search_steps=5).settings()["seed"]  # doctest: +SKIP
    '42'
    """

    def __init__(self, space: Mapping[str, Any] | None = None, metric: str | None = None, mode: str | None = None,
                 points_to_evaluate: list[dict[str, Any]] | None = None, utility_kwargs: dict[str, Any] | None = None, random_state: int = 42,
                 random_search_steps: int = 10, verbose: int = 0, patience: int = 5, skip_duplicate: bool = True, analysis: Any = None) -> None:
        del verbose, patience, skip_duplicate
        if analysis is not None:
            raise ValueError("BayesOptSearch(analysis=...) is not supported: pass good values as points_to_evaluate")
        if importlib.util.find_spec("bayes_opt") is None:
            raise ImportError("BayesOptSearch needs bayesian-optimization (pip install bayesian-optimization)")
        if isinstance(random_search_steps, bool) or not isinstance(random_search_steps, int) or random_search_steps < 0:
            raise ValueError(f"BayesOptSearch(random_search_steps={random_search_steps!r}): it must be an integer, 0 or more")
        super().__init__(metric=metric, mode=mode)
        self._space = {name: _domain_of(name, value) for name, value in (space or {}).items()}
        self._options = {"points": [_flat_numbers(point) for point in points_to_evaluate or ()], "random_search_steps": random_search_steps,
                         **_acquisition_of(utility_kwargs or {})}
        self._seed = seed_setting(random_state)

    def suggests(self) -> bool:
        return False

    def set_search_properties(self, metric: str | None, mode: str | None, config: dict[str, Any], **spec: Any) -> bool:
        self._metric, self._mode = metric or self._metric, mode or self._mode
        return True

    def settings(self) -> dict[str, str]:
        command = [sys.executable, "-m", "trainrt.tune.search.bayesopt", json.dumps(self._options, separators=(",", ":"))]
        return {"searcher_program": shlex.join(command), **self._seed}

    def with_own_space(self, param_space: Any) -> Any:
        for name, domain in self._space.items():
            param_space = replaced(param_space, tuple(name.split("/")), domain)
        return param_space

    def check_domains(self, domains: Mapping[str, Domain]) -> None:
        for name, domain in domains.items():
            if isinstance(domain, Categorical) and domain.kind != "grid" and len(domain.values) > 1:
                raise ValueError(f"BayesOptSearch: '{name}' is {domain!r}, and it searches numbers only; use tune.grid_search() for this value, or "
                                 f"OptunaSearch()")
        for name, value in ((name, value) for point in self._options["points"] for name, value in point.items()):
            if name not in domains:
                raise ValueError(f"BayesOptSearch(points_to_evaluate=...): {name!r} is not searched; the param_space searches: {', '.join(domains)}")
            domain = domains[name]
            if isinstance(domain, (Float, Integer)) and not domain.lower <= value <= domain.upper:
                raise ValueError(f"BayesOptSearch(points_to_evaluate=...): {name!r} is {value!r}, which is not in {domain!r}")


def _domain_of(name: str, value: Any) -> Domain:
    found = as_domain(value)
    if found is not None:
        return found
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise ValueError(f"BayesOptSearch(space={{{name!r}: {value!r}}}): it must be (low, high), or a domain such as tune.uniform(0, 1)")
    return uniform(float(value[0]), float(value[1]))


def _flat_numbers(point: Any) -> dict[str, float]:
    if not isinstance(point, dict):
        raise TypeError(f"BayesOptSearch(points_to_evaluate=...): {point!r} must be a dict of values")
    found = {name_of(path): value for path, value in leaves(point, lambda _: False)}
    for name, value in found.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise ValueError(f"BayesOptSearch(points_to_evaluate=...): {name!r} is {value!r}; it must be a number")
    return found


def _acquisition_of(given: dict[str, Any]) -> dict[str, Any]:
    kind = given.get("kind", "ucb")
    if kind not in _KINDS:
        raise ValueError(f"BayesOptSearch(utility_kwargs={{'kind': {kind!r}}}): it must be one of {', '.join(_KINDS)}")
    return {"kind": kind, **{name: float(value) for name, value in given.items() if name in _KINDS[kind]}}


__all__ = ["BayesOptSearch"]
