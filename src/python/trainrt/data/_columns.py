"""Converts samples of Python, NumPy, pandas and torch into columns, {name: array}. The first axis of each array counts the samples. A column of
strings, or of arrays with different lengths, is an array of objects."""

import math

from ._numpy import numpy

_NARROWER = {"u2": "i4", "u4": "i8", "u8": "i8", "g": "f8"}  # {type that the runtime does not support: type to convert to}


def columns_of(batch, origin, did="returned", has_missing=False):
    """Returns {name: array} for `batch`, a dict of arrays or lists, or a DataFrame. Messages begin with `origin` and `did` ('returned' or 'was given').
    For `has_missing` see column_of(). Raises TypeError for a batch of another type, ValueError for columns of different lengths."""
    if hasattr(batch, "to_dict") and hasattr(batch, "columns"):
        from ._frames import columns_of_frame
        batch = columns_of_frame(batch, f"the DataFrame that {origin} {did}", has_missing)
    if not isinstance(batch, dict):
        raise TypeError(f"{origin} {did} a {type(batch).__name__}; it must be a dict of arrays, {{'x': array, 'y': array}}, or a DataFrame")
    found = {name: column_of(batch[key], f"column '{name}' that {origin} {did}", has_missing, did == "returned")
             for key, name in _names_of(batch, origin, did)}
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


def column_of(values, origin, has_missing=False, has_shapes=False):
    """Returns the values of a column as an array of a type that the runtime supports. `origin` names the column in messages. `has_shapes`: whether
    samples may be arrays of several axes with different shapes, which only this process can use.

    If `has_missing` is True, values may be missing (`None`, NaN, pandas.NA); missing strings become `None`, missing numbers NaN. If `has_missing` is
    False, `None` raises ValueError. Values other than numbers, bools, strings and arrays of these raise TypeError."""
    if hasattr(values, "detach"):  # a torch tensor
        values = values.detach().cpu().numpy()
    if isinstance(values, numpy.ndarray) and values.ndim and values.dtype != object and values.dtype.kind in "fiub":
        return _supported(values, origin)
    values = _with_missing(list(values)) if has_missing else values
    if has_missing and any(isinstance(value, str) or value is None for value in values) and not any(map(_is_list, values)):
        return _texts(values, origin, has_missing=True)
    items = [_item(value, origin) for value in values]
    if any(isinstance(item, (str, bytes)) for item in items):
        return _texts(items, origin)
    if len({numpy.shape(item) for item in items}) > 1:
        return _ragged(items, origin, has_shapes)
    return _supported(numpy.asarray(items), origin)


def _is_missing(value):
    return value is None or (isinstance(value, (float, numpy.floating)) and value != value) or type(value).__name__ in ("NAType", "NaTType")


def _with_missing(values):
    """Returns the values with `None` for missing strings and NaN for missing numbers. If all values are `None`, returns the values unchanged."""
    if any(isinstance(value, str) for value in values) or all(value is None for value in values):
        return [None if _is_missing(value) else value for value in values]
    if any(map(_is_list, values)):
        return values  # a list cannot be missing
    return [math.nan if _is_missing(value) else value for value in values]


def _is_list(value):
    return value is not None and not isinstance(value, (str, int, float)) and numpy.ndim(value) > 0


def _item(value, origin):
    if hasattr(value, "detach"):
        return value.detach().cpu().numpy()
    if value is None:
        raise ValueError(f"{origin} has a sample without a value (None): use NaN or an empty text")
    return value


def _texts(items, origin, has_missing=False):
    column = numpy.empty(len(items), object)
    for number, item in enumerate(items):
        if not isinstance(item, str) and not (has_missing and item is None):
            raise TypeError(f"{origin} holds texts, and {item!r}; all samples must have one type (bytes are not supported)")
        column[number] = item
    return column


def _ragged(items, origin, has_shapes):
    column = numpy.empty(len(items), object)
    for number, item in enumerate(items):
        column[number] = _supported(numpy.asarray(item), origin)
        if column[number].ndim != 1 and not (has_shapes and column[number].ndim):
            raise ValueError(f"{origin} has arrays of several shapes, such as {numpy.shape(items[0])} and {numpy.shape(item)}; only lists of numbers "
                             f"may vary in length")
    return column


def _supported(array, origin):
    """Returns the array, converted to a type that the runtime supports. Raises TypeError for values other than numbers and bools, OverflowError
    for an unsigned integer that does not fit the new type."""
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{origin} has the type {array.dtype}; supported are numbers, bools and texts")
    narrower = _NARROWER.get(array.dtype.str[1:])
    if narrower is None:
        return array
    if array.size and array.dtype.kind == "u" and int(array.max()) > numpy.iinfo(narrower).max:
        raise OverflowError(f"{origin} has {int(array.max())}, which does not fit into 64 bits with a sign")
    return array.astype(narrower)


def require_one_shape(name, column):
    """Raises TypeError, which names the column, if its samples are arrays of several axes with different shapes."""
    if column.dtype == object and any(getattr(value, "ndim", 0) > 1 for value in column):
        raise TypeError(f"the column '{name}' has arrays of different shapes, which do not make one tensor: give images one size by "
                        f"read_images(size=(height, width)), or convert the column by map, map_batches or collate_fn")


def rows_of(batch):
    """Yields each sample of a batch as a dict {name: value}. Scalars are converted to Python numbers."""
    names = list(batch)
    for values in zip(*(batch[name] for name in names)):
        yield {name: value.item() if isinstance(value, numpy.generic) else value for name, value in zip(names, values)}


def stacked(rows, origin, did="returned"):
    """Returns the columns of `rows`, a non-empty list of dicts. For `origin` and `did` see columns_of(). Raises TypeError if a row is not a dict,
    ValueError if two rows have different keys."""
    first = rows[0]
    for row in rows:
        if not isinstance(row, dict):
            raise TypeError(f"{origin} {did} a {type(row).__name__}; it must be a dict, {{'x': 1.0, 'y': 2}}")
        if row.keys() != first.keys():
            raise ValueError(f"{origin} {did} rows with different keys: {', '.join(map(str, first))}; and {', '.join(map(str, row))}")
    return {name: column_of([row[key] for row in rows], f"column '{name}' that {origin} {did}", has_shapes=did == "returned")
            for key, name in _names_of(first, origin, did)}


def concatenated(batches):
    """Returns one batch with the samples of all batches, in new arrays. `batches` must not be empty."""
    found = {}
    for name in batches[0]:
        parts = [batch[name] for batch in batches]
        if all(part.dtype != object for part in parts):
            found[name] = numpy.concatenate(parts)
            continue
        found[name] = numpy.empty(sum(map(len, parts)), object)
        for number, value in enumerate(value for part in parts for value in part):
            found[name][number] = value.copy() if isinstance(value, numpy.ndarray) else value
    return found
