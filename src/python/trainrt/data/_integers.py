"""checked_integer(), which checks an integer argument."""

from __future__ import annotations

import operator
from typing import Any


def checked_integer(argument: str, number: Any, min_value: int | None = None, max_value: int | None = None) -> int:
    """Returns `number` as an int. Raises TypeError if `number` is a bool or not an integer, ValueError if `number` is below `min_value` or above
    `max_value`. Messages begin with `argument`."""
    try:
        found = None if isinstance(number, bool) else operator.index(number)
    except TypeError:
        found = None
    if found is None:
        raise TypeError(f"{argument}: {number!r} is not an integer")
    if (min_value is not None and found < min_value) or (max_value is not None and found > max_value):
        valid = f"from {min_value} to {max_value}" if max_value is not None else f"{min_value} or more"
        raise ValueError(f"{argument}: {found} is not {valid}")
    return found
