"""Converts the resources of a trainable, in any form that Ray Tune accepts, into a ScalingConfig."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any

from ...train import ScalingConfig
from ...train._config._resources import PlacementGroupFactory
from .._domains import Categorical, Domain, Float, Integer
from .._nested_values import domains_in, replaced

_MAX_CONFIGS = 256


def scaling_of(resources: Any, param_space: Any = None) -> ScalingConfig:
    """Returns the ScalingConfig of a trial.

    Parameters
    ----------
    resources : dict, PlacementGroupFactory, ScalingConfig or function
        A function of the config of a trial returns one of the others. All trials of a sweep have the same resources: the maximum for all configs.
    param_space : dict, optional
        The configs that a function gets: all values of grids and choices, and the bounds of numbers.

    Raises
    ------
    ValueError
        `resources` has another type, or a fraction of a GPU.
    """
    if isinstance(resources, ScalingConfig):
        return resources
    if callable(resources) and not isinstance(resources, PlacementGroupFactory):
        return _maximum([scaling_of(found) for found in map(resources, _configs(param_space)) if found is not None])
    if isinstance(resources, PlacementGroupFactory):
        resources = resources.required_resources
    if not isinstance(resources, dict):
        raise ValueError(f"tune.with_resources(resources={resources!r}): it must be a dict such as {{'cpu': 2, 'gpu': 1}}, a PlacementGroupFactory, a "
                         f"ScalingConfig, or a function of a config that returns one of these")
    given = {name.upper() if name.upper() in ("CPU", "GPU") else name: amount for name, amount in resources.items()}
    if given.get("GPU", 0) != int(given.get("GPU", 0)):
        raise ValueError(f"tune.with_resources(gpu={given['GPU']}): it must be an integer")
    return ScalingConfig(num_workers=1, use_gpu=bool(given.get("GPU")), resources_per_worker={name: amount for name, amount in given.items() if amount})


def requested_by(trainable: Any, param_space: Any) -> ScalingConfig | None:
    """Returns the ScalingConfig that a function or a Trainable class requests by with_resources() or default_resource_request(), or `None` if it requests
    no resources."""
    inner = trainable
    while inner is not None:
        given = getattr(inner, "_resources", None)
        if given is not None:
            return scaling_of(given, param_space)
        if not isinstance(inner, functools.partial):
            break
        inner = inner.func
    request: Callable[..., Any] | None = getattr(inner, "default_resource_request", None)
    if request is None or all(found is None for found in map(request, _configs(param_space))):
        return None
    return scaling_of(request, param_space)


def _maximum(requests: list[ScalingConfig]) -> ScalingConfig:
    if not requests:
        return ScalingConfig()
    if len({each.num_workers for each in requests}) > 1:
        raise ValueError("the resources of a trial depend on its config, and the number of workers differs between configs: request the same number for all "
                         "configs")
    names = {name for each in requests for name in each.resources_per_worker or {}}
    resources = {name: max((each.resources_per_worker or {}).get(name, 0) for each in requests) for name in sorted(names)}
    return ScalingConfig(num_workers=requests[0].num_workers, use_gpu=any(each.use_gpu for each in requests), resources_per_worker=resources or None)


def _configs(param_space: Any) -> Iterator[Any]:
    """Yields configs with all combinations of the values of grids and choices, and the bounds of numbers; at most 256."""
    found = list(domains_in(param_space or {}))
    for values in itertools.islice(itertools.product(*(_values(domain) for _, domain in found)), _MAX_CONFIGS):
        config = param_space or {}
        for (path, _), value in zip(found, values):
            config = replaced(config, path, value)
        yield config


def _values(domain: Domain) -> list[Any]:
    if isinstance(domain, Categorical):
        return domain.values
    if isinstance(domain, (Float, Integer)) and not (isinstance(domain, Float) and domain.is_normal):
        return [domain.upper - 1 if isinstance(domain, Integer) and domain.q in (None, 1) else domain.upper, domain.lower]
    return [None]
