"""What a checkpoint of torch.distributed.checkpoint holds besides the bytes of its tensors, as JSON and without pickle: the file dcp.json
beside them."""

import json

import torch

from ..._support import _plain_tree
from ._leaves import path_of

FILE = "dcp.json"


class _Plain(_plain_tree.Writer):
    """Numbers, texts, None, and lists, tuples and dicts of them, in JSON alone."""

    def __init__(self):
        super().__init__(None)

    def _array(self, where, value):
        if hasattr(value, "item") and getattr(value, "shape", None) == () and not isinstance(value, torch.Tensor):  # a scalar of NumPy
            return self.encoded(where, value.item())
        raise TypeError(f"CheckpointWriter: '{where}' is a {type(value).__name__}, which has no form in a checkpoint without pickle: tensors have, and "
                        f"numbers, texts, None, and lists, tuples and dicts of them. Leave it out of the state_dict, or make it one of these")

    def _place(self, data):
        raise TypeError("CheckpointWriter: bytes have no form in a checkpoint of tensors: give a text, or a tensor of uint8")


def plain(name, value):
    """An object as JSON has it. TypeError, which names it, if it has no such form."""
    try:
        return _Plain().encoded(name, value)
    except TypeError as error:
        raise TypeError(str(error) if f"'{name}" in str(error) else f"{error} ('{name}')") from None


def from_plain(encoded):
    return _plain_tree.decoded(encoded, b"")


def described(size, dtype):
    """A tensor in the index."""
    return [str(dtype).split(".")[1], list(size)]


def size_and_dtype(description):
    dtype, size = description
    return torch.Size(size), getattr(torch, dtype)


def names_of(keys):
    """{key: its name in HDF5}: layer.weight is layer/weight, unless two names were the same then, or one a folder of the other."""
    names = {key: path_of(key) for key in keys}
    folders = {name[:at] for name in names.values() for at, letter in enumerate(name) if letter == "/"}
    if len(set(names.values())) < len(names) or not folders.isdisjoint(names.values()):
        return {key: key for key in keys}
    return names


def write(path, tensors, objects, paths):
    """tensors: {key: described()}; objects: {key: plain()}; paths: {key: where it is in the state_dict}."""
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"format": "trainrt dcp", "version": 1, "tensors": tensors, "objects": objects, "paths": {key: list(path) for key, path in paths.items()}},
                  file, allow_nan=False)


def read(path):
    with open(path, encoding="utf-8") as file:
        index = json.load(file)
    if index.get("format") != "trainrt dcp" or index.get("version") != 1:
        raise ValueError(f"{path} is no index of this version of trainrt: {index.get('format')!r}, version {index.get('version')!r}")
    return index
