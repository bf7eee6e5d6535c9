"""Domains of a search space: Categorical chooses from a list of values; Function calls a function that returns the value."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..._support._value_json import encoded
from ._base import Domain, plain_number
from ._config_view import spec_of
from ._samplers import BaseSampler, Grid, Uniform

_PLAIN = re.compile(r"[\w.,:+*/\[\] -]{1,40}(?<! )")


class Categorical(Domain):
    """A list of values of any type. `kind` is 'choice', or 'grid', which uses each value. `texts` are different names of the values; default: from
    their repr().

    Examples
    --------
    >>> from trainrt.tune.search.sample import Categorical
    >>> Categorical([16, 32]).grid()
    tune.grid("16", "32")
    """

    is_whole = False

    def __init__(self, categories: Sequence[Any], kind: str = "choice", texts: list[str] | None = None) -> None:
        self.categories = list(categories)
        if not self.categories:
            raise ValueError(f"tune.{'grid_search' if kind == 'grid' else kind}([]): the list must not be empty")
        if kind == "grid":
            self.sampler = Grid()
        self.texts = texts or _texts_of(self.categories)

    @property
    def values(self) -> list[Any]:
        """The list of the values; the same list as `categories`."""
        return self.categories

    @property
    def kind(self) -> str:
        return "grid" if self.is_grid() else "choice"

    def uniform(self) -> Any:
        """Returns the domain in which all values are equally likely."""
        return self.with_sampler(Uniform())

    def grid(self) -> Any:
        """Returns the grid of the values: trials use each value, and not a random one."""
        return self.with_sampler(Grid())

    def __len__(self) -> int:
        return len(self.categories)

    def __getitem__(self, index: int) -> Any:
        return self.categories[index]

    def is_valid(self, value: Any) -> bool:
        return value in self.categories

    @property
    def domain_str(self) -> str:
        return f"{self.categories}"

    def drawn(self, generator: Any, size: int) -> list[Any]:
        """Returns a list of values."""
        return [self.categories[index] for index in generator.choice(range(len(self.categories)), size=size)]

    def text(self) -> str:
        return f"{self.kind}({', '.join(map(_quoted, self.texts))})"

    def value(self, text: str) -> Any:
        return self.categories[self.texts.index(text)]

    def json(self, instead: Mapping[int, Any] | None = None) -> dict[str, Any]:
        """Returns the domain as JSON, as Domain.json() does. `instead`, {index: value}, replaces the values at
        these indices; the ParamSpace records them separately, because they contain domains."""
        replaced = instead or {}
        values = [replaced[index] if index in replaced else value for index, value in enumerate(self.categories)]
        return {"tune": self.kind, "values": encoded(values), "texts": self.texts}


class Function(Domain):
    """A function that computes a value from the other values of a trial. The searcher does not choose this value.

    Raises
    ------
    ValueError
        `func` is not callable with 0 or 1 arguments.

    Examples
    --------
    >>> from trainrt.tune.search.sample import Function
    >>> Function(lambda config: 2 * config["x"]).sample({"x": 3})
    6
    """

    default_sampler_cls = BaseSampler

    def __init__(self, func: Callable[..., Any]) -> None:
        if not callable(func):
            raise ValueError(f"tune.sample_from({func!r}): it must be a function")
        self.pass_config = _accepts(func, {})
        if not self.pass_config and not _accepts(func):
            raise ValueError(f"tune.sample_from({func!r}): the function must have at most one parameter, which gets the config")
        self.func = func

    def is_function(self) -> bool:
        return True

    def is_valid(self, value: Any) -> bool:
        return True

    @property
    def domain_str(self) -> str:
        return f"{self.func}()"

    def called(self, config: Any) -> Any:
        """Returns the value for a config. A function that reads `spec.config` gets such an object."""
        return self.func(spec_of(config or {})) if self.pass_config else self.func()

    def __repr__(self) -> str:
        return f"tune.sample_from({getattr(self.func, '__qualname__', type(self.func).__name__)})"


def _accepts(function: Callable[..., Any], *arguments: Any) -> bool:
    """Returns whether the function can be called with the arguments; True if it has no signature."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # a function written in C
        return not arguments
    try:
        signature.bind(*arguments)
    except TypeError:
        return False
    return True


def _texts_of(values: list[Any]) -> list[str]:
    """Returns a short text for each value, for the table of trials; all are different."""
    texts = [value if isinstance(value, str) else repr(plain_number(value)) for value in values]
    plain = [text if _PLAIN.fullmatch(text) else f"value{number}" for number, text in enumerate(texts)]
    return plain if len(set(plain)) == len(plain) else [f"value{number}" for number in range(len(values))]


def _quoted(text: str) -> str:
    return f'"{text}"'
