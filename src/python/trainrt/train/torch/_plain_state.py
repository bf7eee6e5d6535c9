"""Converts the state of schedulers, loaders and similar objects to JSON and back. JSON cannot contain code."""

from __future__ import annotations

import json
import types
from typing import Any

import torch

from ..._client.values import kind_of

_CODE = (types.FunctionType, types.MethodType, types.BuiltinFunctionType)


def value_text(label: str, state: Any) -> str:
    """Returns `state` as JSON. Leaves out functions in `state`, since the script defines the functions. Raises TypeError for unsupported types;
    `label` names the object in the message."""
    return json.dumps(_encoded(label, state), sort_keys=True)


def from_text(text: str, current: Any) -> Any:
    """Returns the original state for `text`, a result of value_text(). Types and functions are taken from `current`, the object's present state."""
    return _decoded(json.loads(text), current)


def _encoded(label: str, value: Any) -> Any:
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, torch.Tensor) and value.numel() == 1:
        return {"tensor": value.item()}
    if isinstance(value, dict):
        return {"pairs": [[_key(label, key), _encoded(f"{label}/{key}", one)] for key, one in value.items() if not isinstance(one, _CODE)]}
    if isinstance(value, (list, tuple)):
        return [_encoded(f"{label}/{number}", one) for number, one in enumerate(value)]
    if hasattr(value, "item") and getattr(value, "shape", None) == ():  # a NumPy scalar
        return value.item()
    raise TypeError(f"{label} is {kind_of(value)}, which checkpoints do not support: it must be a number, string, bool, None, or a list or "
                    f"dict of these; write other objects to a file (trainrt.State.file), or create them in the script")


def _key(label: str, key: Any) -> Any:
    if type(key) not in (str, int):
        raise TypeError(f"{label} has the key {key!r}; keys must be strings or ints")
    return key


def _decoded(value: Any, current: Any) -> Any:
    if isinstance(value, list):
        ones = [_decoded(one, current[number] if isinstance(current, (list, tuple)) and number < len(current) else None)
                for number, one in enumerate(value)]
        return tuple(ones) if isinstance(current, tuple) else ones
    if isinstance(value, dict) and "tensor" in value:
        like = current if isinstance(current, torch.Tensor) else torch.empty(())
        return torch.full_like(like, value["tensor"])
    if isinstance(value, dict):
        known = current if isinstance(current, dict) else {}
        pairs = {key: _decoded(one, known.get(key)) for key, one in value["pairs"]}
        kept = {key: one for key, one in known.items() if isinstance(one, _CODE)}
        return (type(current) if isinstance(current, dict) else dict)({**pairs, **kept})
    return value
