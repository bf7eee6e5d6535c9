"""Float and Integer: domains of numbers."""

from __future__ import annotations

import math
from typing import Any

from ._base import Domain, plain_number
from ._samplers import LogUniform, Normal, Quantized, Sampler, Uniform


class _Interval(Domain):
    """Numbers from `lower` to `upper`."""

    lower: Any
    upper: Any
    is_whole = False
    _uniform, _loguniform = "uniform", "loguniform"  # names of the functions of trainrt.tune

    def uniform(self) -> Any:
        """Returns the domain in which all values are equally likely. Raises ValueError without finite bounds."""
        for which, bound in (("lower", self.lower), ("upper", self.upper)):
            if not -math.inf < bound < math.inf:
                raise ValueError(f"{type(self).__name__}({self.lower!r}, {self.upper!r}).uniform(): {which} must be a finite number")
        return self.with_sampler(Uniform())

    def loguniform(self) -> Any:
        """Returns the domain with equally likely logarithms. Raises ValueError unless the bounds are finite and above 0."""
        for which, bound in (("lower", self.lower), ("upper", self.upper)):
            if not 0 < bound < math.inf:
                raise ValueError(f"{type(self).__name__}({self.lower!r}, {self.upper!r}).loguniform(): {which} must be a finite number above 0, and not "
                                 f"its logarithm")
        return self.with_sampler(LogUniform())

    def quantized(self, q: Any) -> Any:
        """Returns the domain of the multiples of `q`."""
        return self.with_sampler(Quantized(self.get_sampler(), plain_number(q)), allow_override=True)

    def is_valid(self, value: Any) -> bool:
        return self.lower <= value <= self.upper

    @property
    def domain_str(self) -> str:
        return f"({self.lower}, {self.upper})"

    @property
    def q(self) -> Any:
        """The step between values, or `None`."""
        return self.sampler.q if isinstance(self.sampler, Quantized) else None

    @property
    def distribution(self) -> Sampler:
        """The sampler, without its rounding."""
        sampler = self.get_sampler()
        return sampler.sampler if isinstance(sampler, Quantized) else sampler

    @property
    def kind(self) -> str:
        """Name of the function of trainrt.tune that makes this domain."""
        return ("q" if self.q is not None else "") + (self._loguniform if isinstance(self.distribution, LogUniform) else self._uniform)

    def arguments(self) -> list[Any]:
        """Returns the arguments of the function of trainrt.tune that makes this domain."""
        return [self.lower, self.upper, *([] if self.q is None else [self.q])]

    def text(self) -> str:
        if self.lower == self.upper:
            return _number(self.lower)
        return f"{self.kind}({', '.join(map(_number, self.arguments()))})"

    def json(self) -> dict[str, Any]:
        return {"tune": self.kind, "args": self.arguments()}


class Float(_Interval):
    """Real numbers from `lower` to `upper`; `None` is infinite.

    Examples
    --------
    >>> from trainrt.tune.search.sample import Float
    >>> Float(0, 1).quantized(0.25)
    tune.quniform(0, 1, 0.25)
    """

    def __init__(self, lower: float | None, upper: float | None) -> None:
        self.lower = -math.inf if lower is None else plain_number(lower)
        self.upper = math.inf if upper is None else plain_number(upper)

    def cast(self, value: Any) -> float:
        return float(value)

    def normal(self, mean: float = 0.0, sd: float = 1.0) -> Any:
        """Returns the domain with a normal distribution."""
        return self.with_sampler(Normal(mean, sd))

    def quantized(self, q: float) -> Any:
        """Returns the domain of the multiples of `q`. Raises ValueError if a bound is not a multiple."""
        for which, bound in (("lower", self.lower), ("upper", self.upper)):
            if math.isfinite(bound) and not math.isclose(bound / q, round(bound / q)):
                raise ValueError(f"Float({self.lower!r}, {self.upper!r}).quantized({q!r}): {which} must be a multiple of q")
        return super().quantized(q)

    def drawn(self, generator: Any, size: int) -> Any:
        """Returns an array of values."""
        return generator.uniform(self.lower, self.upper, size=size)

    @property
    def is_normal(self) -> bool:
        """Whether values are drawn from a normal distribution. Searchers do not choose the values of such a domain."""
        return isinstance(self.distribution, Normal)

    @property
    def kind(self) -> str:
        return ("qrandn" if self.q is not None else "randn") if self.is_normal else super().kind

    def arguments(self) -> list[Any]:
        sampler: Any = self.distribution
        return [sampler.mean, sampler.sd, *([] if self.q is None else [self.q])] if self.is_normal else super().arguments()

    def value(self, text: str) -> float:
        return float(text)


class Integer(_Interval):
    """Integers from `lower` to `upper` - 1. With a step `q` other than 1, `upper` is included.

    Examples
    --------
    >>> from trainrt.tune.search.sample import Integer
    >>> Integer(1, 8).loguniform()
    tune.lograndint(1, 8)
    """

    is_whole = True
    _uniform, _loguniform = "randint", "lograndint"

    def __init__(self, lower: int, upper: int) -> None:
        self.lower, self.upper = plain_number(lower), plain_number(upper)

    def cast(self, value: Any) -> int:
        return int(value)

    def drawn(self, generator: Any, size: int) -> Any:
        """Returns an array of values."""
        return generator.integers(self.lower, self.upper, size=size)

    def value(self, text: str) -> int:
        return int(text)


def _number(value: Any) -> str:
    return repr(float(value)) if isinstance(value, float) else str(value)
