"""Statistics of columns that only this process can use, such as strings with missing values and lists of strings. The runtime computes all others."""

from collections import Counter
from fractions import Fraction

from .._values._numpy import numpy


def values_of(column):
    """Yields the values of a column as Python objects, lists as tuples, and `None` for missing ones."""
    for value in column.tolist() if column.dtype != object else column:
        if isinstance(value, (list, tuple, numpy.ndarray)):
            yield tuple(value.tolist() if isinstance(value, numpy.ndarray) else value)
        else:
            yield None if value != value else value


def categories_learned(column, explodes, skips_missing, limit=None):
    """Returns the sorted categories of a column. `explodes`: whether each element of a list is a category, or the complete list. `limit`: number of most
    frequent categories to keep; of equally frequent ones, the first. Raises ValueError for a missing value unless `skips_missing`."""
    counts: Counter = Counter()
    for value in values_of(column):
        if value is None and not skips_missing:
            raise ValueError("Unable to fit column because it contains null values. Consider imputing missing values first, with SimpleImputer")
        if value is not None:
            counts.update(value if explodes and isinstance(value, tuple) else [value])
    return sorted(sorted(counts, key=lambda value: (-counts[value], value))[:limit])


def most_frequent(column):
    """Returns the most frequent value of a column, the first in sorted order of several, or `None` if all values are missing."""
    counts = Counter(value for value in values_of(column) if value is not None)
    return min(counts, key=lambda value: (-counts[value], value), default=None)


def exact_mean(numbers):
    """Returns the mean of the f64 numbers that are not NaN, rounded once as the runtime does, or `None` if all are NaN."""
    present = numbers[~numpy.isnan(numbers)]
    return float(sum(map(Fraction, present.tolist())) / len(present)) if len(present) else None


def tokens_counted(column, words_of, limit=None):
    """Returns [[word, count]] of the texts of a column, the most frequent first, at most `limit`. `words_of(text)` returns the words of a text."""
    counts = Counter(word for text in column if text is not None for word in words_of(text))
    return [[word, counts[word]] for word in sorted(counts, key=lambda word: (-counts[word], word))[:limit]]


def is_of_lists(column):
    """Returns whether the samples of a column are lists or arrays."""
    return column.ndim > 1 or (column.dtype == object and any(isinstance(each, (list, tuple, numpy.ndarray)) for each in column))
