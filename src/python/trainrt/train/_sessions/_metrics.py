"""Metrics of a report: flattens nested dicts and checks the values."""

import math
import sys

from ..._client import Number
from ..._client.values import kind_of, plain_value

_PLAIN = frozenset((float, int, str, bool))  # types of metrics that need no conversion


def flat_metrics(metrics):
    """Returns {name: number, string, bool or Number}; {'val': {'loss': 1}} becomes {'val/loss': 1}. Raises TypeError or ValueError for a name
    or value that is not supported."""
    if not isinstance(metrics, dict):
        raise TypeError(f"report() takes a dict of metrics, not {kind_of(metrics)}")
    found = {}
    _flatten(metrics, "", found)
    return found


def has_reductions(metrics):
    """Returns whether a metric is a Number, so that the metrics of all ranks are reduced."""
    return any(isinstance(value, Number) for value in metrics.values())


def _flatten(metrics, prefix, found):
    for key, value in metrics.items():
        if not isinstance(key, str):
            raise TypeError(f"report(): {key!r} is not a valid name of a metric: it must be a str")
        name = prefix + key
        if isinstance(value, dict):
            _flatten(value, name + "/", found)
        else:
            if name in found:
                raise ValueError(f"report(): '{name}' is the name of two metrics, one of them in a nested dict; rename one")
            found[name] = value if type(value) in _PLAIN else _checked(name, value)


def _checked(name, value):
    _refuse_tensor(name, value)
    if isinstance(value, Number):
        return value
    if value is None:  # a missing number, which is recorded as null
        return math.nan
    try:
        return plain_value(f"metric '{name}'", value)
    except TypeError:
        raise TypeError(f"metric '{name}' is {kind_of(value)}; a metric is a number, bool, string, None, or a dict of these. Save other "
                        f"values in files of a checkpoint") from None


def _refuse_tensor(name, value):
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        raise ValueError(f"Passing objects containing Torch tensors as metrics is not supported: metric '{name}' is a tensor. Report a number: "
                         f"{name.rsplit('/', 1)[-1]}.item()")
