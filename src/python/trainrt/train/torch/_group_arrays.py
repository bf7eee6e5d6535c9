"""Tensors as the collectives of the process group take them, and the reductions that the runtime does not have."""

import torch
import torch.distributed as dist

NAME = "trainrt"  # of the process group

_OF_RUNTIME = {dist.ReduceOp.SUM: "sum", dist.ReduceOp.MIN: "min", dist.ReduceOp.MAX: "max"}
if hasattr(dist.ReduceOp, "AVG"):
    _OF_RUNTIME[dist.ReduceOp.AVG] = "mean"
_BY_RANKS = {dist.ReduceOp.PRODUCT: torch.mul, dist.ReduceOp.BAND: torch.bitwise_and, dist.ReduceOp.BOR: torch.bitwise_or,
             dist.ReduceOp.BXOR: torch.bitwise_xor}
_SMALL_INTEGERS = (torch.int16, torch.int8, torch.uint8, torch.bool)
_HALVES = (torch.float16, torch.bfloat16)


def of_runtime(op):
    """The runtime's word for a reduction; None if each rank does it by itself, with what all have."""
    if word := _found(_OF_RUNTIME, op):
        return word
    if _found(_BY_RANKS, op) is None:
        raise NotImplementedError(f"the process group '{NAME}' cannot reduce by {op}: it has sum, avg, min, max, product, band, bor and bxor")
    return None


def reduced(parts, op):
    """The parts of all ranks, by one tree over their numbers, ((0+1)+(2+3))+..., as the runtime reduces. Halves are rounded once."""
    function, dtype = _found(_BY_RANKS, op), parts[0].dtype
    if function is not torch.mul and dtype.is_floating_point:
        raise ValueError(f"the process group '{NAME}' reduces integers by and, or and xor, and no {dtype}")
    parts = [part.float() for part in parts] if dtype in _HALVES else list(parts)
    while len(parts) > 1:
        pairs = [function(*parts[at:at + 2]) for at in range(0, len(parts) - 1, 2)]
        parts = pairs + parts[2 * len(pairs):]
    return parts[0].to(dtype)


def array_of(tensor, widened=False):
    """The tensor, or a copy of it if it is not contiguous. widened: small integers, which the runtime does not reduce, as int32."""
    if tensor.device.type != "cpu":
        raise ValueError(f"the process group '{NAME}' is for tensors on the CPU, and was given one on {tensor.device}: use nccl")
    if tensor.layout != torch.strided:
        raise NotImplementedError(f"the process group '{NAME}' has no collectives of tensors of the layout {tensor.layout}: use gloo")
    small = widened and tensor.dtype in _SMALL_INTEGERS
    return tensor.detach().to(torch.int32 if small else tensor.dtype).contiguous()


def put_back(tensors, arrays):
    """What array_of() made of each tensor is in it; an array that is None had nothing for it."""
    for tensor, array in zip(tensors, arrays):
        if array is not None and array.data_ptr() != tensor.data_ptr():
            tensor.detach().copy_(array)


def flat(tensors):
    """A new contiguous one, of all elements of all."""
    return torch.cat([array_of(tensor).reshape(-1) for tensor in tensors])


def split_rows(tensor, sizes, ranks):
    """So many of its rows for each rank; as many for all, if `sizes` is empty."""
    if sizes:
        if len(sizes) != ranks or sum(sizes) != tensor.shape[0]:
            raise ValueError(f"the split sizes {list(sizes)} do not divide {tensor.shape[0]} rows among {ranks} ranks")
        return list(torch.split(tensor.detach(), list(sizes)))
    return split_evenly(tensor, ranks)


def split_evenly(tensor, ranks):
    """Its rows, as many for each rank."""
    if not tensor.dim() or tensor.shape[0] % ranks:
        raise ValueError(f"a tensor of the shape {list(tensor.shape)} does not divide among {ranks} ranks")
    return list(torch.chunk(tensor.detach(), ranks)) if tensor.shape[0] else [tensor.detach()] * ranks


def _found(table, op):
    """ReduceOp is no key of a dict: torch compares it with its types."""
    return next((value for known, value in table.items() if op == known), None)
