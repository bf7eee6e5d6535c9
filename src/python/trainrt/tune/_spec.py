"""What the functions of sample_from() are given, and their values."""

import inspect
import random

from ._nested_values import domains_in, name_of, replaced


class _Unresolved(Exception):
    """A function asked for the value of another one that has none yet."""


_NO_VALUE_YET = object()


class _Values(dict):
    """A config, or a dict in it: values["a"] and values.a."""

    def __getitem__(self, key):
        return _seen(super().__getitem__(key))

    def get(self, key, default=None):
        return self[key] if key in self else default

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"the config has no '{name}'; it has: {', '.join(map(str, self)) or 'nothing'}") from None


class _Spec(_Values):
    """The config, which is its own `config`, too: spec.config.a, spec.config["a"], spec["config"]["a"], and config["a"] of newer scripts."""

    @property
    def config(self):
        return _Values(self)

    def __missing__(self, key):
        if key == "config":
            return dict(self)
        raise KeyError(key)


def _seen(value):
    if _lacks_value(value):
        raise _Unresolved
    return _Values(value) if type(value) is dict else value


def _lacks_value(value):
    return value is _NO_VALUE_YET or (isinstance(value, (list, tuple)) and any(map(_lacks_value, value)))


def with_functions(config, functions, trial):
    """The config with the values of `functions`, [(path, function)], at their paths. A function may use the values of others. What they draw by
    `random` and numpy.random is the same at each start of the trial."""
    if functions:
        _seed(trial)
    for path, _ in functions:
        config = replaced(config, path, _NO_VALUE_YET)
    waiting = functions
    while waiting:
        before, waiting = waiting, []
        for path, function in before:
            try:
                config = replaced(config, path, _checked(path, _called(function, config)))
            except _Unresolved:
                waiting.append((path, function))
        if len(waiting) == len(before):
            raise ValueError(f"sample_from(): the functions of {', '.join(name_of(path) for path, _ in waiting)} need each other's values")
    return config


def _called(function, config):
    return function(_Spec(config)) if inspect.signature(function).parameters else function()


def _checked(path, value):
    if any(True for _ in domains_in(value)):
        raise ValueError(f"sample_from(): the function of {name_of(path)} returned a domain: it must return a value")
    return dict(value) if isinstance(value, _Values) else value


def _seed(trial):
    random.seed(trial)
    try:
        import numpy
    except ImportError:
        return
    numpy.random.seed(trial)
