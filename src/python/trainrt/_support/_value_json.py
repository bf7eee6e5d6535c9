"""Python values as JSON, without pickle: decoding returns equal values of the same types. Used for a train_loop_config.

`None`, bools, strings, ints, finite floats, lists, and dicts whose keys are strings have their usual form. All other values are objects
{"__trainrt__": kind, ...}: tuples, sets, dicts with other keys, bytes, NaN, infinities, complex numbers, paths, NumPy scalars and arrays.
"""

from __future__ import annotations

import base64
import math
import pathlib
import re
from typing import Any

_TAG = "__trainrt__"
_DTYPE = re.compile(r"[<>|=]?[biufcSUmM]\d+(\[[\w/]+\])?")
_MAX_ARRAY_BYTES = 1 << 20
_MAX_DEPTH = 60


class NotRecordable(TypeError):
    """Raised for a value that JSON cannot represent. The message names the value and its type."""


def encoded(value: Any, where: str = "config", depth: int = 0) -> Any:
    """Returns the JSON form of `value`. Raises NotRecordable; `where` names the value in its message."""
    kind = type(value)
    if depth > _MAX_DEPTH:
        raise NotRecordable(f"{where} is nested deeper than {_MAX_DEPTH} levels")
    if value is None or kind in (bool, int, str):
        return value
    if kind is float:
        return value if math.isfinite(value) else {_TAG: "float", "value": repr(value)}
    if kind.__module__ == "numpy":
        return _of_numpy(value, where)
    if kind is complex:
        return {_TAG: "complex", "value": repr(value)}
    if kind in (bytes, bytearray):
        return {_TAG: kind.__name__, "value": base64.b64encode(value).decode()}
    if isinstance(value, pathlib.PurePath):
        return {_TAG: "path", "value": str(value)}
    if isinstance(value, dict):
        return _of_dict(value, where, depth)
    if kind in (list, tuple, set, frozenset):
        items = [encoded(each, f"{where}[{number}]", depth + 1) for number, each in enumerate(value)]
        return items if kind is list else {_TAG: kind.__name__, "items": items}
    if isinstance(value, str):  # an enumeration member, for example, which equals its value
        return str.__str__(value)
    for base in (int, float):
        if isinstance(value, base):
            return encoded(base(value), where, depth)
    raise NotRecordable(f"{where} is a {kind.__name__}")


def _of_dict(value: dict, where: str, depth: int) -> Any:
    items = [(key, encoded(each, f"{where}[{key!r}]", depth + 1)) for key, each in value.items()]
    if all(type(key) is str for key, _ in items) and _TAG not in value:
        return dict(items)
    return {_TAG: "dict", "items": [[encoded(key, f"the key {key!r} of {where}", depth + 1), each] for key, each in items]}


def _of_numpy(value: Any, where: str) -> Any:
    import numpy
    if not isinstance(value, (numpy.ndarray, numpy.generic)) or not _DTYPE.fullmatch(value.dtype.str) or not value.dtype.itemsize:
        raise NotRecordable(f"{where} is a NumPy {type(value).__name__}")
    if value.nbytes > _MAX_ARRAY_BYTES:
        raise NotRecordable(f"{where} is an array of {value.nbytes} bytes, more than {_MAX_ARRAY_BYTES}")
    shape = list(value.shape) if isinstance(value, numpy.ndarray) else None
    return {_TAG: "numpy", "dtype": value.dtype.str, "shape": shape, "value": base64.b64encode(value.tobytes()).decode()}


def decoded(form: Any) -> Any:
    """Returns the value that encoded() was given. Raises ValueError if `form` is invalid. Runs no code that `form` names."""
    if isinstance(form, list):
        return [decoded(each) for each in form]
    if not isinstance(form, dict):
        return form
    if _TAG not in form:
        return {key: decoded(each) for key, each in form.items()}
    try:
        return _decoded_object(form[_TAG], form)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"{form!r:.200} is not a valid form of a value: {type(error).__name__}: {error}") from None


def _decoded_object(kind: str, form: dict) -> Any:
    if kind in ("tuple", "set", "frozenset"):
        return {"tuple": tuple, "set": set, "frozenset": frozenset}[kind](decoded(each) for each in form["items"])
    if kind == "dict":
        return {decoded(key): decoded(each) for key, each in form["items"]}
    if kind in ("float", "complex"):
        return {"float": float, "complex": complex}[kind](form["value"])
    if kind in ("bytes", "bytearray"):
        return {"bytes": bytes, "bytearray": bytearray}[kind](base64.b64decode(form["value"]))
    if kind == "path":
        return pathlib.Path(form["value"])
    if kind != "numpy" or not _DTYPE.fullmatch(form["dtype"]):
        raise ValueError("unknown kind")
    import numpy
    data, dtype = bytearray(base64.b64decode(form["value"])), numpy.dtype(form["dtype"])
    flat = numpy.frombuffer(data, dtype=dtype) if data else numpy.empty(0, dtype)
    return flat[0] if form["shape"] is None else flat.reshape(form["shape"])
