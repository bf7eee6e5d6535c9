"""Converts tensors for the process group 'trainrt', and computes reductions that the runtime does not support."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch
import torch.distributed as dist

NAME = "trainrt"  # torch's name of the process group's backend

_OF_RUNTIME = {dist.ReduceOp.SUM: "sum", dist.ReduceOp.MIN: "min", dist.ReduceOp.MAX: "max"}
if hasattr(dist.ReduceOp, "AVG"):
    _OF_RUNTIME[dist.ReduceOp.AVG] = "mean"
_BY_RANKS = {dist.ReduceOp.PRODUCT: torch.mul, dist.ReduceOp.BAND: torch.bitwise_and, dist.ReduceOp.BOR: torch.bitwise_or,
             dist.ReduceOp.BXOR: torch.bitwise_xor}
_SMALL_INTEGERS = (torch.int16, torch.int8, torch.uint8, torch.bool)
_HALVES = (torch.float16, torch.bfloat16)


def of_runtime(op: Any) -> str | None:
    """Returns the runtime's name of the reduction `op`. Returns `None` if the runtime does not support `op` and each rank must call reduced(). Raises
    NotImplementedError if reduced() does not support `op` either."""
    if word := _found(_OF_RUNTIME, op):
        return word
    if _found(_BY_RANKS, op) is None:
        raise NotImplementedError(f"the process group '{NAME}' does not support the reduction {op}; supported are sum, avg, min, max, product, band, "
                                  f"bor and bxor")
    return None


def reduced(parts: Sequence[torch.Tensor], op: Any) -> torch.Tensor:
    """Returns the reduction of the tensors of all ranks. Ranks are combined in the same order as by the runtime: ((0+1)+(2+3))+... Results in float16
    and bfloat16 are rounded once, at the end."""
    function, dtype = _found(_BY_RANKS, op), parts[0].dtype
    if function is not torch.mul and dtype.is_floating_point:
        raise ValueError(f"the process group '{NAME}' reduces integers by and, or and xor, not {dtype}")
    parts = [part.float() for part in parts] if dtype in _HALVES else list(parts)
    while len(parts) > 1:
        pairs = [function(*parts[at:at + 2]) for at in range(0, len(parts) - 1, 2)]
        parts = pairs + parts[2 * len(pairs):]
    return parts[0].to(dtype)


def array_of(tensor: torch.Tensor, widened: bool = False) -> torch.Tensor:
    """Returns the tensor, or a contiguous copy. If `widened` is True, small integers become int32, since the runtime does not reduce small integers.
    Raises ValueError for a tensor on a GPU and NotImplementedError for a sparse tensor."""
    if tensor.device.type != "cpu":
        raise ValueError(f"the process group '{NAME}' supports tensors on the CPU only, not on {tensor.device}: use nccl")
    if tensor.layout != torch.strided:
        raise NotImplementedError(f"the process group '{NAME}' does not support the layout {tensor.layout}: use gloo")
    small = widened and tensor.dtype in _SMALL_INTEGERS
    return tensor.detach().to(torch.int32 if small else tensor.dtype).contiguous()


def put_back(tensors: Iterable[Any], arrays: Iterable[Any]) -> None:
    """Copies each array, a result of array_of(), into its tensor. Skips an array that is `None` or the tensor itself."""
    for tensor, array in zip(tensors, arrays):
        if array is not None and array.data_ptr() != tensor.data_ptr():
            tensor.detach().copy_(array)


def flat(tensors: Iterable[torch.Tensor]) -> torch.Tensor:
    """Returns a new tensor with one axis and the elements of all tensors."""
    return torch.cat([array_of(tensor).reshape(-1) for tensor in tensors])


def split_rows(tensor: torch.Tensor, sizes: Sequence[int], ranks: int) -> list[torch.Tensor]:
    """Returns one tensor per rank: sizes[r] rows for rank r, or equally many rows if `sizes` is empty. Raises ValueError for wrong sizes."""
    if sizes:
        if len(sizes) != ranks or sum(sizes) != tensor.shape[0]:
            raise ValueError(f"the split sizes {list(sizes)} do not divide {tensor.shape[0]} rows among {ranks} ranks: pass {ranks} sizes with the sum "
                             f"{tensor.shape[0]}")
        return list(torch.split(tensor.detach(), list(sizes)))
    return split_evenly(tensor, ranks)


def split_evenly(tensor: torch.Tensor, ranks: int) -> list[torch.Tensor]:
    """Returns one tensor per rank, with equally many rows each. Raises ValueError if the number of rows is not divisible by `ranks`."""
    if not tensor.dim() or tensor.shape[0] % ranks:
        raise ValueError(f"a tensor of the shape {list(tensor.shape)} does not divide among {ranks} ranks: its first axis must be a multiple of {ranks}")
    return list(torch.chunk(tensor.detach(), ranks)) if tensor.shape[0] else [tensor.detach()] * ranks


def _found(table: dict[Any, Any], op: Any) -> Any:
    """Returns the value of the reduction `op` in `table`, or `None`. Compares keys by ==, since torch's ReduceOp does not work as a key of a dict."""
    return next((value for known, value in table.items() if op == known), None)
