"""Functions that make domains, from which the values of trials are drawn, by Ray Tune's names."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from ._domains import Categorical, Float, Function, Integer, plain_number

DEFAULT_METRIC = "_metric"  # name of a metric that a Tune function returns without a name
_NOT_GIVEN: Any = object()


def _checked(name: str, lower: Any, upper: Any) -> tuple[Any, Any]:
    """Returns (lower, upper) as Python numbers. Raises ValueError unless both are numbers and `lower` <= `upper`."""
    lower, upper = plain_number(lower), plain_number(upper)
    for which, number in (("lower", lower), ("upper", upper)):
        if isinstance(number, bool) or not isinstance(number, (int, float)) or not math.isfinite(number):
            raise ValueError(f"tune.{name}({which}={number!r}): it must be a number")
    if lower > upper:
        raise ValueError(f"tune.{name}({lower!r}, {upper!r}): lower must be below upper")
    if "log" in name and lower <= 0:
        raise ValueError(f"tune.{name}({lower!r}, {upper!r}): lower must be above 0")
    return lower, upper


def _integers(name: str, lower: Any, upper: Any) -> tuple[int, int]:
    lower, upper = _checked(name, lower, upper)
    for number in (lower, upper):
        if number != int(number):
            raise ValueError(f"tune.{name}({lower!r}, {upper!r}): {number!r} must be an integer")
    if lower == upper:
        raise ValueError(f"tune.{name}({lower!r}, {upper!r}): lower must be below upper")
    return int(lower), int(upper)


def _step(name: str, q: Any, lower: Any, upper: Any) -> Any:
    q = plain_number(q)
    if isinstance(q, bool) or not isinstance(q, (int, float)) or not 0 < q <= upper - lower:
        raise ValueError(f"tune.{name}(q={q!r}): it must be above 0, and at most upper - lower")
    return q


def _whole_step(name: str, q: Any, lower: int, upper: int) -> int:
    q = _step(name, q, lower, upper)
    if q != int(q):
        raise ValueError(f"tune.{name}(q={q!r}): it must be an integer")
    if -(-lower // int(q)) > upper // int(q):
        raise ValueError(f"tune.{name}({lower!r}, {upper!r}, q={q!r}): the domain has no multiple of q; use a smaller q, or other bounds")
    return int(q)


def _warn_of_base(name: str, base: Any) -> None:
    if base is not _NOT_GIVEN:
        warnings.warn(f"tune.{name}(base={base!r}) is deprecated and has no effect on the distribution; leave it out", DeprecationWarning, stacklevel=3)


def uniform(lower: float, upper: float) -> Float:
    """Returns the domain of real numbers from `lower` to `upper`, all equally likely.

    Examples
    --------
    >>> from trainrt import tune
    >>> tune.uniform(0, 0.5)
    tune.uniform(0, 0.5)
    """
    return Float(*_checked("uniform", lower, upper)).uniform()


def quniform(lower: float, upper: float, q: float) -> Float:
    """Returns the domain of the multiples of `q` from `lower` to `upper`. Raises ValueError if a bound is not a multiple.

    Examples
    --------
    >>> from trainrt import tune
    >>> tune.quniform(0, 1, 0.25)
    tune.quniform(0, 1, 0.25)
    """
    lower, upper = _checked("quniform", lower, upper)
    return Float(lower, upper).uniform().quantized(_step("quniform", q, lower, upper))


def loguniform(lower: float, upper: float, base: Any = _NOT_GIVEN) -> Float:
    """Returns the domain of real numbers from `lower` to `upper` with equally likely logarithms. `base` has no effect, and is deprecated.

    Examples
    --------
    >>> from trainrt import tune
    >>> tune.loguniform(1e-4, 1e-1)
    tune.loguniform(0.0001, 0.1)
    """
    _warn_of_base("loguniform", base)
    return Float(*_checked("loguniform", lower, upper)).loguniform()


def qloguniform(lower: float, upper: float, q: float, base: Any = _NOT_GIVEN) -> Float:
    """Returns the domain of the multiples of `q` from `lower` to `upper`, with equally likely logarithms before they are rounded.

    Examples
    --------
    >>> from trainrt import tune
    >>> tune.qloguniform(0.01, 1, 0.01)
    tune.qloguniform(0.01, 1, 0.01)
    """
    _warn_of_base("qloguniform", base)
    lower, upper = _checked("qloguniform", lower, upper)
    return Float(lower, upper).loguniform().quantized(_step("qloguniform", q, lower, upper))


def randint(lower: int, upper: int) -> Integer:
    """Returns the domain of the integers from `lower` to `upper` - 1.

    Examples
    --------
    >>> from trainrt import tune
    >>> tune.randint(1, 8)
    tune.randint(1, 8)
    """
    return Integer(*_integers("randint", lower, upper)).uniform()


def qrandint(lower: int, upper: int, q: int = 1) -> Integer:
    """Returns the domain of the multiples of `q` from `lower` to `upper`, all equally likely. With q=1, `upper` is not in the domain.

    Examples
    --------
    >>> from trainrt import tune
    >>> tune.qrandint(0, 10, 2)
    tune.qrandint(0, 10, 2)
    """
    lower, upper = _integers("qrandint", lower, upper)
    return Integer(lower, upper).uniform().quantized(_whole_step("qrandint", q, lower, upper))


def lograndint(lower: int, upper: int, base: Any = _NOT_GIVEN) -> Integer:
    """Returns the domain of the integers from `lower` to `upper` - 1 with equally likely logarithms. `base` has no effect, and is deprecated.

    Examples
    --------
    >>> from trainrt import tune
    >>> tune.lograndint(16, 1025)
    tune.lograndint(16, 1025)
    """
    _warn_of_base("lograndint", base)
    return Integer(*_integers("lograndint", lower, upper)).loguniform()


def qlograndint(lower: int, upper: int, q: int, base: Any = _NOT_GIVEN) -> Integer:
    """Returns the domain of the multiples of `q` from `lower` to `upper`, with equally likely logarithms. With q=1, `upper` is not in the domain.

    Examples
    --------
    >>> from trainrt import tune
    >>> tune.qlograndint(16, 1024, 16)
    tune.qlograndint(16, 1024, 16)
    """
    _warn_of_base("qlograndint", base)
    lower, upper = _integers("qlograndint", lower, upper)
    return Integer(lower, upper).loguniform().quantized(_whole_step("qlograndint", q, lower, upper))


def randn(mean: float = 0.0, sd: float = 1.0) -> Float:
    """Returns the domain of real numbers with a normal distribution. Searchers do not choose its values: they are drawn for each trial.

    Examples
    --------
    >>> from trainrt import tune
    >>> tune.randn(1, 0.5)
    tune.randn(1, 0.5)
    """
    return Float(None, None).normal(mean, sd)


def qrandn(mean: float, sd: float, q: float) -> Float:
    """Returns the domain of the multiples of `q` with a normal distribution, as randn().

    Examples
    --------
    >>> from trainrt import tune
    >>> tune.qrandn(1, 0.5, 0.1)
    tune.qrandn(1, 0.5, 0.1)
    """
    return Float(None, None).normal(mean, sd).quantized(q)


def choice(categories: Sequence[Any]) -> Categorical:
    """Returns the domain of these values, all equally likely. They may be of any type, and may contain domains.

    Examples
    --------
    >>> from trainrt import tune
    >>> tune.choice(["relu", "tanh"])
    tune.choice("relu", "tanh")
    """
    return Categorical(categories).uniform()


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
    return Function(func)
