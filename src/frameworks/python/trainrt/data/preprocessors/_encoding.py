"""What the encoders share: the categories of a column, each with its number."""

from .._numpy import numpy
from ._preprocessor import Columnwise

UNKNOWN = -1


class Encoding(Columnwise):
    """stats_: unique_values(COLUMN), {value: number}, in the order of the values. 1, 1.0 and True are one category, as in a dict."""

    learns = True

    def _use_stats(self):
        self._numbers = {name: {value: number for number, value in enumerate(self._stats[f"unique_values({name})"])} for name in self.columns}

    @property
    def stats_(self):
        self._require_fitted()
        return {f"unique_values({name})": dict(numbers) for name, numbers in self._numbers.items()}

    def codes(self, name, column):
        """The number of each value, as i64; UNKNOWN for one that was not there, and for NaN."""
        numbers = self._numbers[name]
        require_values(type(self).__name__, name, column)
        return numpy.fromiter((numbers.get(value, UNKNOWN) for value in column.tolist()), "i8", len(column))


def require_values(of, name, column):
    if column.ndim != 1 or (column.dtype == object and any(not isinstance(value, str) for value in column)):
        raise TypeError(f"{of}: column '{name}' holds arrays; it must hold a number or a text a sample")


def checked_limits(of, max_categories, columns):
    """{column: how many of the most frequent categories are kept}"""
    for name, most in (max_categories or {}).items():
        if name not in columns:
            raise ValueError(f"{of}: max_categories names '{name}', which is none of the columns")
        if isinstance(most, bool) or not isinstance(most, int) or most < 1:
            raise ValueError(f"{of}: max_categories must be whole numbers, from 1 on, not {most!r}")
    return dict(max_categories) if max_categories else None
