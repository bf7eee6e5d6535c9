"""Columnwise, the base class of preprocessors that transform each column independently, and helpers of several preprocessors."""

import functools
import hashlib
import math

from .._values._numpy import numpy
from ._preprocessor import taken
from ._runtime import RuntimePreprocessor
from ._values import numbers_of

UNKNOWN = -1


class Columnwise(RuntimePreprocessor):
    """Base class of preprocessors that transform each column independently."""

    @property
    def output_columns(self):
        return self.parameters["output_columns"]

    def transform_columns(self, columns):
        own = {name: self._taken(name, columns) for name in self.columns}
        made = {output: self.convert(name, own[name]) for name, output in zip(self.columns, self.output_columns)}
        return {**columns, **made}

    def _taken(self, name, columns):
        return taken(self._kind, name, columns)

    def convert(self, name, column):
        """Return the transformed values of `column`, the column of this name."""
        raise NotImplementedError

    def numbers_of(self, name, column):
        """Return the column as f64. Raise TypeError unless the column contains one number per sample."""
        return numbers_of(self._kind, name, column)

    def words_of(self, name, column):
        """Yield, for each string of the column, the list of its words as tokenization_fn() returns it, or `None` for a missing string."""
        for text in column.tolist():
            if not isinstance(text, str) and text is not None:
                raise TypeError(f"{self._kind}: column '{name}' contains numbers; it must contain texts")
            yield None if text is None else self.tokenization_fn(text)


def with_nan(numbers):
    """Return the numbers of categories unchanged or, if one of them is UNKNOWN, as f64 with NaN in place of UNKNOWN."""
    return numpy.where(numbers == UNKNOWN, math.nan, numbers) if (numbers == UNKNOWN).any() else numbers


@functools.lru_cache(1 << 16)
def hashed_feature(text, features):
    """Return Ray's hash of a word: the SHA-256 as a number, modulo `features`."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest(), "big") % features
