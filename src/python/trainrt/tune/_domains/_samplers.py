"""Samplers, which draw values from a domain. They need NumPy only when they draw."""

from __future__ import annotations

import copy
import math
from typing import Any


class _Generator:
    """A generator of NumPy, of the new or the old kind, by the method names of the new one."""

    def __init__(self, generator: Any) -> None:
        self._generator = generator

    def integers(self, low: int, high: int, size: int) -> Any:
        draw = self._generator.integers if hasattr(self._generator, "integers") else self._generator.randint
        return draw(low, high, size=size)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._generator, name)


def generator_of(state: Any) -> Any:
    """Returns the random generator for `state`, a seed or a generator of NumPy; numpy.random for `None`. Raises ImportError without NumPy."""
    if isinstance(state, _Generator):
        return state
    try:
        import numpy
    except ImportError:
        raise ImportError("Domain.sample() needs numpy (pip install numpy)") from None
    if state is None:
        return _Generator(numpy.random)
    is_generator = isinstance(state, (numpy.random.Generator, numpy.random.RandomState))
    return _Generator(state if is_generator else numpy.random.default_rng(state))


class Sampler:
    """Base class of the samplers.

    Examples
    --------
    >>> from trainrt.tune.search.sample import Float, Sampler
    >>> isinstance(Float(0, 1).get_sampler(), Sampler)
    True
    """

    def sample(self, domain: Any, config: Any = None, size: int = 1, random_state: Any = None) -> Any:
        """Draws `size` values from `domain`, as Domain.sample() does."""
        raise NotImplementedError(f"{type(self).__name__} does not define sample()")


class BaseSampler(Sampler):
    """Sampler of the domain Function. Calls the function of the domain.

    Examples
    --------
    >>> from trainrt.tune.search.sample import BaseSampler, Function
    >>> str(Function(lambda: 3).get_sampler())
    'Base'
    """

    def __str__(self) -> str:
        return "Base"

    def sample(self, domain: Any, config: Any = None, size: int = 1, random_state: Any = None) -> Any:
        values = [domain.called(config[index] if isinstance(config, list) else config) for index in range(size)]
        return values if size > 1 else domain.cast(values[0])


class Uniform(Sampler):
    """All values are equally likely.

    Examples
    --------
    >>> from trainrt.tune.search.sample import Float, Uniform
    >>> Float(0, 1).with_sampler(Uniform())
    tune.uniform(0, 1)
    """

    def __str__(self) -> str:
        return "Uniform"

    def sample(self, domain: Any, config: Any = None, size: int = 1, random_state: Any = None) -> Any:
        return _one_or_all(domain.drawn(generator_of(random_state), size), domain)


class LogUniform(Sampler):
    """The logarithms are equally likely.

    Examples
    --------
    >>> from trainrt.tune.search.sample import Float, LogUniform
    >>> Float(1, 100).with_sampler(LogUniform())
    tune.loguniform(1, 100)
    """

    def __str__(self) -> str:
        return "LogUniform"

    def sample(self, domain: Any, config: Any = None, size: int = 1, random_state: Any = None) -> Any:
        import numpy

        if not 0 < domain.lower <= domain.upper < math.inf:
            raise ValueError(f"LogUniform: the bounds {domain.domain_str} must be finite and above 0")
        values = numpy.exp(generator_of(random_state).uniform(numpy.log(domain.lower), numpy.log(domain.upper), size=size))
        return _one_or_all(numpy.floor(values).astype(int) if domain.is_whole else values, domain)


class Normal(Sampler):
    """The normal distribution.

    Examples
    --------
    >>> from trainrt.tune.search.sample import Float, Normal
    >>> Float(None, None).with_sampler(Normal(0, 2))
    tune.randn(0, 2)
    """

    def __init__(self, mean: float = 0.0, sd: float = 0.0) -> None:
        assert sd > 0, f"Normal(sd={sd!r}): it must be above 0"
        self.mean, self.sd = mean, sd

    def __str__(self) -> str:
        return "Normal"

    def sample(self, domain: Any, config: Any = None, size: int = 1, random_state: Any = None) -> Any:
        return _one_or_all(generator_of(random_state).normal(self.mean, self.sd, size=size), domain)


class Grid(Sampler):
    """Sampler of a grid: the trials use each value of the domain. It cannot draw values.

    Examples
    --------
    >>> from trainrt.tune.search.sample import Categorical, Grid
    >>> isinstance(Categorical([16, 32]).grid().sampler, Grid)
    True
    """

    def sample(self, domain: Any, config: Any = None, size: int = 1, random_state: Any = None) -> Any:
        return RuntimeError("a grid draws no values: each of its values is used")


class Quantized(Sampler):
    """Draws by another sampler, and rounds to multiples of `q`. The upper bound is included, except for integers with q=1.

    Examples
    --------
    >>> from trainrt.tune.search.sample import Float, Quantized, Uniform
    >>> Float(0, 1).with_sampler(Quantized(Uniform(), 0.5)).q
    0.5
    """

    def __init__(self, sampler: Sampler, q: float) -> None:
        assert sampler, "Quantized(): a sampler is missing"
        self.sampler, self.q = sampler, q

    def get_sampler(self) -> Sampler:
        """Returns the sampler that draws the values before they are rounded."""
        return self.sampler

    def sample(self, domain: Any, config: Any = None, size: int = 1, random_state: Any = None) -> Any:
        import numpy

        low, high = multiples(domain.lower, self.q, math.ceil), multiples(domain.upper, self.q, math.floor)
        inner = copy.copy(domain)
        if domain.is_whole:
            if high < low:
                raise ValueError(f"the domain has no multiple of q={self.q} from {domain.lower} to {domain.upper}; use a smaller q, or other bounds")
            inner.lower, inner.upper = int(low), int(high) + (self.q != 1)
            values = numpy.multiply(self.sampler.sample(inner, config, size, random_state), self.q)
        else:
            inner.lower, inner.upper = low * self.q, high * self.q
            values = numpy.round(numpy.divide(self.sampler.sample(inner, config, size, random_state), self.q)) * self.q
        return [domain.cast(value) for value in values] if isinstance(values, numpy.ndarray) else domain.cast(values)


def multiples(bound: float, q: float, rounded: Any) -> float:
    """Returns how many times `q` fits into the bound; a fraction is rounded by the function `rounded`. An infinite bound is returned unchanged."""
    if not math.isfinite(bound):
        return bound
    nearest = round(bound / q)
    return nearest if math.isclose(bound / q, nearest) else rounded(bound / q)


def _one_or_all(values: Any, domain: Any) -> Any:
    return values if len(values) > 1 else domain.cast(values[0])
