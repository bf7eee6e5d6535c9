"""Domain: the base class of the domains."""

from __future__ import annotations

import copy
from typing import Any

from ._samplers import Grid, Sampler, Uniform, generator_of


class Domain:
    """Base class of the domains. A sampler draws the values of a domain; without a sampler, all values are equally likely.

    Examples
    --------
    >>> from trainrt import tune
    >>> from trainrt.tune.search.sample import Domain
    >>> isinstance(tune.uniform(0, 1), Domain)
    True
    """

    is_search_domain = True  # read by modules that must not import this one
    sampler: Sampler | None = None
    default_sampler_cls: type[Sampler] = Uniform

    def cast(self, value: Any) -> Any:
        """Returns the value as the type of the domain."""
        return value

    def set_sampler(self, sampler: Sampler, allow_override: bool = False) -> None:
        """Sets the sampler. Raises ValueError if the domain has one, unless `allow_override` is true."""
        if self.sampler is not None and not allow_override:
            raise ValueError(f"{type(self).__name__} has the sampler {self.sampler} and cannot also have {sampler}: a domain has one sampler")
        self.sampler = sampler

    def get_sampler(self) -> Sampler:
        """Returns the sampler, or a new default one."""
        return self.sampler or self.default_sampler_cls()

    def sample(self, config: Any = None, size: int = 1, random_state: Any = None) -> Any:
        """Draws values.

        Parameters
        ----------
        config : dict or list of dict, optional
            The other values of the trial, for a function; a list has one dict per value.
        size : int
            Number of values. 1 returns the value, other numbers a list or an array.
        random_state : int, numpy.random.Generator or numpy.random.RandomState, optional
            Seed or generator; default: numpy.random.
        """
        return self.get_sampler().sample(self, config=config, size=size, random_state=generator_of(random_state))

    def with_sampler(self, sampler: Sampler, allow_override: bool = False) -> Any:
        """Returns a copy of the domain with the sampler. Raises ValueError as set_sampler()."""
        made = copy.copy(self)
        made.set_sampler(sampler, allow_override)
        return made

    def is_grid(self) -> bool:
        """Returns whether the domain is a grid: the trials use each of its values."""
        return isinstance(self.sampler, Grid)

    def is_function(self) -> bool:
        """Returns whether a function computes the value."""
        return False

    def is_valid(self, value: Any) -> bool:
        """Returns whether the domain contains the value."""
        raise NotImplementedError

    @property
    def domain_str(self) -> str:
        """The bounds or values as text."""
        return "(unknown)"

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
