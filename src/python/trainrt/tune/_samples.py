"""Replaces functions in hyperparam_mutations by domains with values that the functions have returned."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

from ._domains import Categorical, Domain, plain_number

_DRAWS = 64


class Sample(Domain):
    """Numbers that were drawn from a distribution. A clone draws one of them, or multiplies its value by a factor."""

    def __init__(self, numbers: Sequence[Any]) -> None:
        self.values = list(numbers)

    def text(self) -> str:
        return f"sample({', '.join(map(repr, self.values))})"

    def value(self, text: str) -> Any:
        number = float(text)
        return int(number) if all(isinstance(each, int) for each in self.values) else number

    def json(self) -> dict[str, Any]:
        return {"tune": "sample", "args": self.values}


def sampled(function: Callable[[], Any], number: int) -> Domain:
    """Returns the domain of a function without arguments, which is called 64 times. `random` and numpy.random are seeded with `number` for these calls, so
    that each start of a script draws the same values; their states are restored afterwards."""
    values = [plain_number(value) for value in _draws(function, number)]
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values):
        return Sample(sorted(set(values)))
    different: list[Any] = []
    for value in values:
        if value not in different:
            different.append(value)
    return Categorical(different)


def _draws(function: Callable[[], Any], number: int) -> list[Any]:
    state = random.getstate()
    random.seed(number)
    try:
        import numpy
    except ImportError:
        numpy = None
    numpy_state = numpy.random.get_state() if numpy else None
    if numpy:
        numpy.random.seed(number)
    try:
        return [function() for _ in range(_DRAWS)]
    finally:
        random.setstate(state)
        if numpy:
            numpy.random.set_state(numpy_state)
