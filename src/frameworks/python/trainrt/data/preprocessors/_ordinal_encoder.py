"""OrdinalEncoder: the number of a category."""

from ._encoding import Encoding


class OrdinalEncoder(Encoding):
    """Ray Data's: numbers from 0 on, as i64; -1 for a value that was not there at fit() (Ray gives NaN)."""

    def __init__(self, columns, *, encode_lists=True, output_columns=None):
        super().__init__(columns, output_columns, encode_lists=encode_lists)

    def convert(self, name, column):
        return self.codes(name, column)
