"""Concatenator: several columns of numbers become one of vectors."""

import math

from .._numpy import numpy
from ._preprocessor import Preprocessor


class Concatenator(Preprocessor):
    """Ray Data's. columns: side by side in this order, in place of themselves; output_column_name: of the new column, the last one. dtype: of
    its numbers; None: the one that holds all of them (numpy.result_type). flatten: columns of vectors give all their numbers."""

    def __init__(self, columns, output_column_name="concat_out", dtype=None, raise_if_missing=False, flatten=False):
        if isinstance(columns, str) or not columns:
            raise ValueError(f"Concatenator(columns={columns!r}): it must be a list of names of columns")
        del raise_if_missing  # a column that is not there is always an error
        self.columns, self.output_column_name, self.dtype, self.flatten = list(columns), output_column_name, dtype, flatten

    def transform_columns(self, columns):
        parts = [self._part(name, columns) for name in self.columns]
        rest = {name: column for name, column in columns.items() if name not in self.columns}
        return {**rest, self.output_column_name: numpy.concatenate(parts, axis=1, dtype=self.dtype)}

    def _part(self, name, columns):
        if name not in columns:
            raise ValueError(f"Concatenator: there is no column '{name}'; there are: {', '.join(columns)}")
        column = numpy.asarray(columns[name])
        if column.dtype == object:
            raise TypeError(f"Concatenator: column '{name}' holds texts or arrays of several lengths; only numbers can be put side by side")
        if column.ndim > 1 and not self.flatten:
            raise ValueError(f"Concatenator: column '{name}' holds arrays of shape {column.shape[1:]}; flatten=True takes their numbers")
        return column.reshape(len(column), math.prod(column.shape[1:]))

    def __repr__(self):
        return f"Concatenator(columns={self.columns!r}, output_column_name={self.output_column_name!r}, dtype={self.dtype!r}, flatten={self.flatten!r})"
