"""Samples of Python, NumPy, pandas and torch as columns: {name: array}, samples along the first axis. A column of texts, or of arrays
of several lengths, is one of objects."""

import math

from ._numpy import numpy

_NARROWER = {"u2": "i4", "u4": "i8", "u8": "i8", "g": "f8"}  # by what the runtime has: no unsigned ones beyond u8


def columns_of(batch, what, did="returned", has_missing=False):
    """What a function made of a batch, or was given (did="was given"): a dict of arrays or lists, or a DataFrame. has_missing: as of column_of()."""
    if hasattr(batch, "to_dict") and hasattr(batch, "columns"):
        from ._frames import columns_of_frame
        batch = columns_of_frame(batch, f"the DataFrame that {what} {did}", has_missing)
    if not isinstance(batch, dict):
        raise TypeError(f"{what} {did} a {type(batch).__name__}; it must be a dict of arrays, {{'x': array, 'y': array}}, or a DataFrame")
    found = {name: column_of(batch[key], f"'{name}' of what {what} {did}", has_missing) for key, name in _names_of(batch, what, did)}
    if len({len(column) for column in found.values()}) > 1:
        raise ValueError(f"{what} {did} columns of several lengths: " + ", ".join(f"{name} has {len(column)}" for name, column in found.items()))
    return found


def _names_of(keys, what, did):
    """[(key, its name)]: names are texts."""
    names = [(key, str(key)) for key in keys]
    known = {}
    for key, name in names:
        if name in known:
            raise ValueError(f"{what} {did} the columns {known[name]!r} and {key!r}, which have one name: names are texts. Rename one")
        known[name] = key
    return names


def column_of(values, what, has_missing=False):
    """One column, of the types that the runtime knows. has_missing: values may be missing (None, NaN, pandas.NA): among texts they are None then, and
    among numbers NaN, as missing numbers always are."""
    if hasattr(values, "detach"):  # a torch tensor
        values = values.detach().cpu().numpy()
    if isinstance(values, numpy.ndarray) and values.ndim and values.dtype != object and values.dtype.kind in "fiub":
        return _known(values, what)
    values = _with_missing(list(values)) if has_missing else values
    if has_missing and any(isinstance(value, str) or value is None for value in values) and not any(map(_is_list, values)):
        return _texts(values, what, has_missing=True)
    items = [_item(value, what) for value in values]
    if any(isinstance(item, (str, bytes)) for item in items):
        return _texts(items, what)
    if len({numpy.shape(item) for item in items}) > 1:
        return _ragged(items, what)
    return _known(numpy.asarray(items), what)


def _is_missing(value):
    return value is None or (isinstance(value, (float, numpy.floating)) and value != value) or type(value).__name__ in ("NAType", "NaTType")


def _with_missing(values):
    """The same with one value for what is missing: None among texts, NaN among numbers. Nothing but None may be either, and stays."""
    if any(isinstance(value, str) for value in values) or all(value is None for value in values):
        return [None if _is_missing(value) else value for value in values]
    if any(map(_is_list, values)):
        return values  # a list that is missing has no such value
    return [math.nan if _is_missing(value) else value for value in values]


def _is_list(value):
    return value is not None and not isinstance(value, (str, int, float)) and numpy.ndim(value) > 0


def _item(value, what):
    if hasattr(value, "detach"):
        return value.detach().cpu().numpy()
    if value is None:
        raise ValueError(f"{what} has a sample without a value (None): give it one, as NaN, or an empty text")
    return value


def _texts(items, what, has_missing=False):
    column = numpy.empty(len(items), object)
    for number, item in enumerate(items):
        if not isinstance(item, str) and not (has_missing and item is None):
            raise TypeError(f"{what} holds texts, and {item!r}; all samples are of one type (bytes are not held)")
        column[number] = item
    return column


def _ragged(items, what):
    column = numpy.empty(len(items), object)
    for number, item in enumerate(items):
        column[number] = _known(numpy.asarray(item), what)
        if column[number].ndim != 1:
            raise ValueError(f"{what} has arrays of several shapes, such as {numpy.shape(items[0])} and {numpy.shape(item)}; only lists of numbers may "
                             f"vary in length")
    return column


def _known(array, what):
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{what} is of the type {array.dtype}; numbers, truth values and texts can be held")
    narrower = _NARROWER.get(array.dtype.str[1:])
    if narrower is None:
        return array
    if array.size and array.dtype.kind == "u" and int(array.max()) > numpy.iinfo(narrower).max:
        raise OverflowError(f"{what} has {int(array.max())}, which 64 bits with a sign cannot hold")
    return array.astype(narrower)


def rows_of(batch):
    """The samples of a batch, each a dict; numbers are Python's."""
    names = list(batch)
    for values in zip(*(batch[name] for name in names)):
        yield {name: value.item() if isinstance(value, numpy.generic) else value for name, value in zip(names, values)}


def stacked(rows, what, did="returned"):
    """The columns of rows, which have all the same keys. did: as of columns_of()."""
    first = rows[0]
    for row in rows:
        if not isinstance(row, dict):
            raise TypeError(f"{what} {did} a {type(row).__name__}; it must be a dict, {{'x': 1.0, 'y': 2}}")
        if row.keys() != first.keys():
            raise ValueError(f"{what} {did} rows with different keys: {', '.join(map(str, first))}; and {', '.join(map(str, row))}")
    return {name: column_of([row[key] for row in rows], f"'{name}' of what {what} {did}") for key, name in _names_of(first, what, did)}


def concatenated(batches):
    """The columns of all batches, each one array of its own."""
    found = {}
    for name in batches[0]:
        parts = [batch[name] for batch in batches]
        if any(part.dtype == object for part in parts):
            column = numpy.empty(sum(map(len, parts)), object)
            at = 0
            for part in parts:
                for value in part:
                    column[at] = value.copy() if isinstance(value, numpy.ndarray) else value
                    at += 1
            found[name] = column
        else:
            found[name] = numpy.concatenate(parts)
    return found
