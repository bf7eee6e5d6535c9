"""Number and ratio(), which define how the metrics of the ranks are combined, and conversions of metrics for messages."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from .values import VALUE_TYPES, Value, encoded, fits_64_bits, kind_of, plain_value


class Number:
    """A metric with the reduction that combines the numbers of all ranks.

    A Number copies `value`; the program may change the array or tensor before the report.

    Parameters
    ----------
    value : bool, int, float, or a NumPy scalar or torch tensor of one element
        This rank's number.
    reduce : {"mean", "sum", "min", "max"}
        Reduction of the numbers of all ranks. The mean is weighted by `weight`.
    weight : int or float
        This rank's weight in a mean, such as its number of samples.

    Examples
    --------
    >>> import trainrt
    >>> correct = trainrt.Number(31, "sum")
    >>> correct.value, correct.reduce
    (31, 'sum')
    """

    def __init__(self, value: Any, reduce: str = "mean", weight: Any = 1) -> None:
        self.value = plain_value("the value of a Number", value)
        self.reduce = reduce
        self.weight = plain_value("the weight of a Number", weight)


def ratio(total: Any, count: Any) -> Number:
    """Returns a metric whose value is the sum of `total` over all ranks, divided by the sum of `count` over all ranks.

    Parameters
    ----------
    total, count : int or float
        This rank's sum, for example of losses, and the number of summed values.

    Examples
    --------
    >>> import trainrt
    >>> trainrt.ratio(total=12.0, count=48).value
    0.25
    """
    plain_total, plain_count = plain_value("the total of ratio()", total), plain_value("the count of ratio()", count)
    return Number(plain_total / plain_count if plain_count else 0.0, weight=plain_count)  # type: ignore[operator]


def metrics_for_message(metrics: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the metrics in a form that json can write; NaN becomes null. Raises TypeError for invalid names and values."""
    if not hasattr(metrics, "items"):
        raise TypeError(f"report() takes a dict of metrics, not {kind_of(metrics)}")
    for name in metrics:
        if not isinstance(name, str):
            raise TypeError(f"the name of a metric must be a str, not {name!r}")
    return {name: value if type(value) is float and value - value == 0 else _metric(name, value) for name, value in metrics.items()}


def _metric(name: str, value: Any) -> Any:
    if isinstance(value, Number):
        return {"value": encoded(_in_64_bits(name, value.value)), "reduce": value.reduce, "weight": encoded(value.weight)}
    plain = value if type(value) in VALUE_TYPES else plain_value(f"metric '{name}'", value)
    return None if isinstance(plain, float) and math.isnan(plain) else encoded(_in_64_bits(name, plain))


def _in_64_bits(name: str, value: Value) -> Value:
    """Returns `value`; an int of more than 64 bits is converted to a float. Raises OverflowError if the int is out of the range of floats."""
    if fits_64_bits(value):
        return value
    assert isinstance(value, int)
    try:
        return float(value)
    except OverflowError:
        raise OverflowError(f"metric '{name}' has {value.bit_length()} bits, which is beyond the range of a float; report it as a str") from None


def metadata_of(label: str, metadata: dict | None, directory_name: Any) -> dict:
    """Returns a copy of `metadata` with `directory_name` as the key 'checkpoint_dir_name'. Raises TypeError unless `metadata` is a dict for JSON or
    `None`; `label` names the metadata in the message."""
    if metadata is not None and not isinstance(metadata, dict):
        raise TypeError(f"{label} must be a dict, not {kind_of(metadata)}")
    name = {} if directory_name is None else {"checkpoint_dir_name": str(directory_name)}
    return {**(metadata or {}), **name}
