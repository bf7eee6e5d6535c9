"""torch.distributed.init_process_group("trainrt"): the collectives of scripts that wrap DDP themselves, on the CPU, by the runtime."""

import torch
import torch.distributed as dist

from ..._support import _notes
from . import _world
from ._group_arrays import NAME, array_of, flat, of_runtime, put_back, reduced, split_evenly, split_rows
from ._deferred import Held

_OF_TWO = ("send", "recv", "recv_anysource")


class ProcessGroup(dist.ProcessGroup):
    """All ranks of the run, or this one alone. Each collective has ended when it returns, and async_op=True gives a Work that waits for
    nothing; but for the all_reduces of DDP, which end with the backward pass."""

    def __init__(self, rank, size):
        super().__init__(rank, size)
        self._rank, self._size = rank, size
        self._ctx = _world.runtime() if size > 1 else None
        if size > 1 and self._ctx is None:
            raise RuntimeError(f"the process group '{NAME}' of {size} ranks needs a run, and trainrt did not start this process: use gloo")
        if size > 1 and (rank, size) != (self._ctx.world_rank, self._ctx.world_size):
            raise RuntimeError(f"rank {rank} of {size} was asked for, and this is rank {self._ctx.world_rank} of {self._ctx.world_size}: the process "
                               f"group '{NAME}' is of all ranks of the run in their order, or of one; use gloo for others")
        self._held = Held(self._reduce_by_runtime)
        self._name = self._description = ""

    # Names from here on are torch's.

    def getBackendName(self):
        return NAME

    def setGroupName(self, name):  # by which the operators of torch 2 find it
        self._name = name

    def getGroupName(self):
        return self._name

    def setGroupDesc(self, description):
        self._description = description

    def getGroupDesc(self):
        return self._description

    @property
    def _device_types(self):  # none while torch makes the group: its flight recorder wants a backend in C++
        return [torch.device("cpu")] if self in dist.distributed_c10d._world.pg_map else []

    def _get_backend(self, device):
        if torch.device(device).type != "cpu":
            raise RuntimeError(f"the process group '{NAME}' has no backend for {device}")
        return self

    # ---- reductions ----

    def allreduce(self, tensors, opts=None):
        op = _op_of(opts)
        if self._ctx is not None and of_runtime(op) and (work := self._held.hold(tensors, of_runtime(op))):
            return work
        return self.allreduce_coalesced(tensors, opts)

    def allreduce_coalesced(self, tensors, opts=None):
        """The ranks meet once for all tensors of a type."""
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
        """The ranks meet once for all tensors of a type."""
        self._reduce_scatter(outputs, [split_evenly(tensor.reshape(-1), self._size) for tensor in inputs], opts)
        return _done(outputs)

    reduce_scatter_tensor_coalesced = reduce_scatter_single_coalesced  # until torch 2.14

    # ---- from one to all, and from all to one ----

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

    # ---- from all to all ----

    def allgather(self, output_tensors, input_tensors, opts=None):
        for outputs, tensor in zip(output_tensors, input_tensors):
            self._gather(outputs, tensor)
        return _done(output_tensors)

    def allgather_coalesced(self, output_lists, input_list, opts=None):
        """output_lists: one of all tensors for each rank."""
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
        self._held.release()
        if self._ctx is not None:
            self._ctx.barrier()
        return _done([])

    # ---- several at once: each is carried out as it comes ----

    def start_coalescing(self, device=None):
        pass

    def end_coalescing(self, device=None):
        return _done([])

    _start_coalescing, _end_coalescing = start_coalescing, end_coalescing

    # ---- on tensors as the runtime takes them ----

    def _reduce(self, inputs, outputs, op):
        """outputs: where the result of each input goes, None if nobody asks for it."""
        self._held.release()
        if of_runtime(op):
            self._reduce_by_runtime(inputs, of_runtime(op), outputs)
            return
        for tensor, output in zip(inputs, outputs):
            parts = [torch.empty_like(array_of(tensor)) for _ in range(self._size)]
            self._gather(parts, tensor)
            result = reduced(parts, op)
            if output is not None:
                output.detach().copy_(result)

    def _reduce_by_runtime(self, inputs, op, outputs=None):
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

    def _reduce_scatter(self, outputs, lists, opts):
        """lists: for each output a part for every rank."""
        arrays = [array_of(output) for output in outputs]
        results = [array.reshape(parts[rank].shape) if rank == self._rank else None
                   for array, parts in zip(arrays, lists) for rank in range(self._size)]
        self._reduce([part for parts in lists for part in parts], results, _op_of(opts))
        put_back(outputs, arrays)

    def _broadcast(self, array, root):
        self._held.release()
        if self._ctx is not None:
            self._ctx.broadcast(array, root)

    def _gather(self, outputs, tensor, first=None):
        """outputs[r], if it is not None, gets what rank r has in its tensor, from its element first[r] on."""
        self._held.release()
        array = array_of(tensor)
        if self._ctx is None:
            put_back(outputs, [array if not first else array.reshape(-1)[first[0]:].reshape(outputs[0].shape)])
            return
        arrays = [None if output is None else array_of(output) for output in outputs]
        for output in arrays:
            if output is not None and not first and (output.dtype, output.numel()) != (array.dtype, array.numel()):
                raise ValueError(f"an output of the process group '{NAME}' has {output.numel()} elements of {output.dtype}, and the input "
                                 f"{array.numel()} of {array.dtype}")
        self._ctx._all_gather_into(arrays, array, first)
        put_back(outputs, arrays)

    def _to_each(self, outputs, inputs):
        """inputs[r] is for rank r. All ranks see what is for all, and take their own."""
        counts = [torch.zeros(self._size, dtype=torch.int64) for _ in range(self._size)]
        self._gather(counts, torch.tensor([tensor.numel() for tensor in inputs]))
        sent, taken = [int(count[self._rank]) for count in counts], [output.numel() for output in outputs]
        whole = torch.zeros(max(int(count.sum()) for count in counts), dtype=inputs[0].dtype)
        mine = flat(inputs)
        whole[:mine.numel()] = mine
        if sent != taken or any(output.dtype != whole.dtype for output in outputs):
            raise ValueError(f"the outputs of all_to_all on rank {self._rank} have {taken} elements, and the ranks send {sent} of {whole.dtype}")
        self._gather(outputs, whole, [int(count[:self._rank].sum()) for count in counts])


