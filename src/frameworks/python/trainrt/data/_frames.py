"""pandas DataFrames as columns: what pandas holds and the runtime does not becomes its nearest form, which a note names."""

from ..train import _notes
from ._numpy import numpy

_MAX_EXACT = 2**53  # a float holds every whole number up to here


def columns_of_frame(frame, what, keeps_missing):
    """{name: array}. ValueError if two columns have one name. `what` names the frame in texts. keeps_missing: missing values stay as pandas has
    them."""
    names = [str(name) for name in frame.columns]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"{what} has {names.count(repeated[0])} columns named '{repeated[0]}' (names are compared as texts): give each its own name, "
                         f"or leave one out: df.loc[:, ~df.columns.duplicated()]")
    series = [frame.iloc[:, place] for place in range(len(names))]
    if keeps_missing:
        return {name: each.to_numpy() for name, each in zip(names, series)}
    return {name: _without_missing(each, f"'{name}' of {what}") for name, each in zip(names, series)}


def _without_missing(series, what):
    """The values, with NaN for a missing number, and an empty text for a missing text."""
    values = series.to_numpy()
    if values.dtype != object:
        return values
    is_missing = series.isna().to_numpy()
    count = int(is_missing.sum())
    if not count:
        return values
    there = values[~is_missing]
    if not len(there):
        _notes.say(f"{what} has no value: it is a column of NaN")
        return numpy.full(len(values), numpy.nan)
    if all(isinstance(each, str) for each in there):
        _notes.say(f"{what} has {count} missing texts: they are empty texts in the dataset")
        return numpy.where(is_missing, "", values)
    if not all(isinstance(each, (bool, int, float, numpy.bool_, numpy.number)) for each in there):
        return values
    if all(isinstance(each, (bool, numpy.bool_)) for each in there):
        _notes.say(f"{what} has {count} missing truth values: in the dataset they are NaN, True is 1.0 and False is 0.0")
    return _as_floats(values, is_missing, what)


def _as_floats(values, is_missing, what):
    for row in numpy.flatnonzero(~is_missing):
        if not isinstance(values[row], (float, numpy.floating)) and abs(int(values[row])) > _MAX_EXACT:
            raise ValueError(f"{what} has missing values and the whole number {values[row]} in row {row}: beside missing values numbers are floats, "
                             f"which are exact up to 2**53. Fill in the missing values, or make texts of the column: astype(str)")
    return numpy.where(is_missing, numpy.nan, values).astype("f8")
