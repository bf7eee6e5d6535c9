"""A config of Python values as texts of keys, for the records of runs and sweeps: a later start is compared with them."""

import dataclasses
import enum
import functools
import hashlib
import json
import os
import re
import types

_LONGEST, _DEEPEST, _MOST_KEYS = 200, 12, 500
_OTHER = re.compile(r"[^\w./-]")


def texts(value, name):
    """{key: text}: the dict flattened below `name`, "name.lr" and "name.model.depth"; of any other value, or an empty dict, {name: text}."""
    found = {}
    _flatten(value, name, found, 0)
    return found if len(found) <= _MOST_KEYS else {name: text_of(value)}


def of_function(function, name):
    """{key: text}: the function's name, and the arguments that functools.partial() gives it."""
    if not isinstance(function, functools.partial):
        return {name: text_of(function)}
    return {**of_function(function.func, name), **(texts(list(function.args), f"{name}.args") if function.args else {}),
            **(texts(function.keywords, name) if function.keywords else {})}


def _flatten(value, name, found, depth):
    if isinstance(value, dict) and value and depth < _DEEPEST:
        for key, inner in value.items():
            part = f"{name}.{_OTHER.sub('_', str(key)) or '_'}"
            _flatten(inner, part, found, depth + 1)
        return
    unique, number = name, 2
    while unique in found:  # keys that differ in other characters only
        unique, number = f"{name}-{number}", number + 1
    found[unique] = text_of(value)


def text_of(value):
    """A text of one line, as a config file can hold it, that is equal for equal values in every process. Of an object of an unknown class it is
    the name of the class."""
    text = _plain(value, 0)
    line = text if isinstance(text, str) and text.isprintable() and text == text.strip() and text else json.dumps(text, sort_keys=True)
    shown = line.replace('"', "'").replace("#", "?").replace(";", ",")
    is_exact = len(line) <= _LONGEST and shown.replace("'", '"') == line.replace("'", '"') and not ("'" in line and '"' in line)
    return shown if is_exact else f"{shown[:_LONGEST - 40]}... ({len(line)} characters, {_digest(line.encode('utf-8', 'replace'))})"


def _digest(data):
    return hashlib.sha256(data).hexdigest()[:16]


def _plain(value, depth):
    """What JSON can say of a value."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value.value if isinstance(value, enum.Enum) else value
    if depth > _DEEPEST:
        return "..."
    inner = lambda one: _plain(one, depth + 1)
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
    return _of_array(value) or type(value).__qualname__


def _of_array(value):
    """Of NumPy's arrays and scalars, and torch's tensors; None of anything else."""
    try:
        if getattr(value, "ndim", None) == 0 and hasattr(value, "item"):
            return _plain(value.item(), 0)
        if hasattr(value, "detach"):
            value = value.detach().cpu().numpy()
        if hasattr(value, "tobytes") and hasattr(value, "dtype") and hasattr(value, "shape"):
            return f"{value.dtype} {list(value.shape)}, {_digest(value.tobytes())}"
    except Exception:  # of a type that NumPy lacks, say
        return None
    return None
