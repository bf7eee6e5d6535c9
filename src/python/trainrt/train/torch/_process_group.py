"""The backend 'trainrt' of torch.distributed.init_process_group(), which runs torch's collectives on the CPU through the runtime."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.distributed as dist

from ..._support import _notes
from . import _world
from ._deferred import DeferredReductions
from ._group_arrays import NAME, array_of, flat, of_runtime, put_back, reduced, split_evenly, split_rows

_MAX_ALL_TO_ALL_BYTES = 1 << 30  # maximum number of bytes that one rank receives in all_to_all()


class ProcessGroup(dist.ProcessGroup):
    """A process group of all ranks of the run, or of this rank only. torch calls the methods by name.

    Each collective is complete when the method returns, also with async_op=True. The only exception is all_reduce in DistributedDataParallel, which
    completes at the end of the backward pass. Only the thread that created the group may call its methods.

    all_to_all() sends all data to all ranks, since the runtime has no all-to-all collective. In total the ranks receive O(ranks^2) times the data of
    one rank. all_to_all() raises ValueError if a rank would receive more than 1 GiB."""

    def __init__(self, rank: int, size: int) -> None:
        super().__init__(rank, size)
        self._rank, self._size = rank, size
        self._ctx: Any = None
        if size > 1:
            self._ctx = _world.runtime()
            if self._ctx is None:
                raise RuntimeError(f"the process group '{NAME}' of {size} ranks needs a run, but trainrt did not start this process: use gloo")
            if (rank, size) != (self._ctx.world_rank, self._ctx.world_size):
                raise RuntimeError(f"rank {rank} of {size} was requested, but this is rank {self._ctx.world_rank} of {self._ctx.world_size}: the "
                                   f"process group '{NAME}' contains all ranks of the run in their order, or one rank; use gloo for other groups")
        self._deferred = DeferredReductions(self._reduce_by_runtime)
        self._name = self._description = ""

    def getBackendName(self):
        return NAME

    def setGroupName(self, name):  # torch 2 finds the group by this name
        self._name = name

    def getGroupName(self):
        return self._name

    def setGroupDesc(self, description):
        self._description = description

    def getGroupDesc(self):
        return self._description

    @property
    def _device_types(self):  # [] during init_process_group(): torch's flight recorder requires a C++ backend for each listed device
        return [torch.device("cpu")] if self in dist.distributed_c10d._world.pg_map else []

    def _get_backend(self, device):
        if torch.device(device).type != "cpu":
            raise RuntimeError(f"the process group '{NAME}' has no backend for {device}")
        return self

    # ---- reductions ----

    def allreduce(self, tensors, opts=None):
        op = _op_of(opts)
        reduction = of_runtime(op)
        if self._ctx is not None and reduction and (work := self._deferred.defer(tensors, reduction)):
            return work
        return self.allreduce_coalesced(tensors, opts)

    def allreduce_coalesced(self, tensors, opts=None):
        """Reduces all tensors of one type by one collective."""
        self._reduce(tensors, tensors, _op_of(opts))
        return _done(tensors)

    def reduce(self, tensors, opts):
        is_root = opts.rootRank == self._rank
        self._reduce(tensors, tensors if is_root else [None] * len(tensors), _op_of(opts))
        return _done(tensors)

    def reduce_scatter(self, output_tensors, input_tensors, opts=None):
        for output, parts in zip(output_tensors, input_tensors):
            self._reduce_scatter([output], [parts], opts)
        return _done(output_tensors)

    def reduce_scatter_single(self, output, tensor, opts=None):
        return self.reduce_scatter_single_coalesced([output], [tensor], opts)

    _reduce_scatter_base = reduce_scatter_single  # until torch 2.14

    def reduce_scatter_single_coalesced(self, outputs, inputs, opts=None):
        """Reduces all tensors of one type by one collective."""
        self._reduce_scatter(outputs, [split_evenly(tensor.reshape(-1), self._size) for tensor in inputs], opts)
        return _done(outputs)

    reduce_scatter_tensor_coalesced = reduce_scatter_single_coalesced  # until torch 2.14

    # ---- collectives with a root ----

    def broadcast(self, tensors, opts=None):
        root = getattr(opts, "rootRank", 0)
        for tensor in tensors:
            array = array_of(tensor)
            self._broadcast(array, root)
            put_back([tensor], [array])
        return _done(tensors)

    def scatter(self, output_tensors, input_tensors, opts):
        for number, output in enumerate(output_tensors):
            parts = input_tensors[number] if opts.rootRank == self._rank else [output] * self._size
            whole = flat(parts)
            self._broadcast(whole, opts.rootRank)
            output.detach().copy_(whole.reshape(self._size, *output.shape)[self._rank])
        return _done(output_tensors)

    def gather(self, output_tensors, input_tensors, opts):
        for number, tensor in enumerate(input_tensors):
            self._gather(output_tensors[number] if opts.rootRank == self._rank else [None] * self._size, tensor)
        return _done(output_tensors)

    def gather_single(self, output, tensor, opts):
        if opts.rootRank == self._rank:
            return self.all_gather_single(output, tensor)
        self._gather([None] * self._size, tensor)
        return _done([output])

    gather_into_tensor = gather_single  # until torch 2.14

    # ---- collectives without a root ----

    def allgather(self, output_tensors, input_tensors, opts=None):
        for outputs, tensor in zip(output_tensors, input_tensors):
            self._gather(outputs, tensor)
        return _done(output_tensors)

    def allgather_coalesced(self, output_lists, input_list, opts=None):
        """Gathers several tensors. `output_lists` has one list per rank, with an output for each tensor of `input_list`."""
        for number, tensor in enumerate(input_list):
            self._gather([outputs[number] for outputs in output_lists], tensor)
        return _done(output_lists)

    def all_gather_single(self, output, tensor, opts=None):
        whole = array_of(output)
        self._gather(_like(tensor, split_evenly(whole.reshape(-1), self._size)), tensor)
        put_back([output], [whole])
        return _done([output])

    _allgather_base = all_gather_single  # until torch 2.14

    def all_gather_single_coalesced(self, outputs, inputs, opts=None):
        for output, tensor in zip(outputs, inputs):
            self.all_gather_single(output, tensor)
        return _done(outputs)

    allgather_into_tensor_coalesced = all_gather_single_coalesced  # until torch 2.14

    def alltoall(self, output_tensors, input_tensors, opts=None):
        self._to_each(output_tensors, input_tensors)
        return _done(output_tensors)

    def all_to_all_single(self, output, tensor, output_sizes, input_sizes, opts=None):
        self._to_each(split_rows(output, output_sizes, self._size), split_rows(tensor, input_sizes, self._size))
        return _done([output])

    alltoall_base = all_to_all_single  # until torch 2.14

    def barrier(self, opts=None):
        self._deferred.flush()
        if self._ctx is not None:
            self._ctx.barrier()
        return _done([])

    # ---- coalescing, which has no effect: each collective runs at its call ----

    def start_coalescing(self, device=None):
        pass

    def end_coalescing(self, device=None):
        return _done([])

    _start_coalescing, _end_coalescing = start_coalescing, end_coalescing

    # ---- implementation ----

    def _reduce(self, inputs: Sequence[Any], outputs: Sequence[Any], op: Any) -> None:
        """Reduces inputs[i] over the ranks into outputs[i]. If outputs[i] is `None`, this rank does not receive the result."""
        self._deferred.flush()
        if of_runtime(op):
            self._reduce_by_runtime(inputs, of_runtime(op), outputs)
            return
        for tensor, output in zip(inputs, outputs):
            parts = [torch.empty_like(array_of(tensor)) for _ in range(self._size)]
            self._gather(parts, tensor)
            result = reduced(parts, op)
            if output is not None:
                output.detach().copy_(result)

    def _reduce_by_runtime(self, inputs: Sequence[Any], op: str | None, outputs: Sequence[Any] | None = None) -> None:
        outputs = outputs or inputs
        arrays = [array_of(tensor, widened=True) for tensor in inputs]
        into = [array if output is tensor else None if output is None else array_of(output, widened=True)
                for tensor, array, output in zip(inputs, arrays, outputs)]
        if self._ctx is None:
            into = arrays
        for dtype in dict.fromkeys(array.dtype for array in arrays) if self._ctx else ():
            chosen = [number for number, array in enumerate(arrays) if array.dtype == dtype]
            self._ctx._all_reduce_together([arrays[number] for number in chosen], op, [into[number] for number in chosen])
        put_back(outputs, into)

    def _reduce_scatter(self, outputs: Sequence[Any], lists: Sequence[Any], opts: Any) -> None:
        """Reduces lists[i][r] over the ranks into outputs[i] of rank r."""
        arrays = [array_of(output) for output in outputs]
        results = [array.reshape(parts[rank].shape) if rank == self._rank else None
                   for array, parts in zip(arrays, lists) for rank in range(self._size)]
        self._reduce([part for parts in lists for part in parts], results, _op_of(opts))
        put_back(outputs, arrays)

    def _broadcast(self, array: torch.Tensor, root: int) -> None:
        self._deferred.flush()
        if self._ctx is not None:
            self._ctx.broadcast(array, root)

    def _gather(self, outputs: Sequence[Any], tensor: torch.Tensor, first: Sequence[int] | None = None) -> None:
        """Copies the tensor of each rank r, from element first[r], into outputs[r]. Skips outputs that are `None`."""
        self._deferred.flush()
        array = array_of(tensor)
        if self._ctx is None:
            put_back(outputs, [array if not first else array.reshape(-1)[first[0]:].reshape(outputs[0].shape)])
            return
        arrays = [None if output is None else array_of(output) for output in outputs]
        for output in arrays:
            if output is not None and not first and (output.dtype, output.numel()) != (array.dtype, array.numel()):
                raise ValueError(f"an output of the process group '{NAME}' has {output.numel()} elements of {output.dtype}, but the input "
                                 f"has {array.numel()} of {array.dtype}")
        self._ctx._all_gather_into(arrays, array, first)
        put_back(outputs, arrays)

    def _to_each(self, outputs: Sequence[torch.Tensor], inputs: Sequence[torch.Tensor]) -> None:
        """Sends inputs[r] to rank r. All ranks gather all inputs. Raises ValueError if sizes do not match or the gathered inputs exceed the maximum."""
        counts = [torch.zeros(self._size, dtype=torch.int64) for _ in range(self._size)]
        self._gather(counts, torch.tensor([tensor.numel() for tensor in inputs]))
        sent, taken = [int(count[self._rank]) for count in counts], [output.numel() for output in outputs]
        length = max(int(count.sum()) for count in counts)
        nbytes = self._size * length * inputs[0].element_size()
        if nbytes > _MAX_ALL_TO_ALL_BYTES:
            raise ValueError(f"all_to_all of the process group '{NAME}' would send {nbytes} bytes to each rank, since all ranks receive the data of "
                             f"all; the maximum is {_MAX_ALL_TO_ALL_BYTES}: use group=torch.distributed.new_group(backend='gloo')")
        whole = torch.zeros(length, dtype=inputs[0].dtype)
        mine = flat(inputs)
        whole[:mine.numel()] = mine
        if sent != taken or any(output.dtype != whole.dtype for output in outputs):
            raise ValueError(f"the outputs of all_to_all on rank {self._rank} have {taken} elements, but the ranks send {sent} of {whole.dtype}")
        self._gather(outputs, whole, [int(count[:self._rank].sum()) for count in counts])


def _unsupported(name: str) -> Any:
    def method(self: Any, *_: Any, **__: Any) -> None:
        raise NotImplementedError(f"the process group '{NAME}' has no {name}: the runtime's collectives need all ranks; "
                                  f"use group=torch.distributed.new_group(backend=\"gloo\")")
    return method


for _each in ("send", "recv", "recv_anysource"):
    setattr(ProcessGroup, _each, _unsupported(_each))


def register() -> None:
    """Registers the backend 'trainrt' with torch.distributed, once per process."""
    if hasattr(dist.Backend, NAME.upper()):
        return
    of_devices = {"devices": ["cpu"]} if int(torch.__version__.split(".", maxsplit=1)[0]) >= 2 else {}
    dist.Backend.register_backend(NAME, _made, **of_devices)


def _made(store: Any, rank: int, size: int, timeout: Any) -> Any:
    """Returns a new process group of `size` ranks. A group of a subset of the ranks uses gloo, since the runtime's collectives need all ranks."""
    ctx = _world.runtime()
    if ctx is not None and 1 < size < ctx.world_size:
        _notes.say(f"a process group of some of the ranks uses gloo: '{NAME}' supports groups of all {ctx.world_size} ranks, or of one")
        return dist.ProcessGroupGloo(store, rank, size, timeout=timeout)
    return ProcessGroup(rank, size)


def _op_of(opts: Any) -> Any:
    return getattr(opts, "reduceOp", dist.ReduceOp.SUM)


def _like(tensor: torch.Tensor, parts: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    return [part.reshape(tensor.shape) for part in parts]


def _done(result: Any) -> Any:
    """Returns a completed torch Work with this result. torch may use the Work after Python has released it."""
    future = torch.futures.Future()
    future.set_result(result)
    return torch._C._distributed_c10d._create_work_from_future(future)
