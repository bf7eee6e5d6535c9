"""What a save of torch.distributed.checkpoint gives the runtime: from the plans of the ranks to a State of slabs, and the index."""

import hashlib
import json
import math

import torch
from torch.distributed.checkpoint.planner import WriteItemType

from ... import _client
from . import _dcp_index
from ._leaves import Leaf


def boxes(plan):
    """What a plan saves: the same for equal state_dicts."""
    return sorted((item.index.fqn, () if item.tensor_data is None else tuple(item.tensor_data.chunk.offsets)) for item in plan.items)


def gathered(session, plan, items, planner):
    """(the State of this rank, tensors, objects and paths of all for the index). `items` are those of the plan that this rank writes; None: the
    ranks have not agreed, and whole tensors are dealt out here. What one rank raises all raise. Collective."""
    mine = {"tensors": {item.index.fqn: _dcp_index.described(item.tensor_data.size, item.tensor_data.properties.dtype)
                        for item in plan.items if item.type != WriteItemType.BYTE_IO},
            "whole": sorted(item.index.fqn for item in plan.items if item.type == WriteItemType.TENSOR),
            "paths": dict(plan.planner_data or {})}
    objects = _together(session, lambda: {item.index.fqn: _dcp_index.plain(item.index.fqn, planner.lookup_object(item.index))
                                          for item in plan.items if item.type == WriteItemType.BYTE_IO})
    of_ranks = _of_ranks(session, mine)
    tensors, paths = _first_of(each["tensors"] for each in of_ranks), _first_of(each["paths"] for each in of_ranks)
    if items is None:
        own = _dealt(tensors, [each["whole"] for each in of_ranks])[session.world_rank]
        items = [item for item in plan.items if item.type == WriteItemType.SHARD or item.index.fqn in own]
    held = {}
    for item in items:
        if item.type != WriteItemType.BYTE_IO:
            held.setdefault(item.index.fqn, []).append(item)
    state = _client.State()
    _together(session, lambda: _fill(state, tensors, held, planner))
    return state, (tensors, _first_of(objects), paths)


def _together(session, work):
    """What work() returns on each rank. If it raises on one, all raise."""
    error = result = None
    try:
        result = work()
    except Exception as failure:  # whatever a state_dict holds
        error = failure
    of_ranks = session.gather((result, None if error is None else str(error)))
    if error is not None:
        raise error
    failures = [f"rank {rank}: {text}" for rank, (_, text) in enumerate(of_ranks) if text is not None]
    if failures:
        raise RuntimeError(failures[0])
    return [each for each, _ in of_ranks]


def _of_ranks(session, mine):
    """What each rank has. Most often all have the same, and a digest is all that travels."""
    digest = hashlib.blake2b(json.dumps(mine, sort_keys=True).encode()).digest()
    if len(set(session.gather(digest))) == 1:
        return [mine] * session.world_size
    return session.gather(mine)


def _first_of(dicts):
    """All of them in one; of what several have, the first counts."""
    united = {}
    for each in dicts:
        united = {**each, **united}
    return united


def _dealt(tensors, whole):
    """Which of the whole tensors each rank writes: one that has it, so that all write about as much. The same on all ranks."""
    holders = {}
    for rank, keys in enumerate(whole):
        for key in keys:
            holders.setdefault(key, []).append(rank)
    load, own = [0] * len(whole), [set() for _ in whole]
    for key in sorted(holders, key=lambda key: (-math.prod(tensors[key][1]), key)):
        rank = min(holders[key], key=load.__getitem__)
        load[rank] += math.prod(tensors[key][1]) + 1
        own[rank].add(key)
    return own


def _fill(state, tensors, held, planner):
    for key, name in _dcp_index.names_of(sorted(tensors)).items():
        size, dtype = _dcp_index.size_and_dtype(tensors[key])
        given = [(planner.resolve_data(item).detach(), item.tensor_data.chunk.offsets) for item in held.get(key, [])]
        for tensor, offset in given or [(torch.empty([0] * len(size) if size else [], dtype=dtype), [0] * len(size))]:
            add_slab(state, name, tensor, offset, size, is_missing=not given)


def add_slab(state, name, tensor, offset, size, is_missing=False):
    """A tensor without axes has one of length 1 there; a complex one has another behind, of real and imaginary parts. Returns the array
    that is saved and filled: the tensor itself where it can be."""
    array = Leaf(name, tensor).array
    pair = [2] if tensor.is_complex() else []
    if not size:
        array = array.reshape([1, *pair])[:0 if is_missing else 1]
    state.slab(name, array, [*(offset if size else [0]), *([0] if pair else [])], [*(size or [1]), *pair])
    return array
