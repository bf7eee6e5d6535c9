"""Domains that the values of trials are drawn from, by Ray Tune's names."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from .._support._value_json import encoded

_PLAIN = re.compile(r"[\w.,:+*/\[\] -]{1,40}(?<! )")


class Domain:
    """Base class of the domains."""

    is_search_domain = True  # read by modules that must not import this one

    def text(self) -> str:
        """Returns the domain as the text of a key of [tune.space]."""
        raise NotImplementedError

    def value(self, text: str) -> Any:
        """Returns the value that `text`, from the record of a trial, represents."""
        raise NotImplementedError

    def json(self) -> dict[str, Any]:
        """Returns the domain as JSON, which from_json() reads. Raises TypeError if JSON cannot represent its values."""
        raise TypeError(f"{type(self).__name__} cannot be represented as JSON")

    def __repr__(self) -> str:
        """Returns the text of the domain, which is the same in every process."""
        return f"tune.{self.text()}"


def plain_number(value: Any) -> Any:
    """Returns a NumPy scalar as a Python number; returns other values unchanged."""
    return value.item() if type(value).__module__ == "numpy" and getattr(value, "ndim", None) == 0 else value


def _checked(name: str, lower: Any, upper: Any, above: float = -math.inf) -> tuple[Any, Any]:
    """Returns (lower, upper) as Python numbers. Raises ValueError unless `above` < lower < upper."""
    lower, upper = plain_number(lower), plain_number(upper)
    for which, number in (("lower", lower), ("upper", upper)):
        if isinstance(number, bool) or not isinstance(number, (int, float)) or not math.isfinite(number):
            raise ValueError(f"tune.{name}({which}={number!r}): it must be a number")
    if lower >= upper:
        raise ValueError(f"tune.{name}({lower!r}, {upper!r}): lower must be below upper")
    if lower <= above:
        raise ValueError(f"tune.{name}({lower!r}, {upper!r}): lower must be above {above:g}")
    return lower, upper


def _number(value: Any) -> str:
    return repr(float(value)) if isinstance(value, float) else str(value)


class Float(Domain):
    """Real numbers from `lower` to `upper`; multiples of `q` if it is given."""

    def __init__(self, kind: str, lower: float, upper: float, q: float | None = None) -> None:
        lower, upper = _checked(kind, lower, upper, 0 if kind == "loguniform" else -math.inf)
        q = plain_number(q)
        if q is not None and not 0 < q <= upper - lower:
            raise ValueError(f"tune.{kind}(q={q!r}): it must be above 0, and at most upper - lower")
        self.kind, self.lower, self.upper, self.q = kind, lower, upper, q

    def text(self) -> str:
        step = "" if self.q is None else f", {_number(self.q)}"
        return f"{self.kind}({_number(self.lower)}, {_number(self.upper)}{step})"

    def value(self, text: str) -> float:
        return float(text)

    def json(self) -> dict[str, Any]:
        return {"tune": self.kind, "args": [self.lower, self.upper, *([] if self.q is None else [self.q])]}


class Integer(Domain):
    """Integers from `lower` to `upper` - 1."""

    def __init__(self, kind: str, lower: int, upper: int) -> None:
        lower, upper = _checked(kind, lower, upper, 0 if kind == "lograndint" else -math.inf)
        for number in (lower, upper):
            if number != int(number):
                raise ValueError(f"tune.{kind}({lower!r}, {upper!r}): {number!r} must be an integer")
        self.kind, self.lower, self.upper = kind, int(lower), int(upper)

    def text(self) -> str:
        return f"{self.kind}({self.lower}, {self.upper})"

    def value(self, text: str) -> int:
        return int(text)

    def json(self) -> dict[str, Any]:
        return {"tune": self.kind, "args": [self.lower, self.upper]}


class Categorical(Domain):
    """A list of values of any type. `kind` is 'choice', or 'grid', which uses each value. `texts` are different names of the values; default: from
    their repr()."""

    def __init__(self, values: Sequence[Any], kind: str = "choice", texts: list[str] | None = None) -> None:
        self.values, self.kind = list(values), kind
        if not self.values:
            raise ValueError(f"tune.{'grid_search' if kind == 'grid' else kind}([]): the list must not be empty")
        self.texts = texts or _texts_of(self.values)

    def text(self) -> str:
        return f"{self.kind}({', '.join(map(_quoted, self.texts))})"

    def value(self, text: str) -> Any:
        return self.values[self.texts.index(text)]

    def json(self, instead: Mapping[int, Any] | None = None) -> dict[str, Any]:
        """Returns the domain as JSON, as Domain.json() does. `instead`, {index: value}, replaces values that are recorded separately."""
        replaced = instead or {}
        values = [replaced[index] if index in replaced else value for index, value in enumerate(self.values)]
        return {"tune": self.kind, "values": encoded(values), "texts": self.texts}


class Function(Domain):
    """A function that computes a value from the other values of a trial. The searcher does not choose this value."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __repr__(self) -> str:
        return f"tune.sample_from({getattr(self.function, '__qualname__', type(self.function).__name__)})"


