"""Concatenator: several columns of numbers become one of vectors."""

import math

from .._numpy import numpy
from ._preprocessor import RuntimePreprocessor, names_of, taken

_TYPES = {"f64": "f8", "f32": "f4", "i64": "i8", "i32": "i4", "i16": "i2", "i8": "i1", "u8": "u1"}


class Concatenator(RuntimePreprocessor):
    """Ray Data's. columns: side by side in this order, in place of themselves; output_column_name: of the new column, the last one. dtype: of
    its numbers; None: the one that holds all of them (numpy.result_type). flatten: columns of vectors give all their numbers."""

    def __init__(self, columns, output_column_name="concat_out", dtype=None, raise_if_missing=False, flatten=False):
        del raise_if_missing  # a column that is not there is always an error
        super().__init__(columns=names_of("Concatenator", "columns", columns), output_column_name=output_column_name, dtype=_name_of(dtype),
                         flatten=flatten)

    def transform_columns(self, columns):
        own = self.parameters["columns"]
        parts = [self._part(name, columns) for name in own]
        rest = {name: column for name, column in columns.items() if name not in own}
        name, dtype = self.parameters["output_column_name"], self.parameters["dtype"]
        rest.pop(name, None)
        return {**rest, name: numpy.concatenate(parts, axis=1, dtype=dtype and _TYPES[dtype], casting="unsafe" if dtype else "same_kind")}

    def _part(self, name, columns):
        column = taken("Concatenator", name, columns)
        if column.dtype == object:
            raise TypeError(f"Concatenator: column '{name}' holds texts or arrays of several lengths; only numbers can be put side by side")
        if column.ndim > 1 and not self.parameters["flatten"]:
            raise ValueError(f"Concatenator: column '{name}' holds arrays of shape {column.shape[1:]}; flatten=True takes their numbers")
        if self.parameters["dtype"] is not None:
            _require_held(name, column, self.parameters["dtype"])
        return column.reshape(len(column), math.prod(column.shape[1:]))


def _require_held(name, column, dtype):
    """What a whole number cannot hold is an error, and not what the processor makes of it; fractions are cut off. As in C++ (concatenator.cpp)."""
    kind = numpy.dtype(_TYPES[dtype])
    if kind.kind not in "iu" or column.dtype.kind == "b" or not column.size:
        return
    least, end = int(numpy.iinfo(kind).min), int(numpy.iinfo(kind).max) + 1
    if column.min().item() >= least and column.max().item() < end:  # neither is so with a NaN among them
        return
    values = column.astype("f8" if column.dtype.kind == "f" else "i8")
    value = values[~((values >= least) & (values < end))][0].item()
    raise ValueError(f"Concatenator: column '{name}' holds {repr(value).removesuffix('.0')}, which is no {dtype}")


def _name_of(dtype):
    """As the runtime calls it: "f32" for numpy.float32 and "float32"."""
    if dtype is None or dtype in _TYPES:
        return dtype
    kind = numpy.dtype(dtype).str[1:]
    found = [name for name, known in _TYPES.items() if known == kind]
    if not found:
        raise ValueError(f"Concatenator(dtype={dtype!r}): it must be one of {', '.join(_TYPES)}")
    return found[0]
