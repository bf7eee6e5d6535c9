"""Modules in torch's class FullyShardedDataParallel. It joins parameters to one flat array and cuts that among the ranks, so what a rank
has of a parameter is an interval of its elements: a few boxes of the whole tensor, and so slabs of a checkpoint, where they lie."""

import dataclasses
import math

import torch

_WRAPPERS = ("_fsdp_wrapped_module.", "_checkpoint_wrapped_module.", "_orig_mod.")


@dataclasses.dataclass(frozen=True)
class Share:
    """What this rank has of a parameter of this shape: `count` elements from `first` on, in row-major order. They are those from `at` on of the
    array that holds them. is_cut: other ranks may have others."""

    shape: tuple
    first: int
    count: int
    at: int
    is_cut: bool

    def pieces(self, array):
        """[(a part of the array in the shape of its box, where that begins in the whole)]; one without elements if this rank has none."""
        held, pieces = array.view(-1)[self.at:self.at + self.count], []
        done = 0
        for offset, extents in boxes(self.shape, self.first, self.count):
            size = math.prod(extents)
            pieces.append((held[done:done + size].view(extents), offset))
            done += size
        return pieces or [(held[:0].view([0] * len(self.shape)), (0,) * len(self.shape))]


def boxes(shape, first, count):
    """The interval of elements as boxes, (offset, extents), in the order of the elements: at most two for each axis but the last, and one."""
    if count == 0:
        return []
    if len(shape) == 1:
        return [((first,), (count,))]
    row, found = math.prod(shape[1:]), []
    number, skipped = divmod(first, row)
    if skipped:
        head = min(row - skipped, count)
        found += _in_row(number, boxes(shape[1:], skipped, head))
        number, count = number + 1, count - head
    rows, tail = divmod(count, row)
    if rows:
        found.append(((number, *(0 for _ in shape[1:])), (rows, *shape[1:])))
    return found + _in_row(number + rows, boxes(shape[1:], 0, tail))


def _in_row(number, found):
    return [((number, *offset), (1, *extents)) for offset, extents in found]


def is_wrapped(module):
    """Whether it or a part of it is in the class."""
    return any(_is_fsdp(part) for part in module.modules())


def plain_name(name):
    """Without what wrappers have added."""
    for wrapper in _WRAPPERS:
        name = name.replace(wrapper, "")
    return name


def named_parameters(module):
    """(name, what an optimizer has for it, the Share of it) of each parameter, with the names of the module before it was wrapped; None for the
    Share of one that is as it was. With use_orig_params=False the parameters of a flat array are one for the optimizer."""
    held = _held(module)
    for prefix, part in module.named_modules():
        for own, (flat, number, share) in held.get(id(part), {}).items():
            if number is not None:
                parameter, inside = (flat, share) if flat._params is None else (flat._params[number], dataclasses.replace(share, at=0))
                yield _name(prefix, own), parameter, inside
        for own, parameter in _others(part, part._parameters, held):
            yield _name(prefix, own), parameter, None


def named_tensors(module):
    """(name, array, the Share of it or None) of all that the state_dict() of the module would have, without bringing the shards together."""
    held = _held(module)
    for prefix, part in module.named_modules(remove_duplicate=False):
        if type(part).get_extra_state is not torch.nn.Module.get_extra_state:
            raise TypeError(f"the part '{plain_name(prefix + '.')[:-1]}' of the module has a state of its own (get_extra_state()), no tensor: give it to "
                            f"save_state() and load_state() as a value of its own")
        for own, (flat, _, share) in held.get(id(part), {}).items():
            yield _name(prefix, own), getattr(flat, "_local_shard", flat.data), share  # there is none before the first forward()
        for own, tensor in [*_others(part, part._parameters, held), *part._buffers.items()]:
            if tensor is not None and own not in part._non_persistent_buffers_set:
                yield _name(prefix, own), tensor, None


def _name(prefix, own):
    return plain_name(f"{prefix}.{own}" if prefix else own)


def _is_fsdp(part):
    return any(each.__name__ == "FullyShardedDataParallel" for each in type(part).__mro__)


def _others(part, parameters, held):
    """Parameters that are in no flat array."""
    return [(own, each) for own, each in parameters.items()
            if each is not None and own not in held.get(id(part), {}) and not hasattr(each, "_shard_param_infos")]


def _held(module):
    """{id(part): {name of a parameter in it: (the flat array, its number there, its Share)}}; of one that several parts have in common, the others
    have no number."""
    held = {}
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


def _share(wrapper, shape, where):
    is_cut = wrapper._handle.uses_sharded_strategy
    if not where.in_shard:
        return Share(tuple(shape), 0, 0, 0, is_cut)
    return Share(tuple(shape), where.intra_param_start_idx, where.numel_in_shard, where.offset_in_shard, is_cut)


def _flat_of(wrapper):
    """Its flat array; None if it has none of its own."""
    handle = getattr(wrapper, "_handle", _flat_of)
    flat = getattr(handle, "flat_param", None)
    if handle is _flat_of or (flat is not None and not hasattr(flat, "_shard_param_infos")):
        raise TypeError(f"the module is wrapped by FullyShardedDataParallel, which load_state() and save_state() take with torch 2.3 and later, and this is "
                        f"torch {torch.__version__}: use prepare_model(parallel_strategy='ddp') here, or keep what its state_dict() gives in a file "
                        f"(trainrt.State.file)")
    if flat is not None and not all(getattr(flat, "_contiguities", ())):
        raise TypeError("the module is wrapped by FullyShardedDataParallel, and has parameters that are not contiguous (row-major): make them so, as "
                        "parameter.data = parameter.data.contiguous(), before it is wrapped")
    return flat
