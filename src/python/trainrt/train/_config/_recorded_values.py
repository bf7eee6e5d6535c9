"""Converts Python values into one-line texts. Runs and sweeps record these texts, and a later start compares its own values with the record."""

import dataclasses
import enum
import functools
import hashlib
import json
import os
import re
import types

_MAX_CHARACTERS, _MAX_DEPTH, _MAX_KEYS = 200, 12, 500
_NOT_IN_KEYS = re.compile(r"[^\w./-]")


def flat_texts(value, name):
    """Returns {key: text} for a dict, with keys such as 'name.lr' and 'name.model.depth'. Returns {name: text} for other values, for an empty dict,
    and for a dict with more than 500 values."""
    found = {}
    _flatten(value, name, found, 0)
    return found if len(found) <= _MAX_KEYS else {name: value_text(value)}


def function_texts(function, name):
    """Returns {key: text} with the name of a function, and the arguments that functools.partial() gives it."""
    if not isinstance(function, functools.partial):
        return {name: value_text(function)}
    return {**function_texts(function.func, name), **(flat_texts(list(function.args), f"{name}.args") if function.args else {}),
            **(flat_texts(function.keywords, name) if function.keywords else {})}


def value_text(value):
    """Returns a text of one line that a config file can hold; equal values have equal texts in every process. The text of an object of an
    unknown class is the name of its class."""
    plain = _json_value(value, 0)
    line = plain if isinstance(plain, str) and plain.isprintable() and plain == plain.strip() and plain else json.dumps(plain, sort_keys=True)
    shown = line.replace('"', "'").replace("#", "?").replace(";", ",")
    is_exact = len(line) <= _MAX_CHARACTERS and shown.replace("'", '"') == line.replace("'", '"') and not ("'" in line and '"' in line)
    return shown if is_exact else f"{shown[:_MAX_CHARACTERS - 40]}... ({len(line)} characters, {_digest(line.encode('utf-8', 'replace'))})"


def _flatten(value, name, found, depth):
    if isinstance(value, dict) and value and depth < _MAX_DEPTH:
        for key, inner in value.items():
            part = f"{name}.{_NOT_IN_KEYS.sub('_', str(key)) or '_'}"
            _flatten(inner, part, found, depth + 1)
        return
    unique, number = name, 2
    while unique in found:  # replacing characters may make two keys equal
        unique, number = f"{name}-{number}", number + 1
    found[unique] = value_text(value)


def _digest(data):
    return hashlib.sha256(data).hexdigest()[:16]


def _json_value(value, depth):
    """Returns a value that describes `value` and that JSON can represent."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value.value if isinstance(value, enum.Enum) else value
    if depth > _MAX_DEPTH:
        return "..."
    inner = functools.partial(_json_value, depth=depth + 1)
    if isinstance(value, dict):
        return {str(key): inner(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [inner(one) for one in value]
    if isinstance(value, (set, frozenset)):
        return sorted((inner(one) for one in value), key=lambda one: json.dumps(one, sort_keys=True))
    if isinstance(value, (bytes, bytearray)):
        return f"{len(value)} bytes, {_digest(bytes(value))}"
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, enum.Enum):
        return f"{type(value).__qualname__}.{value.name}"
    if isinstance(value, functools.partial):
        return {"function": inner(value.func), "arguments": inner(value.args), "keywords": inner(value.keywords)}
    if isinstance(value, (type, types.FunctionType, types.MethodType, types.BuiltinFunctionType)):
        return value.__qualname__
    if dataclasses.is_dataclass(value):
        return {"class": type(value).__qualname__, **{each.name: inner(getattr(value, each.name, None)) for each in dataclasses.fields(value)}}
    return _array_value(value) or type(value).__qualname__


def _array_value(value):
    """Returns the value of a NumPy or torch scalar. Returns type, shape and digest of an array, and `None` for other objects."""
    try:
        if getattr(value, "ndim", None) == 0 and hasattr(value, "item"):
            return _json_value(value.item(), 0)
        if hasattr(value, "detach"):
            value = value.detach().cpu().numpy()
        if hasattr(value, "tobytes") and hasattr(value, "dtype") and hasattr(value, "shape"):
            return f"{value.dtype} {list(value.shape)}, {_digest(value.tobytes())}"
    except Exception:  # for example, an element type that NumPy lacks
        return None
    return None
