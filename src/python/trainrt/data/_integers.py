"""Checks integers that callers pass."""

from __future__ import annotations

import operator
from typing import Any


def checked_integer(argument: str, number: Any, min_value: int | None = None, max_value: int | None = None) -> int:
    """Returns `number` as an int. `argument` names it in messages. Raises TypeError if it is not an integer (a bool is not one), and ValueError
    if it is below `min_value` or above `max_value`."""
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
