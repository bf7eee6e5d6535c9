"""Loggers of Ray Tune: the base class, and those that write files."""

from __future__ import annotations

import json
from typing import Any

from ..._ray_names import names_of
from ._base import LoggerCallback
from ._files import CSVLoggerCallback, JsonLoggerCallback, TBXLoggerCallback


def pretty_print(result: dict[str, Any], exclude: set[str] | None = None) -> str:
    """Returns a result as lines "name: value", without its config, values that are `None`, and the names in `exclude`.

    Examples
    --------
    >>> from trainrt.tune.logger import pretty_print
    >>> print(pretty_print({"loss": 0.5, "config": {"lr": 1}, "val": {"loss": 0.25}}), end="")
    loss: 0.5
    val:
      loss: 0.25
    """
    hidden = {"config", "hist_stats", *(exclude or ())}
    return "".join(_lines({name: value for name, value in result.items() if name not in hidden and value is not None}, ""))


def _lines(values: dict[str, Any], indent: str) -> list[str]:
    found = []
    for name in sorted(values, key=str):
        value = values[name]
        if isinstance(value, dict) and value:
            found += [f"{indent}{name}:\n", *_lines(value, indent + "  ")]
        else:
            found.append(f"{indent}{name}: {value if isinstance(value, str) else json.dumps(value, default=str)}\n")
    return found


__getattr__ = names_of(__name__)
__all__ = ["CSVLoggerCallback", "JsonLoggerCallback", "LoggerCallback", "TBXLoggerCallback", "pretty_print"]
