"""Search spaces of Optuna."""

from __future__ import annotations

import functools
from typing import Any

from ..._domains import Categorical, Domain, Float, Integer, LogUniform, Uniform
from ..._nested_values import domains_in
from ...utils._dicts import flatten_dict


def is_search_space(space: dict[str, Any]) -> bool:
    """Returns whether the dict has domains of trainrt.tune, instead of distributions of Optuna."""
    return any(True for _ in domains_in(space))


def distributions_of(spec: dict[str, Any]) -> dict[str, Any]:
    """Returns Optuna's distributions for the domains of a param_space, as {name: distribution}. Raises ValueError for a grid, and for other
    domains that Optuna does not have."""
    found = list(domains_in(spec))
    if any(domain.is_grid() for _, domain in found):
        raise ValueError("OptunaSearch: the param_space has a grid_search, which Optuna does not support; use tune.choice()")
    if found:
        flatten_dict(spec, prevent_delimiter=True)
    return {"/".join(map(str, path)): _distribution(domain) for path, domain in found}


def _distribution(domain: Domain) -> Any:
    import optuna

    kinds = optuna.distributions
    if isinstance(domain, Categorical):
        return kinds.CategoricalDistribution(domain.categories)
    sampler, q = getattr(domain, "distribution", None), getattr(domain, "q", None)
    is_log = isinstance(sampler, LogUniform)
    if isinstance(domain, Float) and (is_log or isinstance(sampler, Uniform)):
        return kinds.FloatDistribution(domain.lower, domain.upper, log=is_log, step=None if is_log else q)
    if isinstance(domain, Integer):
        return kinds.IntDistribution(domain.lower, domain.upper - (1 if q in (None, 1) or is_log else 0), step=1 if is_log else q or 1, log=is_log)
    raise ValueError(f"OptunaSearch does not support parameters of type `{type(domain).__name__}` with samplers of type `{type(sampler).__name__}`")


class Captor:
    """An optuna.Trial that records the values of its `suggest_` methods."""

    def __init__(self, trial: Any) -> None:
        self._trial = trial
        self.captured_values: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._trial, name)
        return functools.partial(self._captured, found) if name.startswith("suggest_") else found

    def _captured(self, suggest: Any, *given: Any, **named: Any) -> Any:
        name = given[0] if given else named.get("name")
        if name is None:
            raise ValueError("a method suggest_*() of an optuna.Trial needs the argument name")
        self.captured_values[name] = value = suggest(*given, **named)
        return value
