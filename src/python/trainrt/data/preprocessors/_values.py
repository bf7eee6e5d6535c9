"""Checks and conversions of columns for the preprocessors."""

from .._values._numpy import numpy
from ._parameters import ELEMENT_TYPES


def require_range(name, column, dtype):
    """Raise ValueError if `dtype` is an integer type and a value of the column, before truncation, is out of the range of `dtype`, as in concatenator.cpp."""
    kind = numpy.dtype(ELEMENT_TYPES[dtype])
    if kind.kind not in "iu" or column.dtype.kind == "b" or not column.size:
        return
    least, end = int(numpy.iinfo(kind).min), int(numpy.iinfo(kind).max) + 1
    if column.min().item() >= least and column.max().item() < end:  # both are false for a column with NaN
        return
    values = column.astype("f8" if column.dtype.kind == "f" else "i8")
    value = values[~((values >= least) & (values < end))][0].item()
    raise ValueError(f"Concatenator: column '{name}' contains {repr(value).removesuffix('.0')}, which is out of the range of {dtype}")


def numbers_of(of, name, column):
    """Return the column as f64. Raise TypeError unless the column contains one number per sample."""
    if column.dtype == object:
        raise TypeError(f"{of}: column '{name}' contains texts or arrays of different lengths; it must contain numbers")
    if column.ndim != 1:
        raise TypeError(f"{of}: column '{name}' contains arrays of shape {column.shape[1:]}; it must contain one number per sample")
    return column.astype("f8")


def as_real(values, column):
    """Return f64 `values`, rounded to f32 if the input `column` is f32."""
    return values.astype("f4") if column.dtype == "f4" else values


def element(value):
    """Return a value in a form that can be a key of a dict: a list or an array becomes a tuple."""
    if isinstance(value, numpy.ndarray):
        value = value.tolist()
    return tuple(value) if isinstance(value, list) else value


def edges_of(bins):
    """Return the edges of a pandas.IntervalIndex as a list, and other bins unchanged."""
    return [bins[0].left, *(each.right for each in bins)] if hasattr(bins, "is_overlapping") else bins
