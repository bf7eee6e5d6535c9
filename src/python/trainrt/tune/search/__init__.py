"""Searchers, which choose the values of trials, by Ray Tune's names."""

from __future__ import annotations

from typing import Any

from ..._ray_names import names_of
from .._spaces import grid_search
from ..utils._by_name import made_by_name
from ._base import Searcher
from ._basic import BasicVariantGenerator, HaltonSearch
from ._variants import format_vars, generate_variants
from ._wrappers import ConcurrencyLimiter, Repeater

_SEARCHERS: dict[str, Any] = {"variant_generator": BasicVariantGenerator, "random": BasicVariantGenerator, "halton": HaltonSearch}
_MODULES = {"ax": "AxSearch", "hyperopt": "HyperOptSearch", "bayesopt": "BayesOptSearch", "bohb": "TuneBOHB", "nevergrad": "NevergradSearch",
            "optuna": "OptunaSearch", "zoopt": "ZOOptSearch", "hebo": "HEBOSearch"}  # searchers that need a package, by their modules


def create_searcher(search_alg: str, **kwargs: Any) -> Any:
    """Returns the searcher of that name, such as 'random', 'halton', 'optuna', 'hyperopt' or 'bayesopt', in upper or lower case. Arguments that the searcher
    does not have are ignored. Raises ValueError for other names.

    Examples
    --------
    >>> from trainrt import tune
    >>> tune.create_searcher("halton").settings()
    {'searcher': 'halton'}
    """
    return made_by_name("create_searcher", search_alg, _SEARCHERS, __name__, _MODULES, kwargs)


__getattr__ = names_of(__name__)
__all__ = ["BasicVariantGenerator", "ConcurrencyLimiter", "HaltonSearch", "Repeater", "Searcher", "create_searcher", "format_vars", "generate_variants",
           "grid_search"]
