"""Calls the functions of sample_from() with the other values of the trial."""

from __future__ import annotations

import functools
import inspect
import random
from collections.abc import Callable
from typing import Any

from ._domains import Domain, Float, Function
from ._nested_values import Path, as_domain, domains_in, name_of, replaced


class Unresolved(Exception):
    """Raised if a function reads the value of another function that was not called yet."""


_NO_VALUE_YET: Any = object()


class _Values(dict):
    """A config, or a dict in it. Values are read as values['a'] and values.a."""

    def __getitem__(self, key: Any) -> Any:
        return _seen(super().__getitem__(key))

    def get(self, key: Any, default: Any = None) -> Any:
        return self[key] if key in self else default

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"the config has no '{name}'; it has: {', '.join(map(str, self)) or 'no values'}") from None


class _Spec(_Values):
    """The argument of the functions: a config that is also its own attribute `config`. spec.config.a, spec.config['a'], spec['config']['a'] and,
    in newer scripts, config['a'] are the same."""

    @property
    def config(self) -> _Values:
        return _Values(self)

    def __missing__(self, key: Any) -> Any:
        if key == "config":
            return dict(self)
        raise KeyError(key)


def spec_of(config: dict[str, Any]) -> Any:
    """Returns the argument of a function of sample_from() for a config."""
    return _Spec(config)


def function_in(domain: Domain) -> Callable[..., Any] | None:
    """Returns the function that computes a value of the domain for each trial, or `None` if a searcher chooses the value."""
    if isinstance(domain, Float) and domain.is_normal:
        return functools.partial(_drawn, domain.kind, *(domain.arguments() + [None])[:3])
    return domain.func if isinstance(domain, Function) else None


def _drawn(kind: str, mean: float, sd: float, q: float | None) -> float:
    """Returns a value of the domain `kind`, "randn" or "qrandn"."""
    del kind  # a part of the recorded name
    domain = Float(None, None).normal(mean, sd)
    return (domain if q is None else domain.quantized(q)).sample()


def _seen(value: Any) -> Any:
    if _lacks_value(value):
        raise Unresolved
    return _Values(value) if type(value) is dict else value


def _lacks_value(value: Any) -> bool:
    return value is _NO_VALUE_YET or as_domain(value) is not None or (isinstance(value, (list, tuple)) and any(map(_lacks_value, value)))


def with_functions(config: Any, functions: list[tuple[Path, Callable[..., Any]]], trial: int) -> Any:
    """Returns the config with the results of `functions`, [(path, function)], at their paths. A function may read the results of others. `random`
    and numpy.random are seeded with the number of the trial, so that a restart gets the same values. Raises ValueError if functions need each
    other's results."""
    if functions:
        seed(trial)
    for path, _ in functions:
        config = replaced(config, path, _NO_VALUE_YET)
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
    return function(_Spec(config)) if inspect.signature(function).parameters else function()


def _checked(path: Path, value: Any) -> Any:
    if any(True for _ in domains_in(value)):
        raise ValueError(f"sample_from(): the function of {name_of(path)} returned a domain: it must return a value")
    return dict(value) if isinstance(value, _Values) else value


def seed(number: int) -> None:
    """Seeds `random` and, if it is installed, numpy.random."""
    random.seed(number)
    try:
        import numpy
    except ImportError:
        return
    numpy.random.seed(number)
