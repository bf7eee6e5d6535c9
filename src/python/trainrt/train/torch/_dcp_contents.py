"""Converts the ranks' save plans of torch.distributed.checkpoint into a trainrt.State and the file dcp.json."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import torch
from torch.distributed.checkpoint.planner import WriteItemType

from ... import _client
from . import _dcp_index
from ._leaves import Leaf


def boxes(plan: Any) -> list[Any]:
    """Returns the sorted (name, offsets) of all items in a save plan. Plans of equal state_dicts return equal lists."""
    return sorted((item.index.fqn, () if item.tensor_data is None else tuple(item.tensor_data.chunk.offsets)) for item in plan.items)


def gathered(session: Any, plan: Any, items: Sequence[Any] | None, planner: Any) -> tuple[_client.State, tuple[Any, Any, Any]]:
    """Returns the State of this rank, and the tensors, objects and paths of all ranks for dcp.json. Collective.

    `items` are the items of `plan` that this rank writes. If `items` is `None`, this function assigns each unsharded tensor to one rank. If one rank
    raises an exception, all ranks raise one."""
    mine = {"tensors": {item.index.fqn: _dcp_index.described(item.tensor_data.size, item.tensor_data.properties.dtype)
                        for item in plan.items if item.type != WriteItemType.BYTE_IO},
            "whole": sorted(item.index.fqn for item in plan.items if item.type == WriteItemType.TENSOR),
            "paths": dict(plan.planner_data or {})}
    objects = _on_all(session, lambda: {item.index.fqn: _dcp_index.plain(item.index.fqn, planner.lookup_object(item.index))
                                          for item in plan.items if item.type == WriteItemType.BYTE_IO})
    of_ranks = _of_ranks(session, mine)
    tensors, paths = _first_of(each["tensors"] for each in of_ranks), _first_of(each["paths"] for each in of_ranks)
    if items is None:
        own = _assigned(tensors, [each["whole"] for each in of_ranks])[session.world_rank]
        items = [item for item in plan.items if item.type == WriteItemType.SHARD or item.index.fqn in own]
    held: dict[str, list[Any]] = {}
    for item in items:
        if item.type != WriteItemType.BYTE_IO:
            held.setdefault(item.index.fqn, []).append(item)
    state = _client.State()
    _on_all(session, lambda: _fill(state, tensors, held, planner))
    return state, (tensors, _first_of(objects), paths)


def _on_all(session: Any, work: Callable[[], Any]) -> list[Any]:
    """Calls work() on all ranks and returns the list of results. If work() raises on one rank, all ranks raise. Collective."""
    error = result = None
    try:
        result = work()
    except Exception as failure:  # objects of a state_dict may raise any exception
        error = failure
    of_ranks = session.gather((result, None if error is None else str(error)))
    if error is not None:
        raise error
    failures = [f"rank {rank}: {text}" for rank, (_, text) in enumerate(of_ranks) if text is not None]
    if failures:
        raise RuntimeError(failures[0])
    return [each for each, _ in of_ranks]


def _of_ranks(session: Any, mine: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns a list with `mine` of each rank, in rank order. Usually, `mine` is equal on all ranks, and they exchange only digests. Collective."""
    digest = hashlib.blake2b(json.dumps(mine, sort_keys=True).encode()).digest()
    if len(set(session.gather(digest))) == 1:
        return [mine] * session.world_size
    return session.gather(mine)


def _first_of(dicts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Returns one dict with the entries of all dicts. For a key in several dicts, the first dict's value is used."""
    united: dict[str, Any] = {}
    for each in dicts:
        united = {**each, **united}
    return united


def _assigned(tensors: Mapping[str, Any], whole: Sequence[Sequence[str]]) -> list[set[str]]:
    """Returns, for each rank, the names of the unsharded tensors that the rank writes; ranks write about equally many elements. `whole` holds the
    names that each rank has. All ranks return the same list."""
    holders: dict[str, list[int]] = {}
    for rank, keys in enumerate(whole):
        for key in keys:
            holders.setdefault(key, []).append(rank)
    load = [0] * len(whole)
    own: list[set[str]] = [set() for _ in whole]
    for key in sorted(holders, key=lambda key: (-math.prod(tensors[key][1]), key)):
        rank = min(holders[key], key=load.__getitem__)
        load[rank] += math.prod(tensors[key][1]) + 1
        own[rank].add(key)
    return own


def _fill(state: _client.State, tensors: Mapping[str, Any], held: Mapping[str, list[Any]], planner: Any) -> None:
    for key, name in _dcp_index.names_of(sorted(tensors)).items():
        size, dtype = _dcp_index.size_and_dtype(tensors[key])
        given = [(planner.resolve_data(item).detach(), item.tensor_data.chunk.offsets) for item in held.get(key, [])]
        for tensor, offset in given or [(torch.empty([0] * len(size) if size else [], dtype=dtype), [0] * len(size))]:
            add_slab(state, name, tensor, offset, size, is_missing=not given)


def add_slab(state: _client.State, name: str, tensor: torch.Tensor, offset: Sequence[int], size: Sequence[int], is_missing: bool = False) -> Any:
    """Adds a slab to `state` and returns the array that the runtime saves or loads: `tensor` itself if possible. A tensor without axes is stored with
    one axis of length 1, a complex tensor with an additional last axis for real and imaginary part."""
    array = Leaf(name, tensor).array
    pair = [2] if tensor.is_complex() else []
    if not size:
        array = array.reshape([1, *pair])[:0 if is_missing else 1]
    state.slab(name, array, [*(offset if size else [0]), *([0] if pair else [])], [*(size or [1]), *pair])
    return array
