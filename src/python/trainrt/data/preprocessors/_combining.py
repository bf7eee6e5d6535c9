"""NumPy implementations of the preprocessors that make one column of several, bit-identical to those of C++."""

import math

from .._values._numpy import numpy
from ._columnwise import hashed_feature
from ._parameters import ELEMENT_TYPES
from ._preprocessor import NoColumnError, taken
from ._runtime import RuntimePreprocessor
from ._values import numbers_of, require_range


class FeatureHasher(RuntimePreprocessor):
    def get_output_columns(self):
        return [self.output_column]

    def transform_columns(self, columns):
        width = self.parameters["num_features"]
        own = [numbers_of(self._kind, name, taken(self._kind, name, columns)) for name in self.columns]
        sums = numpy.zeros((len(own[0]), width))
        for name, values in zip(self.columns, own):
            sums[:, hashed_feature(name, width)] += values
        return {**columns, self.parameters["output_column"]: sums}


class Concatenator(RuntimePreprocessor):
    def _prepare(self):
        given = [self.parameters[key] for key in ("columns", "include") if self.parameters.get(key) is not None]
        if len(given) > 1:
            raise ValueError("Concatenator: columns and include are two names of one argument; only one may be given")
        self._excluded = list(self.parameters.get("exclude") or [])
        shown = self._shown = ", ".join(name or "''" for name in self._excluded)
        if "" in self._excluded:
            self._excluded.append("c0")  # the reader's name of a first CSV column without a name, such as the index of to_csv()
        self._chosen = [name for name in given[0] if name not in self._excluded] if given else None
        if self._chosen == []:
            raise ValueError(f"Concatenator: exclude names all columns: {shown}")

    def _own(self, columns):
        own = [name for name in columns if name not in self._excluded] if self._chosen is None else self._chosen
        if not own:
            raise ValueError(f"Concatenator: exclude names all columns of the data: {self._shown}")
        return own

    def get_output_columns(self):
        return [self.output_column_name]

    def __repr__(self):
        defaults = {"output_column_name": "concat_out", "columns": None, "dtype": None, "raise_if_missing": False, "flatten": False, "exclude": None}
        return f"Concatenator({', '.join(f'{name}={self._given[name]}' for name, value in defaults.items() if self._given[name] != value)})"

    def transform_columns(self, columns):
        missing = [each for each in self._chosen or () if each not in columns]
        if missing:
            raise NoColumnError(f"Missing columns specified in '{self._chosen}': {set(missing)}; the columns are: {', '.join(columns)}")
        own, name, dtype = self._own(columns), self.parameters["output_column_name"], self.parameters["dtype"]
        parts = [self._part(each, columns) for each in own]
        rest = {each: column for each, column in columns.items() if each not in (*own, name)}
        return {**rest, name: numpy.concatenate(parts, axis=1, dtype=dtype and ELEMENT_TYPES[dtype], casting="unsafe" if dtype else "same_kind")}

    def _part(self, name, columns):
        column = taken(self._kind, name, columns)
        if column.dtype == object:
            raise TypeError(f"Concatenator: column '{name}' contains texts or arrays of different lengths; it must contain numbers")
        if column.ndim > 1 and not self.parameters["flatten"]:
            raise ValueError(f"Concatenator: column '{name}' contains arrays of shape {column.shape[1:]}; flatten=True accepts arrays")
        if self.parameters["dtype"] is not None:
            require_range(name, column, self.parameters["dtype"])
        return column.reshape(len(column), math.prod(column.shape[1:]))
