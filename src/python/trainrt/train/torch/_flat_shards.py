"""Parameters of modules in FullyShardedDataParallel. That class joins parameters to flat arrays, and divides each flat array among the ranks.
A rank then holds an interval of a parameter's elements. The interval is divided into a few boxes, which are saved as slabs without a copy."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Any

import torch

_WRAPPERS = ("_fsdp_wrapped_module.", "_checkpoint_wrapped_module.", "_orig_mod.")


@dataclasses.dataclass(frozen=True)
class Share:
    """The interval of a parameter's elements that this rank holds: `count` elements from element `first`, in row-major order. They are stored from
    element `at` of an array. `is_cut` is True if other ranks may hold elements of the parameter."""

    shape: tuple[int, ...]
    first: int
    count: int
    at: int
    is_cut: bool

    def pieces(self, array: torch.Tensor) -> list[tuple[torch.Tensor, tuple[int, ...]]]:
        """Returns [(view of `array` in the shape of a box, offset of the box in the parameter)]. If `count` is 0, returns one empty box."""
        held, pieces = array.view(-1)[self.at:self.at + self.count], []
        done = 0
        for offset, extents in boxes(self.shape, self.first, self.count):
            size = math.prod(extents)
            pieces.append((held[done:done + size].view(extents), offset))
            done += size
        return pieces or [(held[:0].view([0] * len(self.shape)), (0,) * len(self.shape))]


def boxes(shape: tuple[int, ...], first: int, count: int) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Returns the boxes [(offset, extents)] that contain `count` elements from element `first` of a tensor, in order: at most 2 * axes - 1 boxes."""
    if count == 0:
        return []
    if len(shape) == 1:
        return [((first,), (count,))]
    row = math.prod(shape[1:])
    found: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    number, skipped = divmod(first, row)
    if skipped:
        head = min(row - skipped, count)
        found += _in_row(number, boxes(shape[1:], skipped, head))
        number, count = number + 1, count - head
    rows, tail = divmod(count, row)
    if rows:
        found.append(((number, *(0 for _ in shape[1:])), (rows, *shape[1:])))
    return found + _in_row(number + rows, boxes(shape[1:], 0, tail))


def _in_row(number: int, found: list[tuple[tuple[int, ...], tuple[int, ...]]]) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    return [((number, *offset), (1, *extents)) for offset, extents in found]


def is_wrapped(module: torch.nn.Module) -> bool:
    """Returns whether the module or one of its submodules is a FullyShardedDataParallel."""
    return any(_is_fsdp(part) for part in module.modules())


def plain_name(name: str) -> str:
    """Returns the name of a parameter without the prefixes that wrappers have added."""
    for wrapper in _WRAPPERS:
        name = name.replace(wrapper, "")
    return name


def named_parameters(module: torch.nn.Module) -> Iterator[tuple[str, torch.Tensor, Share | None]]:
    """Yields (name in the unwrapped module, parameter that the optimizer updates, Share) for each parameter. The Share is `None` for a parameter
    outside flat arrays. With use_orig_params=False, the optimizer updates each flat array as one parameter."""
    held = _shares_by_part(module)
    for prefix, part in module.named_modules():
        for own, (flat, number, share) in held.get(id(part), {}).items():
            if number is not None:
                parameter, inside = (flat, share) if flat._params is None else (flat._params[number], dataclasses.replace(share, at=0))
                yield _name(prefix, own), parameter, inside
        for own, parameter in _others(part, part._parameters, held):
            yield _name(prefix, own), parameter, None


def named_tensors(module: torch.nn.Module) -> Iterator[tuple[str, torch.Tensor, Share | None]]:
    """Yields (name, array, Share or `None`) for each tensor in state_dict() of the module, without gathering the shards. Raises TypeError for a
    submodule with get_extra_state()."""
    held = _shares_by_part(module)
    for prefix, part in module.named_modules(remove_duplicate=False):
        if type(part).get_extra_state is not torch.nn.Module.get_extra_state:
            raise TypeError(f"the part '{plain_name(prefix + '.')[:-1]}' of the module has state that is not a tensor (get_extra_state()): pass it "
                            f"to save_state() and load_state() as a separate value")
        for own, (flat, _, share) in held.get(id(part), {}).items():
            yield _name(prefix, own), getattr(flat, "_local_shard", flat.data), share  # _local_shard exists after the first forward()
        for own, tensor in [*_others(part, part._parameters, held), *part._buffers.items()]:
            if tensor is not None and own not in part._non_persistent_buffers_set:
                yield _name(prefix, own), tensor, None


def _name(prefix: str, own: str) -> str:
    return plain_name(f"{prefix}.{own}" if prefix else own)


def _is_fsdp(part: torch.nn.Module) -> bool:
    return any(each.__name__ == "FullyShardedDataParallel" for each in type(part).__mro__)


def _others(part: torch.nn.Module, parameters: Any, held: dict[int, dict[str, Any]]) -> list[tuple[str, Any]]:
    """Returns (name, parameter) of each parameter of the submodule `part` that is in no flat array."""
    return [(own, each) for own, each in parameters.items()
            if each is not None and own not in held.get(id(part), {}) and not hasattr(each, "_shard_param_infos")]


def _shares_by_part(module: torch.nn.Module) -> dict[int, dict[str, Any]]:
    """Returns {id(submodule): {parameter name: (flat array, index of the parameter in the flat array, Share)}}. If two submodules have one parameter
    in common, the index is `None` in the second submodule."""
    held: dict[int, dict[str, Any]] = {}
    for wrapper in module.modules():
        flat = _flat_of(wrapper) if _is_fsdp(wrapper) else None
        if flat is None:
            continue
        for number, (info, shape, where) in enumerate(zip(flat._param_infos, flat._shapes, flat._shard_param_infos)):
            held.setdefault(id(info.module), {})[info.param_name] = flat, number, _share(wrapper, shape, where)
        for info in flat._shared_param_infos:
            share = held[id(info.prim_module)][info.prim_param_name][2]
            held.setdefault(id(info.module), {})[info.param_name] = flat, None, share
    return held


def _share(wrapper: Any, shape: Any, where: Any) -> Share:
    is_cut = wrapper._handle.uses_sharded_strategy
    if not where.in_shard:
        return Share(tuple(shape), 0, 0, 0, is_cut)
    return Share(tuple(shape), where.intra_param_start_idx, where.numel_in_shard, where.offset_in_shard, is_cut)


def _flat_of(wrapper: Any) -> Any:
    """Returns the flat array of a FullyShardedDataParallel, or `None` if there is no flat array. Raises TypeError for an unsupported version of torch."""
    handle = getattr(wrapper, "_handle", _flat_of)
    flat = getattr(handle, "flat_param", None)
    if handle is _flat_of or (flat is not None and not hasattr(flat, "_shard_param_infos")):
        raise TypeError(f"the module is wrapped by FullyShardedDataParallel, which load_state() and save_state() support with torch 2.3 and later; "
                        f"this is torch {torch.__version__}: use prepare_model(parallel_strategy='ddp'), or write its state_dict() to a file "
                        f"(trainrt.State.file)")
    if flat is not None and not all(getattr(flat, "_contiguities", ())):
        raise TypeError("the module is wrapped by FullyShardedDataParallel, and has parameters that are not contiguous (row-major): set "
                        "parameter.data = parameter.data.contiguous() before it is wrapped")
    return flat
