"""The object that trainrt passes to the function of a sample_from(): it contains the other values of the trial."""

from __future__ import annotations

from typing import Any

NO_VALUE_YET: Any = object()  # placeholder for a value that a function has not computed yet


class Unresolved(Exception):
    """Raised if a function reads the value of another function that was not called yet."""


class Values(dict):
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


class _Spec(Values):
    """The argument of the functions: a config that is also its own attribute `config`. spec.config.a, spec.config['a'], spec['config']['a'] and,
    in newer scripts, config['a'] are the same."""

    @property
    def config(self) -> Values:
        return Values(self)

    def __missing__(self, key: Any) -> Any:
        if key == "config":
            return dict(self)
        raise KeyError(key)


def spec_of(config: dict[str, Any]) -> Any:
    """Returns the argument of a function of sample_from() for a config."""
    return _Spec(config)


def _seen(value: Any) -> Any:
    if _lacks_value(value):
        raise Unresolved
    return Values(value) if type(value) is dict else value


def _lacks_value(value: Any) -> bool:
    return value is NO_VALUE_YET or is_domain(value) or (isinstance(value, (list, tuple)) and any(map(_lacks_value, value)))


def is_domain(value: Any) -> bool:
    """Returns whether the value is a domain or a grid, which has no value yet."""
    return getattr(type(value), "is_search_domain", False) is True or (isinstance(value, dict) and set(value) == {"grid_search"})
