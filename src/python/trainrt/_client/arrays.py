"""Views of arrays and tensors, which copy the data to and from memory that the program shares with its runtime."""

from __future__ import annotations

import copy
import sys
from typing import Any

from .values import kind_of

# The runtime's names of element types: by (format, item size) of Python's buffer protocol, and by torch's name.
_BUFFER_DTYPES = {("d", 8): "f64", ("f", 4): "f32", ("e", 2): "f16", ("q", 8): "i64", ("l", 8): "i64", ("i", 4): "i32", ("h", 2): "i16",
                  ("b", 1): "i8", ("B", 1): "u8", ("?", 1): "bool"}
_TORCH_DTYPES = {"float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16", "float8_e4m3fn": "f8e4m3", "float8_e5m2": "f8e5m2",
                 "int64": "i64", "int32": "i32", "int16": "i16", "int8": "i8", "uint8": "u8", "bool": "bool"}


class HostArray:
    """View of an array in host memory. The view holds a reference to the array."""

    def __init__(self, label: str, array: Any) -> None:
        try:
            view = memoryview(array)
        except (TypeError, ValueError, BufferError) as error:
            advice = ". For modules and optimizers of torch, call load_state() and save_state() of trainrt.train.torch" if hasattr(array, "state_dict") else ""
            raise TypeError(f"{label} is {kind_of(array)}; it must be a NumPy array, an array.array, another writable "
                            f"buffer, or a torch tensor ({error}){advice}") from None
        layout = view.format.lstrip("@=" + ("<" if sys.byteorder == "little" else ">"))
        dtype = _BUFFER_DTYPES.get((layout, view.itemsize))
        if dtype is None:
            raise TypeError(f"{label} has elements of the type {view.format!r}; it must be one of {', '.join(_BUFFER_DTYPES.values())}, in the "
                            f"byte order of this machine")
        if view.readonly:
            raise ValueError(f"{label} is read-only, and a restore must fill it: use a copy that owns its memory")
        if not view.c_contiguous:
            raise ValueError(f"{label} is not contiguous (row-major): use numpy.ascontiguousarray(...) or tensor.contiguous()")
        self.dtype = dtype
        self.shape = list(view.shape or ())
        self.nbytes = view.nbytes
        self._bytes = view.cast("B") if view.nbytes else memoryview(b"")

    def write_to(self, memory: memoryview) -> None:
        """Copies the array into `memory`, `nbytes` bytes of shared memory."""
        memory[:] = self._bytes

    def read_from(self, memory: memoryview) -> None:
        """Fills the array from `memory`."""
        if self.nbytes:
            self._bytes[:] = memory


class TorchTensor:
    """View of a torch tensor on any device. The data is copied by torch and not through NumPy, because FSDP resizes the storage of tensors, which torch
    refuses while a NumPy view of the tensor exists."""

    def __init__(self, torch: Any, tensor: Any, dtype: str) -> None:
        self._torch, self._tensor, self.dtype = torch, tensor.detach(), dtype
        self.shape = list(tensor.shape)
        self.nbytes = tensor.numel() * tensor.element_size()

    def _on_host(self, memory: memoryview) -> Any:
        return self._torch.frombuffer(memory, dtype=self._tensor.dtype).reshape(self._tensor.shape)

    def write_to(self, memory: memoryview) -> None:
        """Copies the tensor into `memory`, `nbytes` bytes of shared memory."""
        if self.nbytes:
            self._on_host(memory).copy_(self._tensor)

    def read_from(self, memory: memoryview) -> None:
        """Fills the tensor from `memory`."""
        if self.nbytes:
            self._tensor.copy_(self._on_host(memory))


def array_view(label: str, array: Any) -> Any:
    """Returns a view of an array, with `dtype`, `shape`, `nbytes`, write_to() and read_from(). An object that already has these methods is returned
    unchanged. Raises TypeError or ValueError for an array that cannot be copied. `label` names the array in messages."""
    if hasattr(array, "write_to") and hasattr(array, "read_from"):
        return array
    torch: Any = sys.modules.get("torch")
    if torch is None or not isinstance(array, torch.Tensor):
        return HostArray(label, array)
    name = str(array.dtype).removeprefix("torch.")
    if name not in _TORCH_DTYPES:
        raise TypeError(f"{label} has elements of the type {array.dtype}; it must be one of {', '.join(_TORCH_DTYPES)}")
    if array.device.type == "cpu" and not array.is_contiguous():
        raise ValueError(f"{label} is not contiguous (row-major): use tensor.contiguous()")
    return TorchTensor(torch, array, _TORCH_DTYPES[name])


def copy_of(label: str, array: Any) -> Any:
    """Returns a new array of the same kind, type and shape. Raises TypeError if the array cannot be copied."""
    torch: Any = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        return array.detach().clone()
    try:
        return copy.copy(array)
    except TypeError:
        raise TypeError(f"{label} is {kind_of(array)}, which cannot be copied; use a NumPy array, an array.array or a torch "
                        f"tensor") from None
