"""Data that a script made, as files that all ranks read: named after what they hold, so that a script that starts again finds them."""

import hashlib
import json
import math
import os
import zipfile

from .. import _new_file
from ._numpy import numpy

_SUFFIX_OF_ROWS = "rows"


def put(folder, data, suffix, digest):
    """The path of a file with these bytes (or that `data(file)` writes): it is there whole, or not at all."""
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, f"{digest}.{suffix}")
    if os.path.exists(path):
        return path
    _new_file.replace(folder, os.path.basename(path), data if callable(data) else lambda file: file.write(data), may_be_link=False)
    return path


def put_rows(folder, text):
    data = text.encode()
    return put(folder, data, _SUFFIX_OF_ROWS, hashlib.sha256(data).hexdigest()[:32])


def put_columns(folder, columns):
    """{name: array}, samples along the first axis, as keys of [data.NAME] for the file that has them now."""
    if all(column.dtype != object for column in columns.values()) and all(map(_can_be_member, columns)):
        path = put(folder, lambda file: _save_npz(file, columns), "npz", _digest_of(columns))
        return {"source": path, "format": "npz"}
    lines, types = _as_lines(columns), _types_of(columns)
    path = put(folder, lines, "jsonl", hashlib.sha256(lines).hexdigest()[:32])
    return {"source": path, "format": "jsonl", **({"types": types} if types else {})}


def _can_be_member(name):
    """Whether an NPZ file can have a member of that name: archives take slashes for folders."""
    return bool(name) and "/" not in name and "\\" not in name


def _save_npz(file, columns):
    """numpy.savez() has a name of its own that no column may have: `file`."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, column in columns.items():
            with archive.open(name + ".npy", "w", force_zip64=True) as member:
                numpy.lib.format.write_array(member, numpy.ascontiguousarray(column), allow_pickle=False)


def _digest_of(columns):
    digest = hashlib.sha256()
    for name, column in columns.items():
        digest.update(f"{name} {column.dtype.str} {column.shape}\n".encode())
        digest.update(numpy.ascontiguousarray(column).tobytes())
    return digest.hexdigest()[:32]


def _as_lines(columns):
    for name, column in columns.items():
        if column.dtype != object and column.ndim > 2:
            raise ValueError(f"'{name}' has samples of the shape {column.shape[1:]}; beside texts, arrays of several lengths and names with '/' a sample "
                             f"has one axis: give it as such (reshape), rename the column, or write the data as HDF5")
        if column.dtype.kind == "f" and numpy.isinf(column).any():
            raise ValueError(f"'{name}' has an infinity in row {int(numpy.argwhere(numpy.isinf(column))[0][0])}; beside texts, arrays of several lengths "
                             f"and names with '/' numbers are finite or NaN: replace it, or write the data as CSV, Parquet or HDF5")
    names = list(columns)
    rows = zip(*(columns[name] for name in names))
    return "".join(json.dumps(dict(zip(names, map(_plain, row))), ensure_ascii=False, allow_nan=False) + "\n" for row in rows).encode()


def _plain(value):
    if not hasattr(value, "tolist"):
        return value
    plain = value.tolist()
    if isinstance(plain, list):
        return [_plain_number(each) for each in plain]
    return _plain_number(plain)


def _plain_number(number):
    """null is NaN to the runtime."""
    return None if isinstance(number, float) and math.isnan(number) else number


def _types_of(columns):
    """Those that JSON does not tell. ValueError for a column that needs one and whose name cannot be in a list of types."""
    names = {"f4": "f32", "i4": "i32", "i2": "i16", "i1": "i8", "u1": "u8", "f8": "f64"}
    types = {name: names[column.dtype.str[1:]] for name, column in columns.items() if column.dtype != object and column.dtype.str[1:] in names}
    for name in [name for name in types if not name.strip() or "," in name]:
        if types[name] != "f64" or numpy.isnan(columns[name]).all():
            raise ValueError(f"the column '{name}' is of the type {types[name]}; beside texts, arrays of several lengths and names with '/' such a column "
                             f"needs a name without commas: rename it")
        del types[name]  # JSON has its numbers with a point
    return ", ".join(f"{name}:{kind}" for name, kind in types.items())
