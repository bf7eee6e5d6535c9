"""Converts samples of Python, NumPy, pandas and torch into columns, {name: array}. The first axis of each array counts the samples. A column of
strings, or of arrays with different lengths, is an array of objects."""

import math

from ..._client.values import kind_of
from ._categories import Categorical
from ._numpy import numpy

_NARROWER = {"u2": "i4", "u4": "i8", "u8": "i8", "g": "f8"}  # {type that the runtime does not support: type to convert to}


def columns_of(batch, origin, did="returned", has_missing=False):
    """Returns {name: array} for `batch`, a dict of arrays or lists, or a DataFrame. Messages begin with `origin` and `did` ('returned' or 'was given').
    `has_missing`: whether missing values of a DataFrame are expected, so that no note reports them. Raises TypeError for a batch of another type,
    ValueError for columns of different lengths."""
    if hasattr(batch, "to_dict") and hasattr(batch, "columns"):
        from ._frames import columns_of_frame
        batch = columns_of_frame(batch, f"the DataFrame that {origin} {did}", has_missing)
    if not isinstance(batch, dict):
        raise TypeError(f"{origin} {did} {kind_of(batch)}; it must be a dict of arrays, {{'x': array, 'y': array}}, or a DataFrame")
    found = {name: column_of(batch[key], f"column '{name}' that {origin} {did}") for key, name in _names_of(batch, origin, did)}
    if len({len(column) for column in found.values()}) > 1:
        lengths = ", ".join(f"{name} has {len(column)}" for name, column in found.items())
        raise ValueError(f"{origin} {did} columns of several lengths: {lengths}; all columns must have the same length")
    return found


def _names_of(keys, origin, did):
    """Returns [(key, str(key))] of all keys. Raises ValueError if two keys are equal as strings."""
    names = [(key, str(key)) for key in keys]
    known: dict = {}
    for key, name in names:
        if name in known:
            raise ValueError(f"{origin} {did} the columns {known[name]!r} and {key!r}, whose names are equal as texts: rename one")
        known[name] = key
    return names


def column_of(values, origin):
    """Returns the values of a column as an array. `origin` names the column in messages.

    Numbers, bools, strings and arrays of numbers get types that the runtime supports. All other columns become arrays of objects, which only
    this process can use; require_storable() refuses them. Values may be missing (`None`, NaN, pandas.NA): missing numbers become NaN, all other
    missing values `None`. Raises OverflowError for an integer that does not fit 64 bits with a sign."""
    if isinstance(values, Categorical):
        return values
    if hasattr(values, "detach"):  # a torch tensor
        values = values.detach().cpu().numpy()
    if isinstance(values, numpy.ndarray) and values.ndim and values.dtype != object and values.dtype.kind in "fiub":
        return _supported(values, origin)
    items = [each.detach().cpu().numpy() if hasattr(each, "detach") else each for each in values]
    is_missing = [_is_missing(each) for each in items]
    present = [each for each, missing in zip(items, is_missing) if not missing]
    if any(is_missing) and (not present or all(isinstance(each, str) for each in present)):
        kept_nan = not any(isinstance(each, str) for each in items) and not any(each is None for each in items)
        return numpy.full(len(items), math.nan) if kept_nan else _objects(items, is_missing)
    if present and all(isinstance(each, str) for each in present):
        return _objects(items)
    if any(is_missing) and not all(isinstance(each, _NUMBERS) for each in present):
        return _objects(items, is_missing)
    if any(is_missing):
        return _supported(numpy.asarray([math.nan if missing else each for each, missing in zip(items, is_missing)], "f8"), origin)
    return _of_present(items, origin)


_NUMBERS = (bool, int, float, numpy.bool_, numpy.number)


def _of_present(items, origin):
    if any(isinstance(each, (str, bytes, dict)) for each in items):
        return _objects(items)
    try:
        is_ragged = len({numpy.shape(each) for each in items}) > 1
    except ValueError:  # a list of lists of several lengths
        return _objects(items)
    if is_ragged:
        return _ragged(items, origin)
    array = numpy.asarray(items)
    if array.dtype.kind not in "fiub" and len(items):
        return _objects(items)
    return _supported(array, origin)


def _is_missing(value):
    return value is None or (isinstance(value, (float, numpy.floating)) and value != value) or type(value).__name__ in ("NAType", "NaTType")


def _objects(items, is_missing=()):
    """Returns the items as an array of objects, with `None` for missing ones."""
    column = numpy.empty(len(items), object)
    for number, item in enumerate(items):
        column[number] = item
    for number, missing in enumerate(is_missing):
        if missing:
            column[number] = None
    return column


