"""Calls the functions of sample_from() with the other values of the trial."""

from __future__ import annotations

import functools
import inspect
import random
from collections.abc import Callable
from typing import Any

from ._domains import Domain, Float, Function
from ._domains._config_view import NO_VALUE_YET, Unresolved, Values, spec_of
from ._nested_values import Path, domains_in, name_of, replaced


def function_in(domain: Domain) -> Callable[..., Any] | None:
    """Returns the function that computes a value of the domain for each trial, or `None` if a searcher chooses the value."""
    if isinstance(domain, Float) and domain.is_normal:
        return functools.partial(_drawn, domain.kind, *(domain.arguments() + [None])[:3])
    return domain.func if isinstance(domain, Function) else None


def _drawn(kind: str, mean: float, sd: float, q: float | None) -> float:
    """Draws a value from a normal distribution, and rounds it to a multiple of `q` unless `q` is `None`."""
    del kind  # "randn" or "qrandn", which are a part of the recorded name
    domain = Float(None, None).normal(mean, sd)
    return (domain if q is None else domain.quantized(q)).sample()


def with_functions(config: Any, functions: list[tuple[Path, Callable[..., Any]]], trial: int) -> Any:
    """Returns the config with the results of `functions`, [(path, function)], at their paths. A function may read the results of others. `random`
    and numpy.random are seeded with the number of the trial, so that a restart gets the same values. Raises ValueError if functions need each
    other's results."""
    if functions:
        seed(trial)
    for path, _ in functions:
        config = replaced(config, path, NO_VALUE_YET)
    waiting = functions
    while waiting:
        before, waiting = waiting, []
        for path, function in before:
            try:
                config = replaced(config, path, _checked(path, _called(function, config)))
            except Unresolved:
                waiting.append((path, function))
        if len(waiting) == len(before):
            raise ValueError(f"sample_from(): the functions of {', '.join(name_of(path) for path, _ in waiting)} need each other's results")
    return config


def _called(function: Callable[..., Any], config: Any) -> Any:
    return function(spec_of(config)) if inspect.signature(function).parameters else function()


def _checked(path: Path, value: Any) -> Any:
    if any(True for _ in domains_in(value)):
        raise ValueError(f"sample_from(): the function of {name_of(path)} returned a domain: it must return a value")
    return dict(value) if isinstance(value, Values) else value


def seed(number: int) -> None:
    """Seeds `random` and, if it is installed, numpy.random."""
    random.seed(number)
    try:
        import numpy
    except ImportError:
        return
    numpy.random.seed(number)
