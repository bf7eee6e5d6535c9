"""Reads and writes dcp.json of a checkpoint of torch.distributed.checkpoint: it describes the tensors and stores all other objects, without pickle."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import torch

from ..._client.values import kind_of
from ..._support import _plain_tree
from ._leaves import path_of

FILE = "dcp.json"


class _Plain(_plain_tree.Writer):
    """Converts numbers, strings, `None`, and lists, tuples and dicts of these to JSON values."""

    def __init__(self) -> None:
        super().__init__(None)

    def _array(self, where: str, value: Any) -> Any:
        if hasattr(value, "item") and getattr(value, "shape", None) == () and not isinstance(value, torch.Tensor):  # a NumPy scalar
            return self.encoded(where, value.item())
        raise TypeError(f"CheckpointWriter: '{where}' is {kind_of(value)}, which checkpoints do not support: use tensors, numbers, strings, "
                        f"None, and lists, tuples and dicts of these, or leave it out of the state_dict")

    def _place(self, data: bytes) -> Any:
        raise TypeError("CheckpointWriter: checkpoints do not support bytes: use a string, or a tensor of uint8")


def plain(name: str, value: Any) -> Any:
    """Returns `value` as an object that json can write. Raises TypeError with `name` for an unsupported value."""
    try:
        return _Plain().encoded(name, value)
    except TypeError as error:
        raise TypeError(str(error) if f"'{name}" in str(error) else f"{error} ('{name}')") from None


def from_plain(encoded: Any) -> Any:
    """Returns the original object for `encoded`, a result of plain()."""
    return _plain_tree.decoded(encoded, b"")


def described(size: Iterable[int], dtype: torch.dtype) -> list[Any]:
    """Returns the entry of a tensor in dcp.json: [dtype, size]."""
    return [str(dtype).split(".")[1], list(size)]


def size_and_dtype(description: Any) -> tuple[torch.Size, torch.dtype]:
    """Returns the size and the dtype in `description`, a result of described()."""
    dtype, size = description
    return torch.Size(size), getattr(torch, dtype)


def names_of(keys: list[str]) -> dict[str, str]:
    """Returns the HDF5 name of each key, as {key: name}. The key layer.weight becomes the name layer/weight. If two such names conflict, all keys are used as
    names."""
    names = {key: path_of(key) for key in keys}
    folders = {name[:at] for name in names.values() for at, letter in enumerate(name) if letter == "/"}
    if len(set(names.values())) < len(names) or not folders.isdisjoint(names.values()):
        return {key: key for key in keys}
    return names


def write(path: str, tensors: Mapping[str, Any], objects: Mapping[str, Any], paths: Mapping[str, Iterable[Any]]) -> None:
    """Writes dcp.json. `tensors` is {key: described()}, `objects` {key: plain()}, and `paths` {key: path in the state_dict}."""
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"format": "trainrt dcp", "version": 1, "tensors": tensors, "objects": objects,
                   "paths": {key: list(path) for key, path in paths.items()}},
                  file, allow_nan=False)


def read(path: str) -> dict[str, Any]:
    """Returns the content of dcp.json. Raises ValueError for an unsupported format or version."""
    with open(path, encoding="utf-8") as file:
        index = json.load(file)
    if index.get("format") != "trainrt dcp" or index.get("version") != 1:
        raise ValueError(f"{path} has an unsupported format: {index.get('format')!r}, version {index.get('version')!r}; supported is 'trainrt dcp', "
                         f"version 1")
    return index
