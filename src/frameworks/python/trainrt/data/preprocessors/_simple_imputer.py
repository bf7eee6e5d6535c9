"""SimpleImputer: values in place of missing ones."""

from .._numpy import numpy
from ._preprocessor import Columnwise, as_real


class SimpleImputer(Columnwise):
    """Ray Data's: the mean, the most frequent value, or fill_value in place of NaN, and of empty texts.
    stats_: mean(COLUMN), or most_frequent(COLUMN); of values that are as frequent the least."""

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
        if isinstance(fill, str) != (column.dtype == object) or column.ndim != 1:
            raise TypeError(f"SimpleImputer: column '{name}' holds {'texts' if column.dtype == object else 'numbers'}, and the fill value is {fill!r}")
        if column.dtype == object:
            return numpy.array([text or fill for text in column], object)
        if column.dtype.kind != "f":
            return column
        values = column.astype("f8")
        return as_real(numpy.where(numpy.isnan(values), float(fill), values), column)
