"""Checks small values of a State or a report (bool, int, float or str), and converts them for messages."""

from __future__ import annotations

import math
from typing import Any, Union

VALUE_TYPES = (bool, int, float, str)
INT_LIMIT = 2**63  # the runtime's integers are from -INT_LIMIT to INT_LIMIT - 1
Value = Union[bool, int, float, str]


def plain_value(label: str, value: Any) -> Value:
    """Returns `value` as a bool, int, float or str. A NumPy scalar or torch tensor of one element becomes a Python number. Raises TypeError
    for other types; `label` names the value in the message."""
    if not isinstance(value, VALUE_TYPES) and hasattr(value, "item"):
        try:
            value = value.item()
        except (TypeError, ValueError, RuntimeError) as error:
            raise TypeError(f"{label} must be one number: {error}") from None
    for kind in VALUE_TYPES:  # converts instances of subclasses, such as numpy.float64 or IntEnum
        if isinstance(value, kind):
            return kind(value)
    raise TypeError(f"{label} is {kind_of(value)}; it must be a bool, int, float or str")


def kind_of(value: Any) -> str:
    """Returns the name of the type of `value` with its article, for messages: "an int", "a list"; "None" for None."""
    name = type(value).__name__
    return "None" if value is None else f"{'an' if name[0] in 'aeioAEIO' else 'a'} {name}"


def fits_64_bits(value: Any) -> bool:
    """Returns whether the runtime can store `value`; False for an int of more than 64 bits."""
    return not isinstance(value, int) or -INT_LIMIT <= value < INT_LIMIT


def encoded(value: Any) -> Any:
    """Returns the value for JSON. NaN and infinity, which JSON does not support, become dicts such as {'float': 'nan'}."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"}
    return value


def decoded(value: Any) -> Any:
    """Returns the original value for `value`, a result of encoded()."""
    return float(value["float"]) if isinstance(value, dict) else value
