"""Searchers, which choose the values of trials, by Ray Tune's names."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from ..._ray_names import names_of
from .._spaces import Domain, grid_search

_MODULES = {"bayesopt": "BayesOptSearch", "optuna": "OptunaSearch"}  # searchers that need a package, by their modules


class Searcher:
    """Base class of the searchers.

    Examples
    --------
    >>> from trainrt import tune
    >>> isinstance(tune.search.HaltonSearch(), tune.search.Searcher)
    True
    """

    metric: str | None = None
    mode: str | None = None

    def settings(self) -> dict[str, str]:
        """Returns the keys of [tune] that select this searcher."""
        return {}

    def with_own_space(self, param_space: Any) -> Any:
        """Returns the param_space with the domains that the searcher was given."""
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


class BasicVariantGenerator(Searcher):
    """Uses all values of grids, and draws the others at random, as without a search_alg.

    Parameters
    ----------
    max_concurrent : int
        Maximum number of trials at the same time; 0: no maximum.
    random_state : int, optional
        Seed of the random values.

    Examples
    --------
    >>> from trainrt.tune.search import BasicVariantGenerator
    >>> BasicVariantGenerator(random_state=7).settings()
    {'seed': '7'}
    """

    def __init__(self, points_to_evaluate: Any = None, max_concurrent: int = 0, constant_grid_search: bool = False,
                 random_state: int | None = None) -> None:
        if points_to_evaluate or constant_grid_search:
            raise ValueError("BasicVariantGenerator: points_to_evaluate and constant_grid_search are not supported")
        self._settings = {**seed_setting(random_state), **({"max_concurrent_trials": str(max_concurrent)} if max_concurrent else {})}

    def settings(self) -> dict[str, str]:
        return self._settings


class HaltonSearch(Searcher):
    """Draws values that fill the space more evenly than random ones. Ray Tune has no such searcher.

    Examples
    --------
    >>> from trainrt.tune.search import HaltonSearch
    >>> HaltonSearch(random_state=7).settings()
    {'searcher': 'halton', 'seed': '7'}
    """

    def __init__(self, random_state: int | None = None) -> None:
        self._settings = {"searcher": "halton", **seed_setting(random_state)}

    def settings(self) -> dict[str, str]:
        return self._settings


class ConcurrencyLimiter(Searcher):
    """Limits the number of trials that a searcher runs at the same time.

    Examples
    --------
    >>> from trainrt.tune.search import ConcurrencyLimiter, HaltonSearch
    >>> ConcurrencyLimiter(HaltonSearch(), max_concurrent=2).settings()
    {'searcher': 'halton', 'max_concurrent_trials': '2'}
    """

    def __init__(self, searcher: Searcher, max_concurrent: int, batch: bool = False) -> None:
        if not isinstance(searcher, Searcher):
            raise TypeError(f"ConcurrencyLimiter({searcher!r}): it must be a searcher of trainrt.tune.search")
        if batch:
            raise ValueError("ConcurrencyLimiter(batch=True) is not supported")
        self.searcher, self.metric, self.mode = searcher, searcher.metric, searcher.mode
        self._max_concurrent = max_concurrent

    def settings(self) -> dict[str, str]:
        return {**self.searcher.settings(), "max_concurrent_trials": str(self._max_concurrent)}

    def with_own_space(self, param_space: Any) -> Any:
        return self.searcher.with_own_space(param_space)

    def check_domains(self, domains: Mapping[str, Domain]) -> None:
        self.searcher.check_domains(domains)


def create_searcher(search_alg: str, **arguments: Any) -> Searcher:
    """Returns the searcher of that name: 'random', 'variant_generator', 'halton', 'optuna' or 'bayesopt'. Raises ValueError for other names.

    Examples
    --------
    >>> from trainrt import tune
    >>> tune.create_searcher("halton").settings()
    {'searcher': 'halton'}
    """
    known: dict[str, type[Any]] = {"random": BasicVariantGenerator, "variant_generator": BasicVariantGenerator, "halton": HaltonSearch}
    if search_alg in _MODULES:
        return getattr(importlib.import_module(f"{__name__}.{search_alg}"), _MODULES[search_alg])(**arguments)
    if search_alg not in known:
        raise ValueError(f"create_searcher({search_alg!r}): it must be one of {', '.join(sorted([*known, *_MODULES]))}")
    return known[search_alg](**arguments)


__getattr__ = names_of(__name__)
__all__ = ["BasicVariantGenerator", "ConcurrencyLimiter", "HaltonSearch", "Searcher", "create_searcher", "grid_search"]
