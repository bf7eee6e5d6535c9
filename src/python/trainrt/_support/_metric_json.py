"""Metrics as JSON objects that strict parsers read: NaN is null, and the infinities are the texts "Infinity" and "-Infinity". A text of that
content, also after backslashes, gets one more backslash in front. src/core/text/json_number.hpp does the same."""

import math
import re

_LIKE_INFINITY = re.compile(r"\\*-?Infinity")


def encoded(metrics):
    """{name: number, text, bool or None} as JSON holds it."""
    return {name: _encoded(value) for name, value in metrics.items()}


def decoded(metrics):
    """What encoded() was given; None becomes NaN."""
    return {name: number_or_text(value) for name, value in metrics.items()}


def _encoded(value):
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return "\\" + value if isinstance(value, str) and _LIKE_INFINITY.fullmatch(value) else value


def number_or_text(value):
    """One value of an object that encoded() made."""
    if value is None:
        return math.nan
    if isinstance(value, str) and _LIKE_INFINITY.fullmatch(value):
        return value[1:] if value.startswith("\\") else float(value)
    return value