def _texts_of(values: list[Any]) -> list[str]:
    """Returns a short text for each value, for the table of trials; all are different."""
    texts = [value if isinstance(value, str) else repr(plain_number(value)) for value in values]
    plain = [text if _PLAIN.fullmatch(text) else f"value{number}" for number, text in enumerate(texts)]
    return plain if len(set(plain)) == len(plain) else [f"value{number}" for number in range(len(values))]


def _quoted(text: str) -> str:
    return f'"{text}"'


def uniform(lower: float, upper: float) -> Float:
    """Returns the domain of real numbers from `lower` to `upper`, all equally likely.

    Examples
    --------
    >>> from trainrt import tune
    >>> tune.uniform(0, 0.5)
    tune.uniform(0, 0.5)
    """
    return Float("uniform", lower, upper)


def quniform(lower: float, upper: float, q: float) -> Float:
    """Returns the domain of the multiples of `q` from `lower` to `upper`.

    Examples
    --------
    >>> from trainrt import tune
    >>> tune.quniform(0, 1, 0.25)
    tune.quniform(0, 1, 0.25)
    """
    return Float("quniform", lower, upper, q)


def loguniform(lower: float, upper: float, base: float = 10) -> Float:
    """Returns the domain of real numbers from `lower` to `upper` with equally likely logarithms. `base` has no effect on the distribution.

    Examples
    --------
    >>> from trainrt import tune
    >>> tune.loguniform(1e-4, 1e-1)
    tune.loguniform(0.0001, 0.1)
    """
    del base
    return Float("loguniform", lower, upper)


def randint(lower: int, upper: int) -> Integer:
    """Returns the domain of the integers from `lower` to `upper` - 1.

    Examples
    --------
    >>> from trainrt import tune
    >>> tune.randint(1, 8)
    tune.randint(1, 8)
    """
    return Integer("randint", lower, upper)


def lograndint(lower: int, upper: int, base: float = 10) -> Integer:
    """Returns the domain of the integers from `lower` to `upper` - 1 with equally likely logarithms. `base` has no effect.

    Examples
    --------
    >>> from trainrt import tune
    >>> tune.lograndint(16, 1025)
    tune.lograndint(16, 1025)
    """
    del base
    return Integer("lograndint", lower, upper)


def choice(categories: Sequence[Any]) -> Categorical:
    """Returns the domain of these values, all equally likely. They may be of any type, and may contain domains.

    Examples
    --------
    >>> from trainrt import tune
    >>> tune.choice(["relu", "tanh"])
    tune.choice("relu", "tanh")
    """
    return Categorical(categories)


def grid_search(values: Sequence[Any]) -> dict[str, list[Any]]:
    """Returns the grid of these values, as the dict that Ray Tune uses. Each value is combined with each value of other grids.

    Examples
    --------
    >>> from trainrt import tune
    >>> tune.grid_search([16, 32])
    {'grid_search': [16, 32]}
    """
    return {"grid_search": list(values)}


def sample_from(func: Callable[..., Any]) -> Function:
    """Returns the domain of the value `func(spec)`, where spec.config has the other values of the trial, or `func()`.

    Examples
    --------
    >>> from trainrt import tune
    >>> def width(spec):
    ...     return 2 * spec.config.units
    >>> tune.sample_from(width)
    tune.sample_from(width)
    """
    if not callable(func):
        raise ValueError(f"tune.sample_from({func!r}): it must be a function")
    return Function(func)


def _unsupported(name: str, instead: str) -> Callable[..., NoReturn]:
    def refuse(*_given: Any, **_named: Any) -> NoReturn:
        raise ValueError(f"tune.{name}() is not supported: use {instead}")
    refuse.__name__ = name
    refuse.__doc__ = f"Not supported: always raises ValueError. Use {instead}."
    return refuse


randn = _unsupported("randn", "tune.uniform(low, high), or tune.sample_from(function)")
qrandn = _unsupported("qrandn", "tune.quniform(low, high, q), or tune.sample_from(function)")
qloguniform = _unsupported("qloguniform", "tune.loguniform(low, high), rounded in the train function")
qrandint = _unsupported("qrandint", "tune.quniform(low, high, q)")
qlograndint = _unsupported("qlograndint", "tune.lograndint(low, high), rounded in the train function")
