"""OneHotEncoder: a vector with a 1 at the category's place."""

from .._numpy import numpy
from ._encoding import Encoding, checked_limits


class OneHotEncoder(Encoding):
    """Ray Data's: as many u8 as there are categories, all 0 for a value that was not there at fit(). max_categories: {column: most}."""

    def __init__(self, columns, *, max_categories=None, output_columns=None):
        super().__init__(columns, output_columns, max_categories=checked_limits("OneHotEncoder", max_categories, columns))

    def convert(self, name, column):
        codes = self.codes(name, column)
        return (codes[:, None] == numpy.arange(len(self._numbers[name]))).astype("u1")
