"""Writes a script's data into files that all ranks read. File names are digests of the content, and a restarted script reuses existing files."""

import hashlib
import json
import math
import os
import zipfile

from .._support import _new_file
from ._values._numpy import numpy

_JSON_TYPES = {"f4": "f32", "i4": "i32", "i2": "i16", "i1": "i8", "u1": "u8", "f8": "f64"}  # {NumPy type: type for the key `types`}
_AS_TEXT = "in a dataset with texts, arrays of several lengths or names with '/'"  # describes datasets that put_columns() writes as JSON lines


def put(folder, data, suffix, digest):
    """Writes the file DIGEST.SUFFIX in `folder`, unless it exists, and returns its path. `data` is the content as bytes, or a function that writes
    into the open file. Other processes see the complete file or no file."""
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, f"{digest}.{suffix}")
    if not os.path.exists(path):
        _new_file.replace(folder, os.path.basename(path), data if callable(data) else lambda file: file.write(data), may_be_link=False)
    return path


def put_text(folder, data, suffix):
    """Calls put() for the bytes `data`, with their SHA-256 as digest, and returns the path."""
    return put(folder, data, suffix, hashlib.sha256(data).hexdigest()[:32])


def put_columns(folder, columns):
    """Writes {name: array} into `folder` and returns the keys of [data.NAME] that read the file: an NPZ file if possible, else JSON lines.
    Raises ValueError for values that JSON lines cannot hold."""
    if all(column.dtype != object for column in columns.values()) and all(map(_can_be_member, columns)):
        path = put(folder, lambda file: _save_npz(file, columns), "npz", _digest_of(columns))
        return {"source": path, "format": "npz"}
    types = _types_of(columns)
    return {"source": put_text(folder, _as_lines(columns), "jsonl"), "format": "jsonl", **({"types": types} if types else {})}


def _can_be_member(name):
    """Returns whether `name` can be the name of an array in an NPZ file. Names with slashes cannot: readers take slashes for folders."""
    return bool(name) and "/" not in name and "\\" not in name


def _save_npz(file, columns):
    """Writes an NPZ file. numpy.savez() is not used, since numpy.savez() cannot write an array named `file`."""
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
        shapes = {value.shape for value in column if getattr(value, "ndim", 0) > 1} if column.dtype == object else ()
        if shapes:
            raise ValueError(f"'{name}' has arrays of different shapes, such as {' and '.join(map(str, sorted(shapes)[:2]))}, which cannot be written into "
                             f"a file: give images one size by read_images(size=(height, width)), or make the arrays equal by map()")
        if column.dtype != object and column.ndim > 2:
            raise ValueError(f"'{name}' has samples of the shape {column.shape[1:]}; {_AS_TEXT} a sample has at most one axis: reshape it, rename "
                             f"the column, or write the data as HDF5")
        if column.dtype.kind == "f" and numpy.isinf(column).any():
            raise ValueError(f"'{name}' has an infinity in row {int(numpy.argwhere(numpy.isinf(column))[0][0])}; {_AS_TEXT} numbers must be finite "
                             f"or NaN: replace it, or write the data as CSV, Parquet or HDF5")
    rows = zip(*columns.values())
    return "".join(json.dumps(dict(zip(columns, map(_plain, row))), ensure_ascii=False, allow_nan=False) + "\n" for row in rows).encode()


def _plain(value):
    """Returns the value as an object for json.dumps(), with None for NaN."""
    plain = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(plain, list):
        return list(map(_plain, plain))
    return None if isinstance(plain, float) and math.isnan(plain) else plain


def _types_of(columns):
    """Returns the key `types` of [data.NAME], which names the types that readers cannot detect in JSON. Raises ValueError for a name that the key
    `types` cannot contain."""
    types = {name: _JSON_TYPES[column.dtype.str[1:]] for name, column in columns.items() if column.dtype.str[1:] in _JSON_TYPES}
    for name in [name for name in types if not name.strip() or "," in name]:
        if types[name] != "f64" or numpy.isnan(columns[name]).all():
            raise ValueError(f"the column '{name}' has the type {types[name]}; {_AS_TEXT} such a column needs a name without commas: rename it")
        del types[name]  # not needed: readers detect f64 by the decimal point
    return ", ".join(f"{name}:{kind}" for name, kind in types.items())
