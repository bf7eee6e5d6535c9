"""Plain state, as a scheduler or a loader has it, as a text (JSON) and back: no code is ever loaded."""

import json
import types

import torch

_CODE = (types.FunctionType, types.MethodType, types.BuiltinFunctionType)


def text_of(what, state):
    """`what` names the object in errors. Functions are left out: they are the script's."""
    return json.dumps(_encoded(what, state), sort_keys=True)


def from_text(text, current):
    """What text_of() took, in the types that `current`, the state as it is now, has in the same places."""
    return _decoded(json.loads(text), current)


def _encoded(what, value):
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, torch.Tensor) and value.numel() == 1:
        return {"tensor": value.item()}
    if isinstance(value, dict):
        return {"pairs": [[_key(what, key), _encoded(f"{what}/{key}", one)] for key, one in value.items() if not isinstance(one, _CODE)]}
    if isinstance(value, (list, tuple)):
        return [_encoded(f"{what}/{number}", one) for number, one in enumerate(value)]
    if hasattr(value, "item") and getattr(value, "shape", None) == ():  # a scalar of NumPy
        return value.item()
    raise TypeError(f"{what} is a {type(value).__name__}, which has no form in a checkpoint: it must be a number, a text, true or false, None, or "
                    f"a list or dict of such; keep what is else in a file (trainrt.State.file) or make it anew from the script")


def _key(what, key):
    if type(key) not in (str, int):
        raise TypeError(f"{what} has the key {key!r}; keys must be texts or whole numbers")
    return key


def _decoded(value, current):
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
