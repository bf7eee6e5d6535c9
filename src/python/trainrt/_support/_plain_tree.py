"""Nested Python values in a folder, without pickle, for Checkpoint.from_dict() and for save_checkpoint() of Ray Train 1.x: dicts, lists, tuples,
numbers, strings, bytes, `None`, NumPy arrays and torch tensors. The file arrays.bin has the bytes of all arrays one after another, tree.json everything
else."""

from __future__ import annotations

import json
import math
import os
import sys
from typing import Any, BinaryIO

_TREE, _ARRAYS = "tree.json", "arrays.bin"


class Writer:
    """Converts values to their JSON form, and writes the bytes of arrays to `file`. Messages begin with `caller`."""

    def __init__(self, file: BinaryIO | None, caller: str = "save_checkpoint()") -> None:
        self._file, self._at, self._caller = file, 0, caller
        self._open: list[int] = []  # ids of the containers of the current value

    def encoded(self, where: str, value: Any) -> Any:
        """Returns the JSON form of `value`. Raises TypeError for an unsupported type; `where` names the value in the message."""
        if value is None or isinstance(value, (bool, int, str)):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"float": repr(value)}
        if isinstance(value, (dict, list, tuple)):
            if id(value) in self._open:
                raise ValueError(f"{self._caller}: {where} contains itself, which cannot be stored; remove the reference to itself")
            self._open.append(id(value))
            found = self._container(where, value)
            self._open.pop()
            return found
        if isinstance(value, (bytes, bytearray)):
            return {"bytes" if isinstance(value, bytes) else "bytearray": self._place(bytes(value))}
        return self._array(where, value)

    def _container(self, where: str, value: Any) -> Any:
        if isinstance(value, dict):
            return {"dict": [[self.encoded(where, key), self.encoded(f"{where}[{key!r}]", each)] for key, each in value.items()]}
        kind = "list" if isinstance(value, list) else "tuple"
        return {kind: [self.encoded(f"{where}[{number}]", each) for number, each in enumerate(value)]}

    def _array(self, where: str, value: Any) -> Any:
        torch: Any = sys.modules.get("torch")
        if torch is not None and isinstance(value, torch.Tensor):
            host = value.detach().cpu().contiguous()
            data = bytes(host.reshape(-1).view(torch.uint8).numpy()) if host.numel() else b""
            return {"torch": str(host.dtype).split(".")[1], "shape": list(host.shape), "at": self._place(data)}
        if hasattr(value, "__array_interface__") and not value.dtype.hasobject and not value.dtype.names:
            scalar = {} if hasattr(value, "__setitem__") else {"scalar": True}  # such as numpy.float32(0.5)
            return {"numpy": value.dtype.str, "shape": list(value.shape), "at": self._place(value.tobytes()), **scalar}
        advice = f"Store its state_dict(): {where}.state_dict()" if callable(getattr(value, "state_dict", None)) else \
            "Write other objects into a directory, and call report(checkpoint=Checkpoint.from_directory(...))"
        raise TypeError(f"{self._caller}: {where} has the type {type(value).__name__}, which cannot be stored without pickle; supported are numbers, strings, "
                        f"bytes, arrays, tensors, and dicts and lists of these. {advice}")

    def _place(self, data: bytes) -> list[int]:
        assert self._file is not None
        self._file.write(data)
        self._at += len(data)
        return [self._at - len(data), len(data)]


def decoded(value: Any, data: bytes) -> Any:
    """Returns the value that the JSON `value` represents. `data` has the bytes of its arrays."""
    if not isinstance(value, dict):
        return value
    kind, content = next(iter(value.items()))
    if kind == "float":
        return float(content)
    if kind == "dict":
        return {decoded(key, data): decoded(each, data) for key, each in content}
    if kind in ("list", "tuple"):
        return (list if kind == "list" else tuple)(decoded(each, data) for each in content)
    at, size = content if kind in ("bytes", "bytearray") else value["at"]
    part = data[at:at + size]
    if kind in ("bytes", "bytearray"):
        return bytes(part) if kind == "bytes" else bytearray(part)
    if kind == "torch":
        import torch
        flat = torch.frombuffer(bytearray(part), dtype=torch.uint8) if size else torch.empty(0, dtype=torch.uint8)
        return flat.view(getattr(torch, content)).reshape(value["shape"])
    import numpy
    array = numpy.frombuffer(bytearray(part), dtype=numpy.dtype(content)).reshape(value["shape"])
    return array[()] if value.get("scalar") else array


def save(folder: str, values: dict[str, Any], caller: str = "save_checkpoint()") -> None:
    """Writes the values, {name: value}, into the folder. Raises TypeError for an unsupported type; the message begins with `caller`."""
    with open(os.path.join(folder, _ARRAYS), "wb") as file:
        writer = Writer(file, caller)
        tree = {name: writer.encoded(name, value) for name, value in values.items()}
    with open(os.path.join(folder, _TREE), "w", encoding="utf-8") as file:
        json.dump(tree, file, allow_nan=False)


def is_in(folder: str) -> bool:
    """Returns whether the folder has the files that save() writes."""
    return all(os.path.isfile(os.path.join(folder, name)) for name in (_TREE, _ARRAYS))


def load(folder: str) -> dict[str, Any]:
    """Returns the values that save() has written into the folder."""
    with open(os.path.join(folder, _TREE), encoding="utf-8") as file:
        tree = json.load(file)
    with open(os.path.join(folder, _ARRAYS), "rb") as file:
        data = file.read()
    return {name: decoded(value, data) for name, value in tree.items()}
