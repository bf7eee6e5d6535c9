"""Categorizer: a categorical column."""

from ._encoding import Encoding


class Categorizer(Encoding):
    """Ray Data's: a DataFrame gets pandas' categorical type; datasets and {name: array} its codes, i64, -1 for a value that was not there."""

    def __init__(self, columns, dtypes=None, output_columns=None):
        if dtypes:
            raise ValueError("Categorizer(dtypes=...) is not offered: fit() finds the categories")
        super().__init__(columns, output_columns)

    def convert(self, name, column):
        return self.codes(name, column)

    def _finish_frame(self, frame, columns):
        import pandas
        for name, output in zip(self.columns, self.output_columns):
            codes = columns.get(output)
            if codes is not None and codes.ndim == 1 and codes.dtype == "i8":  # else another one of a Chain has changed it
                frame[output] = pandas.Categorical.from_codes(codes, list(self._numbers[name]))
