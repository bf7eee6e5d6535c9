"""Leaves, the named tensors of a checkpoint, and the leaves of a module."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from typing import Any

import torch

from ..._client.values import kind_of
from . import _flat_shards


class Leaf:
    """A tensor and its name in the checkpoint. The runtime saves and loads `array`: the tensor, this rank's shard of the tensor, or a contiguous copy.

    If `tensor` is a slice of a larger tensor, `box` is (offset, shape of the larger tensor), and `number` is the index of the slice. Raises
    TypeError for a tensor that checkpoints do not support."""

    def __init__(self, name: str, tensor: Any, per_rank: bool = False, part_of_sum: bool = False, box: Any = None, number: int = 0) -> None:
        self.name = name
        self.key = (name, number) if number else name  # key of the tensor in a trainrt.State; see State.slab()
        self._placement = {"per_rank": True} if per_rank else {"part_of_sum": True} if part_of_sum else {}
        self._box: Any = box
        local = tensor.detach()
        if _is_dtensor(local):
            local = self._shard(local)
        if local.layout != torch.strided or local.is_quantized or local.device.type == "meta":
            kind = "on the device meta" if local.device.type == "meta" else f"of the layout {local.layout}"
            raise TypeError(f"tensor '{name}' is {kind if not local.is_quantized else 'quantized'}, which checkpoints do not support")
        self._given = torch.view_as_real(local) if local.is_complex() else local
        self.array = self._given.contiguous()

    def add_to(self, state: Any) -> None:
        """Adds the tensor to a trainrt.State."""
        if self._box is None:
            state.tensor(self.name, self.array, **self._placement)
        else:
            pair = self.array.shape[len(self._box[0]):]  # last axis of a complex tensor
            state.slab(self.name, self.array, [*self._box[0], *(0 for _ in pair)], [*self._box[1], *pair])

    def put_back(self) -> None:
        """Copies `array`, after the runtime has loaded it, into the tensor."""
        if self.array.data_ptr() != self._given.data_ptr():
            self._given.copy_(self.array)

    def _shard(self, tensor: Any) -> torch.Tensor:
        from torch.distributed.tensor._utils import compute_local_shape_and_global_offset
        local = tensor.to_local()
        if all(each.is_replicate() for each in tensor.placements):
            return local
        shape, first = compute_local_shape_and_global_offset(tensor.shape, tensor.device_mesh, tensor.placements)
        if not _is_box(tensor) or tuple(shape) != tuple(local.shape):
            raise TypeError(f"tensor '{self.name}' is distributed as {tensor.placements} over a mesh of the shape {tuple(tensor.device_mesh.shape)}; "
                            f"checkpoints support a distributed tensor only if each rank holds one box of it, that is, one range of indices along each axis")
        self._box = [min(index, extent) for index, extent in zip(first, tensor.shape)], list(tensor.shape)
        return local


def _is_dtensor(tensor: Any) -> bool:
    """Returns whether the tensor is a DTensor. Does not import torch.distributed.tensor, which takes longer than torch itself; torch before 2.5 has no such
    module."""
    module = sys.modules.get("torch.distributed.tensor")
    return module is not None and isinstance(tensor, module.DTensor)


def _is_box(tensor: Any) -> bool:
    """Returns whether each rank's shard of a DTensor is one box. The shard may have been sharded by tensor parallelism and then by fully_shard()."""
    for number, each in enumerate(tensor.placements):
        if not (each.is_replicate() or each.is_shard() or type(each).__name__ == "_StridedShard"):
            return False  # Partial
        if type(each).__name__ == "_StridedShard":
            later = [size for size, other in zip(tensor.device_mesh.shape[number + 1:], tensor.placements[number + 1:])
                     if getattr(other, "dim", None) == each.dim]
            if math.prod(later) != each.split_factor:
                return False
    return True


def unwrapped(module: Any) -> Any:
    """Returns the user's module without DistributedDataParallel, DataParallel and torch.compile(). Keeps FullyShardedDataParallel."""
    while isinstance(module, (torch.nn.parallel.DistributedDataParallel, torch.nn.DataParallel)):
        module = module.module
    return getattr(module, "_orig_mod", module)  # torch.compile() sets _orig_mod


def path_of(name: str) -> str:
    """Returns the checkpoint name of a tensor from its torch name: layer/weight for layer.weight."""
    return name.replace(".", "/")


def named_parameters(module: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yields (name in the unwrapped module, parameter, Share) for each parameter. The Share is `None` for a parameter that is in no flat array."""
    module = unwrapped(module)
    if _flat_shards.is_wrapped(module):
        yield from _flat_shards.named_parameters(module)
    else:
        yield from ((name, parameter, None) for name, parameter in module.named_parameters())


def share_leaves(name: str, array: Any, share: _flat_shards.Share) -> list[Leaf]:
    """Returns the leaves of `share`, the interval of a tensor's elements that this rank holds in `array`."""
    return [Leaf(name, piece, box=(list(offset), list(share.shape)), number=number) for number, (piece, offset) in enumerate(share.pieces(array))]


def module_leaves(prefix: str, module: Any) -> list[Leaf]:
    """Returns the leaves of all tensors in state_dict() of a module. Statistics of batch norm are saved per rank. Other tensors must be equal on all
    ranks, or sharded. Raises TypeError for an entry that is not a tensor."""
    module = unwrapped(module)
    leaves: list[Leaf] = []
    is_wrapped = _flat_shards.is_wrapped(module)
    own = {f"{name}.{statistic}".lstrip(".") for name, part in module.named_modules() for statistic in ("running_mean", "running_var")
           if isinstance(part, torch.nn.modules.batchnorm._NormBase) and not isinstance(part, torch.nn.SyncBatchNorm)}
    own = {_flat_shards.plain_name(name) for name in own} if is_wrapped else own
    tensors = _flat_shards.named_tensors(module) if is_wrapped else ((name, tensor, None) for name, tensor in module.state_dict().items())
    for name, tensor, share in tensors:
        if not isinstance(tensor, torch.Tensor):
            raise TypeError(f"'{name}' in the state_dict of the module {type(module).__name__} is {kind_of(tensor)}, not a tensor: pass it "
                            f"to save_state() and load_state() as a separate value")
        where = f"{prefix}/{path_of(name)}"
        leaves += [Leaf(where, tensor, per_rank=name in own)] if share is None else share_leaves(where, tensor, share)
    return leaves
