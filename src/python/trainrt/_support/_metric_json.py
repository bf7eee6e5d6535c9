"""Metrics as JSON that strict parsers read: NaN is null, infinities are the strings 'Infinity' and '-Infinity'. A string with this content, also
after backslashes, is prefixed with one more backslash. src/core/text/json_number.hpp defines the same form."""

from __future__ import annotations

import math
import re
from typing import Any

_LIKE_INFINITY = re.compile(r"\\*-?Infinity")


def encoded(metrics: dict[str, Any]) -> dict[str, Any]:
    """Returns the metrics with values that JSON can represent: numbers, strings, bools and `None`."""
    return {name: _encoded(value) for name, value in metrics.items()}


def decoded(metrics: dict[str, Any]) -> dict[str, Any]:
    """Returns the original metrics for a result of encoded(). `None` becomes NaN."""
    return {name: number_or_text(value) for name, value in metrics.items()}


def _encoded(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return "\\" + value if isinstance(value, str) and _LIKE_INFINITY.fullmatch(value) else value


def number_or_text(value: Any) -> Any:
    """Returns the metric for one value of encoded(), NaN for `None`."""
    if value is None:
        return math.nan
    if isinstance(value, str) and _LIKE_INFINITY.fullmatch(value):
        return value[1:] if value.startswith("\\") else float(value)
    return value
