"""Collectives, the base class of Context with collective operations on arrays. Arrays are passed to the runtime in shared memory."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar, Union

from .arrays import array_view, copy_of
from .channel import Channel
from .identity import Identity
from .shared_memory import RuntimeMemory, SharedMemory, size_with_reserve
from .torch_sums import note_sums_of_gloo

_NODE_MEMORY_BYTES = 64 << 10  # arrays above this size use memory that the ranks of a node share; smaller arrays are sent
_Array = TypeVar("_Array")
_Memory = Union[SharedMemory, RuntimeMemory]


class Collectives(Identity):
    """Base class of Context with reductions, broadcasts and gathers of arrays."""

    def __init__(self, channel: Channel) -> None:
        super().__init__(channel)
        self._collective_memory: _Memory | None = None
        self._averages_gradients = False  # whether this Context averages the gradients of a model in DistributedDataParallel

    def all_reduce(self, array: _Array, op: str = "sum") -> _Array:
        """Reduces an array over all ranks, in place, and returns it. Collective.

        The ranks are always summed in the same order, so sums are bit-identical between runs.

        Parameters
        ----------
        array
            An array that State.tensor() accepts. Size and type must be equal on all ranks.
        op : {"sum", "mean", "min", "max"}
            The reduction.
        """
        view = array_view("the array of all_reduce()", array)
        view.read_from(self._exchange_array("all_reduce", view, count=math.prod(view.shape), reduce=op))
        return array

    def broadcast(self, array: _Array, root: int = 0) -> _Array:
        """Copies the array of rank `root` into the arrays of all ranks, and returns the array. Collective.

        All ranks must pass equal `root`, and arrays of equal shape and type. State.tensor() describes supported arrays.
        """
        view = array_view("the array of broadcast()", array)
        view.read_from(self._exchange_array("broadcast", view, shape=view.shape, root=int(root)))
        return array

    def all_gather(self, array: _Array) -> list[_Array]:
        """Returns the arrays of all ranks, in rank order, as new arrays. Collective.

        All ranks must pass arrays of equal shape and type. State.tensor() describes supported arrays.
        """
        array_view("the array of all_gather()", array)  # reports an invalid array before it is copied
        copies = [copy_of("the array of all_gather()", array) for _ in range(self.world_size)]
        self._all_gather_into(copies, array)
        return copies

    def barrier(self) -> None:
        """Waits until all ranks have called barrier(). Collective."""
        self._ask("barrier")

    def _note_other_sums(self) -> None:
        """Prints a note if torch averages gradients in an order that a restart changes."""
        if not self._averages_gradients:
            note_sums_of_gloo()

    def _all_gather_into(self, outputs: Sequence[Any], array: Any, first: Sequence[int] | None = None) -> None:
        """Copies the array of each rank r, from element first[r] (default 0), into outputs[r]. Skips outputs that are `None`. Collective."""
        view = array_view("the array of all_gather()", array)
        parts = self._exchange_array("all_gather", view, self.world_size, shape=view.shape)
        size = view.nbytes // max(math.prod(view.shape), 1)
        for rank, output in enumerate(outputs):
            if output is None:
                continue
            into = array_view("an output of all_gather()", output)
            at = rank * view.nbytes + (first[rank] * size if first else 0)
            into.read_from(parts[at:at + into.nbytes])

    def _all_reduce_together(self, arrays: Sequence[Any], op: str, into: Sequence[Any] | None = None) -> None:
        """Reduces several arrays of one type in one operation. `into` contains the array for each result, or `None` if this rank does not need the
        result. By default, results replace the arrays. Collective."""
        results = None if into is None else [None if each is None else array_view("a result of all_reduce()", each) for each in into]
        for number, (view, part) in enumerate(self._all_reduced(arrays, op)):
            result = view if results is None else results[number]
            if result is not None:
                result.read_from(part)

    def _all_reduced(self, arrays: Sequence[Any], op: str) -> Iterator[tuple[Any, memoryview]]:
        """Reduces several arrays of one type, and yields (view of an array, bytes of the array's result). The next collective overwrites the bytes."""
        views = [array_view("an array of all_reduce()", array) for array in arrays]
        kinds = sorted({view.dtype for view in views})
        if len(kinds) != 1:
            raise TypeError(f"arrays that are reduced together must have the same type, not {' and '.join(kinds)}")
        shared, is_new = self._memory_for(sum(view.nbytes for view in views))
        for view, part in _parts(views, shared):
            view.write_to(part)
        self._exchange_memory("all_reduce", shared, is_new, dtype=kinds[0], count=sum(math.prod(view.shape) for view in views), reduce=op)
        return _parts(views, shared)

    def _exchange_array(self, op: str, view: Any, num_parts: int = 1, **fields: Any) -> memoryview:
        """Requests a collective on an array. Returns shared memory with the result, which has `num_parts` times the size of the array."""
        nbytes = view.nbytes * num_parts
        shared, is_new = self._memory_for(nbytes)
        view.write_to(shared.bytes[:view.nbytes])
        self._exchange_memory(op, shared, is_new, dtype=view.dtype, **fields)
        return shared.bytes[:nbytes]

    def _memory_for(self, nbytes: int) -> tuple[_Memory, bool]:
        """Returns shared memory of at least `nbytes`, and whether the memory must be sent to the runtime."""
        if self._collective_memory is not None and self._collective_memory.nbytes >= nbytes:
            return self._collective_memory, False
        return SharedMemory(size_with_reserve(nbytes)), True

    def _exchange_memory(self, op: str, shared: _Memory, is_new: bool, **fields: Any) -> None:
        announced = {"memory": shared.nbytes} if is_new else {}
        self._ask(op, with_memory=shared if is_new else None, **fields, **announced)
        self._collective_memory = shared
        if is_new and shared.nbytes > _NODE_MEMORY_BYTES and self.world_size > 1:
            self._collective_memory = self._node_memory(shared.nbytes) or shared

    def _node_memory(self, nbytes: int) -> RuntimeMemory | None:
        """Returns memory for later collectives that all ranks of the node can access, or `None` if the runtime cannot create such memory. Collectives in
        this memory copy no bytes between ranks. Collective."""
        place = self._ask("share", bytes=nbytes)
        return RuntimeMemory(self._channel.file, place["at"], place["bytes"]) if self._channel.file is not None else None


def _parts(views: Sequence[Any], shared: _Memory) -> Iterator[tuple[Any, memoryview]]:
    """Yields (view, section of the memory) for each view. The sections are consecutive."""
    at = 0
    for view in views:
        yield view, shared.bytes[at:at + view.nbytes]
        at += view.nbytes
