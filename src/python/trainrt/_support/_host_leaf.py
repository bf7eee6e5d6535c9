"""HostLeaf: a tensor of a framework that checkpoints contain, copied through NumPy arrays in host memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

# The runtime's name of an element type, and the NumPy type in which its bits are copied. Unsigned integers keep their bits.
_DTYPES = {"float64": ("f64", "f8"), "float32": ("f32", "f4"), "float16": ("f16", "f2"), "bfloat16": ("bf16", "u2"),
           "float8_e4m3fn": ("f8e4m3", "u1"),
           "float8_e5m2": ("f8e5m2", "u1"), "int64": ("i64", "i8"), "int32": ("i32", "i4"), "int16": ("i16", "i2"), "int8": ("i8", "i1"),
           "uint64": ("i64", "u8"), "uint32": ("i32", "u4"), "uint16": ("i16", "u2"), "uint8": ("u8", "u1"), "bool": ("bool", "?"),
           "complex64": ("f32", "f4"), "complex128": ("f64", "f8")}


class HostLeaf:
    """A tensor under its name in the checkpoint, which trainrt.State accepts in place of an array.

    `read()` returns the current array, always of the same shape and type; `write(array)` receives a new array, which it may keep. `box`, for a
    part of a tensor, is (offset, shape of the tensor)."""

    def __init__(self, name: str, shape: Sequence[int], dtype: Any, read: Callable[[], Any], write: Callable[[Any], Any], *,
                 placement: str | None = None, box: tuple[Sequence[int], Sequence[int]] | None = None) -> None:
        import numpy
        self.name = name
        self._read, self._write = read, write
        self._placement = {placement: True} if placement else {}
        self._kind = numpy.dtype(dtype)
        if self._kind.name not in _DTYPES:
            raise TypeError(f"tensor '{name}' has elements of the type {self._kind.name}; supported are {', '.join(_DTYPES)}")
        self.dtype, self._bits = _DTYPES[self._kind.name]
        pair = [2] if self._kind.kind == "c" else []
        self._given = list(shape)
        self.shape = [*map(int, shape), *pair]
        self._box = None if box is None else ([*box[0], *(0 for _ in pair)], [*box[1], *pair])
        self.nbytes = int(numpy.prod(self.shape, dtype=numpy.int64)) * numpy.dtype(self._bits).itemsize

    def add_to(self, state: Any) -> None:
        """Adds the tensor to a trainrt.State."""
        if self._box is None:
            state.tensor(self.name, self, **self._placement)
        else:
            state.slab(self.name, self, *self._box)

    def write_to(self, memory: memoryview) -> None:
        """Copies the current array into `memory`. Raises ValueError if its shape or type has changed."""
        import numpy
        array = numpy.asarray(self._read())
        if list(array.shape) != self._given or array.dtype != self._kind:
            raise ValueError(f"tensor '{self.name}' is now {array.dtype} of shape {list(array.shape)}, and was {self._kind} of shape {self._given} "
                             f"when it was added: type and shape must not change")
        if self.nbytes:
            numpy.frombuffer(memory, self._bits).reshape(self.shape)[...] = self._as_bits(array)

    def read_from(self, memory: memoryview) -> None:
        """Passes the array in `memory` to write()."""
        import numpy
        bits = numpy.frombuffer(memory, self._bits).copy() if self.nbytes else numpy.empty(0, self._bits)
        self._write(bits.view(self._kind).reshape(self._given))

    def _as_bits(self, array: Any) -> Any:
        import numpy
        return numpy.ascontiguousarray(array).reshape(-1).view(self._bits).reshape(self.shape)
