"""Converts pandas DataFrames into columns. Values of unsupported types are converted to the nearest supported type, and a note reports the conversion."""

from ..._support import _notes
from ._categories import Categorical
from ._numpy import numpy

_MAX_EXACT = 2**53  # a float can represent all integers up to 2**53


def columns_of_frame(frame, origin, keeps_missing):
    """Returns {name: array} of a DataFrame. `origin` names the DataFrame in messages. If `keeps_missing` is True, missing values are not converted.
    If False, missing numbers become NaN and missing strings `None`. A categorical column becomes a Categorical. Raises
    ValueError if two columns have the same name, or an integer in a column with missing values would be rounded."""
    names = [str(name) for name in frame.columns]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"{origin} has {names.count(repeated[0])} columns named '{repeated[0]}' (names are compared as texts): rename them, or "
                         f"remove some: df.loc[:, ~df.columns.duplicated()]")
    series = [frame.iloc[:, number] for number in range(len(names))]
    return {name: _column_of(each, f"column '{name}' of {origin}", keeps_missing) for name, each in zip(names, series)}


def _column_of(series, origin, keeps_missing):
    if str(series.dtype) == "category":
        return Categorical.of_series(series)
    return _array_of(series) if keeps_missing else _without_missing(series, origin)


def _array_of(series):
    """Returns the values of a Series. With missing values, pandas 2.2 and later would round integers of its type Int64 to floats; as objects they
    stay exact."""
    is_type_of_numpy = isinstance(series.dtype, numpy.dtype)
    return series.to_numpy() if is_type_of_numpy or not series.hasnans else series.to_numpy(dtype=object)


def _without_missing(series, origin):
    values = _array_of(series)
    if values.dtype != object:
        return values
    is_missing = series.isna().to_numpy()
    count = int(is_missing.sum())
    if not count:
        return values
    present = values[~is_missing]
    if not len(present):
        _notes.say(f"{origin} has no value: it becomes a column of NaN")
        return numpy.full(len(values), numpy.nan)
    if all(isinstance(each, str) for each in present):
        return numpy.where(is_missing, None, values)
    if not all(isinstance(each, (bool, int, float, numpy.bool_, numpy.number)) for each in present):
        return values
    if all(isinstance(each, (bool, numpy.bool_)) for each in present):
        _notes.say(f"{origin} has {count} missing bools: they become NaN, True becomes 1.0 and False 0.0")
    return _as_floats(values, is_missing, origin)


def _as_floats(values, is_missing, origin):
    for row in numpy.flatnonzero(~is_missing):
        if not isinstance(values[row], (float, numpy.floating)) and abs(int(values[row])) > _MAX_EXACT:
            raise ValueError(f"{origin} has missing values and the integer {values[row]} in row {row}: with missing values, numbers become floats, "
                             f"which are exact up to 2**53. Fill in the missing values, or convert the column to text: astype(str)")
    return numpy.where(is_missing, numpy.nan, values).astype("f8")