def _of_two(name):
    def collective(self, *_, **__):
        raise NotImplementedError(f"the process group '{NAME}' has no {name}: the runtime's collectives are of all ranks, and this is of two; "
                                  f"pass a group of gloo's to it: group = torch.distributed.new_group(backend=\"gloo\")")
    return collective


for _each in _OF_TWO:
    setattr(ProcessGroup, _each, _of_two(_each))


def register():
    """Makes the name known to torch.distributed."""
    if hasattr(dist.Backend, NAME.upper()):
        return
    of_devices = {"devices": ["cpu"]} if int(torch.__version__.split(".", maxsplit=1)[0]) >= 2 else {}
    dist.Backend.register_backend(NAME, _made, **of_devices)


def _made(store, rank, size, timeout):
    """A group of some of the ranks is gloo's: the runtime waits for all."""
    ctx = _world.runtime()
    if ctx is not None and 1 < size < ctx.world_size:
        _notes.say(f"torch's process groups of some of the ranks are gloo's: those of '{NAME}' are of all {ctx.world_size}, or of one")
        return dist.ProcessGroupGloo(store, rank, size, timeout=timeout)
    return ProcessGroup(rank, size)


def _op_of(opts):
    return getattr(opts, "reduceOp", dist.ReduceOp.SUM)


def _like(tensor, parts):
    return [part.reshape(tensor.shape) for part in parts]


def _done(result):
    """A Work of torch's own: the one who waits may have it longer than Python has."""
    future = torch.futures.Future()
    future.set_result(result)
    return torch._C._distributed_c10d._create_work_from_future(future)
