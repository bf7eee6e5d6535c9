"""SimpleImputer: values in place of missing ones."""

import math

from .._numpy import numpy
from ._preprocessor import Columnwise, as_real


class SimpleImputer(Columnwise):
    """Ray Data's: the mean, the most frequent value, or fill_value in place of NaN, and of empty texts. A batch that transform_batch() is given may have
    None in place of either. stats_: mean(COLUMN), or most_frequent(COLUMN); of values that are as frequent the least."""

    fills_missing = True

    def __init__(self, columns, strategy="mean", fill_value=None, *, output_columns=None):
        if strategy not in ("mean", "most_frequent", "constant"):
            raise ValueError(f"SimpleImputer(strategy={strategy!r}): it must be 'mean', 'most_frequent' or 'constant'")
        if (strategy == "constant") == (fill_value is None):
            raise ValueError("SimpleImputer: fill_value belongs to strategy='constant', which needs it")
        super().__init__(columns, output_columns, strategy=strategy, fill_value=fill_value)
        self.learns = strategy != "constant"

    def convert(self, name, column):
        fill = self._stats[f"{self.parameters['strategy']}({name})"] if self.learns else self.parameters["fill_value"]
        if fill is None:
            raise ValueError(f"SimpleImputer: column '{name}' has no fill value: all that fit() has seen were missing")
        column, fill = _of_one_kind(column, fill)
        if isinstance(fill, str) != (column.dtype == object) or column.ndim != 1:
            raise TypeError(f"SimpleImputer: column '{name}' holds {'texts' if column.dtype == object else 'numbers'}, and the fill value is {fill!r}")
        if column.dtype == object:
            return numpy.array([text or fill for text in column], object)
        if column.dtype.kind != "f":
            return column
        values = column.astype("f8")
        return as_real(numpy.where(numpy.isnan(values), float(fill), values), column)


def _of_one_kind(column, fill):
    """Both texts, or both numbers: a config has numbers as texts, and a column of missing values alone may be of either."""
    if isinstance(fill, str) and column.dtype != object:
        number = _number_in(fill)
        fill = fill if number is None else number
    if isinstance(fill, str) != (column.dtype == object) and len(column) and _are_missing(column):
        column = numpy.full(len(column), None, object) if isinstance(fill, str) else numpy.full(len(column), math.nan)
    return column, fill


def _are_missing(column):
    if column.dtype == object:
        return all(value is None for value in column)
    return column.ndim == 1 and column.dtype.kind == "f" and bool(numpy.isnan(column).all())


def _number_in(text):
    """As C++ reads it (parse_real): without spaces around it."""
    try:
        number = float(text) if text.strip() == text and "_" not in text else math.nan
    except ValueError:
        return None
    return None if math.isnan(number) else number
