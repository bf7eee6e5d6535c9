"""Tensors of a module or an optimizer, as a checkpoint takes them."""

import math

import torch

from . import _flat_shards

try:
    from torch.distributed.tensor import DTensor, Replicate
    from torch.distributed.tensor._utils import compute_local_shape_and_global_offset
except ImportError:  # before torch 2.5
    DTensor = None


class Leaf:
    """A tensor under its name in the checkpoint. `array` is what the runtime copies: the tensor itself, the shard of it that this rank
    has, or a contiguous copy. box: (where it begins, the shape of the whole) of a part of a tensor; `number` counts those of the same tensor."""

    def __init__(self, name, tensor, per_rank=False, part_of_sum=False, box=None, number=0):
        self.name = name
        self.key = (name, number) if number else name  # as State.slab() has it
        self._placement = {"per_rank": True} if per_rank else {"part_of_sum": True} if part_of_sum else {}
        self._box = box
        local = tensor.detach()
        if DTensor is not None and isinstance(local, DTensor):
            local = self._shard(local)
        if local.layout != torch.strided or local.is_quantized or local.device.type == "meta":
            kind = "on the device meta" if local.device.type == "meta" else f"of the layout {local.layout}"
            raise TypeError(f"tensor '{name}' is {kind if not local.is_quantized else 'quantized'}, and has no elements that a checkpoint could take")
        self._given = torch.view_as_real(local) if local.is_complex() else local
        self.array = self._given.contiguous()

    def add_to(self, state):
        """Names it in a State of the runtime."""
        if self._box is None:
            state.tensor(self.name, self.array, **self._placement)
        else:
            pair = self.array.shape[len(self._box[0]):]  # of complex numbers
            state.slab(self.name, self.array, [*self._box[0], *(0 for _ in pair)], [*self._box[1], *pair])

    def put_back(self):
        """After `array` was filled."""
        if self.array.data_ptr() != self._given.data_ptr():
            self._given.copy_(self.array)

    def _shard(self, tensor):
        local = tensor.to_local()
        if all(isinstance(each, Replicate) for each in tensor.placements):
            return local
        shape, first = compute_local_shape_and_global_offset(tensor.shape, tensor.device_mesh, tensor.placements)
        if not _is_box(tensor) or tuple(shape) != tuple(local.shape):
            raise TypeError(f"tensor '{self.name}' is distributed as {tensor.placements} over a mesh of the shape {tuple(tensor.device_mesh.shape)}; a "
                            f"checkpoint takes parts that are one box each of the whole tensor: shards along its axes, over any dimensions of the mesh")
        self._box = [min(index, extent) for index, extent in zip(first, tensor.shape)], list(tensor.shape)
        return local


def _is_box(tensor):
    """Whether each rank's part is one box. Where fully_shard() shards what tensor parallelism has sharded along the same axis before, it is."""
    for number, each in enumerate(tensor.placements):
        if not (isinstance(each, Replicate) or each.is_shard() or type(each).__name__ == "_StridedShard"):
            return False  # Partial
        if type(each).__name__ == "_StridedShard":
            later = [size for size, other in zip(tensor.device_mesh.shape[number + 1:], tensor.placements[number + 1:])
                     if getattr(other, "dim", None) == each.dim]
            if math.prod(later) != each.split_factor:
                return False
    return True


def unwrapped(module):
    """The user's module inside of DDP; FullyShardedDataParallel stays."""
    while isinstance(module, (torch.nn.parallel.DistributedDataParallel, torch.nn.DataParallel)):
        module = module.module
    return getattr(module, "_orig_mod", module)  # of torch.compile()


def path_of(name):
    return name.replace(".", "/")


def named_parameters(module):
    """(name, parameter, the Share of it that this rank has; None if it is in no flat array), by the names that checkpoints have."""
    module = unwrapped(module)
    if _flat_shards.is_wrapped(module):
        yield from _flat_shards.named_parameters(module)
    else:
        yield from ((name, parameter, None) for name, parameter in module.named_parameters())


def share_leaves(name, array, share):
    """Of what this rank has of a tensor."""
    return [Leaf(name, piece, box=(list(offset), list(share.shape)), number=number) for number, (piece, offset) in enumerate(share.pieces(array))]


def module_leaves(prefix, module):
    """Statistics of batch norm are each rank's own; all else every rank has alike, or shards of it."""
    module, leaves = unwrapped(module), []
    is_wrapped = _flat_shards.is_wrapped(module)
    own = {f"{name}.{statistic}".lstrip(".") for name, part in module.named_modules() for statistic in ("running_mean", "running_var")
           if isinstance(part, torch.nn.modules.batchnorm._NormBase) and not isinstance(part, torch.nn.SyncBatchNorm)}
    own = {_flat_shards.plain_name(name) for name in own} if is_wrapped else own
    tensors = _flat_shards.named_tensors(module) if is_wrapped else ((name, tensor, None) for name, tensor in module.state_dict().items())
    for name, tensor, share in tensors:
        if not isinstance(tensor, torch.Tensor):
            raise TypeError(f"'{name}' in the state_dict of the module {type(module).__name__} is a {type(tensor).__name__}, no tensor: give it "
                            f"to save_state() and load_state() as a value of its own")
        where = f"{prefix}/{path_of(name)}"
        leaves += [Leaf(where, tensor, per_rank=name in own)] if share is None else share_leaves(where, tensor, share)
    return leaves