def _ragged(items, origin):
    arrays = [numpy.asarray(each) for each in items]
    if any(each.dtype.kind not in "fiub" and each.size for each in arrays):
        return _objects(items)
    filled = [each.dtype for each in arrays if each.size]
    dtype = numpy.result_type(*filled) if filled else numpy.dtype("f8")
    return _objects([_supported(each if each.size else each.astype(dtype), origin) for each in arrays])


def _supported(array, origin):
    """Returns the array, converted to a type that the runtime supports. Raises OverflowError for an unsigned integer that does not fit the new type."""
    narrower = _NARROWER.get(array.dtype.str[1:])
    if narrower is None:
        return array
    if array.size and array.dtype.kind == "u" and int(array.max()) > numpy.iinfo(narrower).max:
        raise OverflowError(f"{origin} has {int(array.max())}, which does not fit into 64 bits with a sign; convert the values to floats or strings")
    return array.astype(narrower)


class NotStorableError(TypeError, ValueError):
    """Raised if the runtime must read a column that only this process can use."""


def is_storable(column):
    """Returns whether the runtime can store the column: numbers, bools, strings, or lists of numbers without missing values."""
    return not _why_not_storable(column)


def require_storable(name, column):
    """Raises NotStorableError, which names the column and a value, unless the runtime can store it."""
    why = _why_not_storable(column)
    if why:
        raise NotStorableError(f"column '{name}' {why}")


def _why_not_storable(column):
    """Returns the reason why the runtime cannot store the column, or "" if it can."""
    if column.dtype.kind in "fiub":
        return ""
    if column.dtype != object:
        return f"has the type {column.dtype}; supported are numbers, bools, strings, and lists of numbers"
    texts = sum(isinstance(each, str) for each in column)
    if any(each is None for each in column):
        return "has a sample without a value (None): use NaN or an empty text"
    if texts not in (0, len(column)):
        other = next(each for each in column if not isinstance(each, str))
        return f"holds texts, and {other!r}; all samples must have one type (bytes are not supported)"
    if texts:
        return ""
    for each in column:
        if not isinstance(each, numpy.ndarray) or each.dtype.kind not in "fiub":
            return f"has samples that are {type(each).__name__}, such as {str(each)[:60]}; supported are numbers, bools, strings, and lists of numbers"
        if each.ndim != 1:
            shapes = [numpy.shape(other) for other in column]
            return (f"has arrays of several shapes, such as {shapes[0]} and {next((s for s in shapes if s != shapes[0]), shapes[0])}; only "
                    f"lists of numbers may vary in length")
    return ""


def require_one_shape(name, column):
    """Raises TypeError, which names the column, if its samples are arrays of several axes with different shapes."""
    if column.dtype == object and any(getattr(value, "ndim", 0) > 1 for value in column):
        raise TypeError(f"the column '{name}' has arrays of different shapes, which do not make one tensor: give images one size by "
                        f"read_images(size=(height, width)), or convert the column by map, map_batches or collate_fn")


def rows_of(batch):
    """Yields each sample of a batch as a dict {name: value}. Scalars are converted to Python numbers; times are pandas.Timestamp and pandas.Timedelta."""
    names = list(batch)
    for values in zip(*(batch[name] for name in names)):
        yield {name: _plain(value) if isinstance(value, numpy.generic) else value for name, value in zip(names, values)}


def _plain(value):
    if not isinstance(value, (numpy.datetime64, numpy.timedelta64)):
        return value.item()
    try:
        import pandas
    except ImportError:
        return value
    return (pandas.Timestamp if isinstance(value, numpy.datetime64) else pandas.Timedelta)(value)


def stacked(rows, origin, did="returned"):
    """Returns the columns of `rows`, a non-empty list of dicts. For `origin` and `did` see columns_of(). Raises TypeError if a row is not a dict,
    ValueError if two rows have different keys."""
    first = rows[0]
    for row in rows:
        if not isinstance(row, dict):
            raise TypeError(f"{origin} {did} {kind_of(row)}; it must be a dict, {{'x': 1.0, 'y': 2}}")
        if row.keys() != first.keys():
            raise ValueError(f"{origin} {did} rows with different keys: {', '.join(map(str, first))}; and {', '.join(map(str, row))}. All rows must have the "
                             f"same keys")
    return {name: column_of([row[key] for row in rows], f"column '{name}' that {origin} {did}") for key, name in _names_of(first, origin, did)}


def concatenated(batches):
    """Returns one batch with the samples of all batches, in new arrays. `batches` must not be empty."""
    found = {}
    for name in batches[0]:
        parts = [batch[name] for batch in batches]
        if isinstance(parts[0], Categorical):
            found[name] = Categorical.joined(parts)
            continue
        if all(part.dtype != object for part in parts):
            found[name] = numpy.concatenate(parts)
            continue
        found[name] = numpy.empty(sum(map(len, parts)), object)
        for number, value in enumerate(value for part in parts for value in part):
            found[name][number] = value.copy() if isinstance(value, numpy.ndarray) else value
    return found
