"""Data that a script made, as files that all ranks read: named after what they hold, so that a script that starts again finds them."""

import hashlib
import json
import math
import os

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
    if all(column.dtype != object for column in columns.values()):
        path = put(folder, lambda file: numpy.savez(file, **columns), "npz", _digest_of(columns))
        return {"source": path, "format": "npz"}
    lines, types = _as_lines(columns), _types_of(columns)
    path = put(folder, lines, "jsonl", hashlib.sha256(lines).hexdigest()[:32])
    return {"source": path, "format": "jsonl", **({"types": types} if types else {})}


def _digest_of(columns):
    digest = hashlib.sha256()
    for name, column in columns.items():
        digest.update(f"{name} {column.dtype.str} {column.shape}\n".encode())
        digest.update(numpy.ascontiguousarray(column).tobytes())
    return digest.hexdigest()[:32]


def _as_lines(columns):
    for name, column in columns.items():
        if column.dtype != object and column.ndim > 2:
            raise ValueError(f"'{name}' has samples of the shape {column.shape[1:]}; beside texts or arrays of several lengths a sample has one axis: "
                             f"give it as such (reshape), or write the data as HDF5")
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
    """Those that JSON does not tell."""
    names = {"f4": "f32", "i4": "i32", "i2": "i16", "i1": "i8", "u1": "u8", "f8": "f64"}
    return ", ".join(f"{name}:{names[column.dtype.str[1:]]}" for name, column in columns.items()
                     if column.dtype != object and column.dtype.str[1:] in names)
