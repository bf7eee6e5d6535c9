"""The metrics of a report: nested dicts become flat names, and what is no number and no text is refused by name."""

import math
import sys

from ..._client import Number
from ..._client.values import plain_value

_PLAIN = frozenset((float, int, str, bool))  # what most metrics are, and passes as it is


def _refuse_tensor(name, value):
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        raise ValueError(f"metric '{name}' is a torch tensor: report a number, {name.rsplit('/', 1)[-1]}.item()")


def _flat(metrics, prefix, found):
    for key, value in metrics.items():
        if not isinstance(key, str):
            raise TypeError(f"report(): the name of a metric must be a str, not {key!r}")
        name = prefix + key
        if isinstance(value, dict):
            _flat(value, name + "/", found)
        else:
            if name in found:
                raise ValueError(f"report(): two metrics are named '{name}', one of them in a dict of its own")
            found[name] = value if type(value) in _PLAIN else _checked(name, value)


def _checked(name, value):
    _refuse_tensor(name, value)
    if isinstance(value, Number):
        return value
    if value is None:  # kept as null, as a number that is not there
        return math.nan
    try:
        return plain_value(f"metric '{name}'", value)
    except TypeError:
        raise TypeError(f"metric '{name}' is a {type(value).__name__}; a metric is a number, a truth value, a text, None, or a dict of "
                        f"such: keep other things in files of a checkpoint") from None


def flat_metrics(metrics):
    """{name: number, text or Number}; {"val": {"loss": 1}} becomes {"val/loss": 1}."""
    if not isinstance(metrics, dict):
        raise TypeError(f"report() takes a dict of metrics, not a {type(metrics).__name__}")
    found = {}
    _flat(metrics, "", found)
    return found


def has_numbers_to_reduce(metrics):
    return any(isinstance(value, Number) for value in metrics.values())
