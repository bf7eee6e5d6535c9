"""MultiHotEncoder: how often each category is in a list."""

from .._numpy import numpy
from ._encoding import Encoding, checked_limits


class MultiHotEncoder(Encoding):
    """Ray Data's, of lists of numbers: counts, as i64; those that were not there at fit() are left out. max_categories: {column: most}."""

    def __init__(self, columns, *, max_categories=None, output_columns=None):
        super().__init__(columns, output_columns, max_categories=checked_limits("MultiHotEncoder", max_categories, columns))

    def convert(self, name, column):
        numbers = self._numbers[name]
        counts = numpy.zeros((len(column), len(numbers)), "i8")
        for row, values in zip(counts, column):
            if isinstance(values, str):
                raise TypeError(f"MultiHotEncoder: column '{name}' holds texts; it must hold lists of numbers")
            for value in numpy.ravel(values).tolist():
                if value in numbers:
                    row[numbers[value]] += 1
        return counts
