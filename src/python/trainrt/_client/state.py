"""State, which names the tensors, values and files that checkpoints of a run contain."""

from __future__ import annotations

import mmap
import os
from collections.abc import Sequence
from typing import Any, Callable

from .arrays import array_view
from .values import Value, decoded, encoded, fits_64_bits, plain_value

_PAGE_ALIGNED_BYTES = 1 << 20  # tensors of this size begin at a page boundary, where the runtime can write them without a copy


class _Tensor:
    """A tensor of a State, or a slab of a tensor, with its placement on the ranks. `at` is the offset of the copy in shared memory."""

    def __init__(self, name: str, array: Any, placement: str, slab: dict[str, Any]) -> None:
        self.name, self.array, self.placement, self.slab = name, array, placement, slab
        self.at = 0

    def description(self) -> dict[str, Any]:
        return {"name": self.name, "dtype": self.array.dtype, "shape": self.array.shape, "at": self.at, "placement": self.placement, **self.slab}


class State:
    """The content of a run's checkpoints: named tensors, small values, and files.

    A State holds references to the arrays and does not copy them; change the arrays in place. Names are paths such as "model/w"; restore() checks the
    names. Read and set values as ``state[name]``.

    Examples
    --------
    >>> import array
    >>> import trainrt
    >>> weights = array.array("f", [0.0] * 8)
    >>> state = trainrt.State()
    >>> state.tensor("weights", weights)
    >>> state["epoch"] = 0
    >>> state["epoch"] += 1
    >>> state["epoch"]
    1
    """

    def __init__(self) -> None:
        self._tensors: dict[Any, _Tensor] = {}
        self._slabs: dict[str, int] = {}  # name -> number of its slabs
        self._values: dict[str, Value] = {}
        self._sums: set[str] = set()  # names of values that are parts of sums
        self._files: dict[str, dict[str, Any]] = {}
        self._before_save: list[Callable[[], Any]] = []
        self._attached = False

    def tensor(self, name: str, array: Any, *, sharded: Sequence[int] | None = None, per_rank: bool = False, part_of_sum: bool = False) -> None:
        """Adds an array, whose content checkpoints save and restore() loads in place.

        By default a tensor is replicated: all ranks must have equal values. A new run copies the values of rank 0 to all ranks. If a checkpoint
        finds a difference between ranks, the run ends (key checkpoint.replica_check).

        Parameters
        ----------
        name : str
            Path of the tensor in checkpoints.
        array : NumPy array, array.array, other buffer, or torch tensor on any device
            A writable, contiguous array of any shape.
        sharded : (axis, first, global_extent), optional
            The array is a slab of a larger tensor. It begins at index `first` of axis `axis`, whose length in the larger tensor is `global_extent`.
        per_rank : bool
            Each rank has its own values. After a restart on another number of ranks, rank r gets the values of rank r modulo the old number of ranks.
        part_of_sum : bool
            The array is one summand of a sum over the ranks. Only the sum is preserved if the number of ranks changes.
        """
        self._claim(name, "tensor")
        chosen = [word for word, given in (("sharded", sharded is not None), ("per_rank", per_rank), ("sum", part_of_sum)) if given]
        if len(chosen) > 1:
            raise ValueError(f"tensor '{name}' can be only one of sharded, per_rank and part_of_sum")
        slab = {}
        if sharded is not None:
            try:
                axis, first, extent = (int(number) for number in sharded)
            except (TypeError, ValueError):
                raise TypeError(f"tensor '{name}': sharded must be (axis, first, global_extent)") from None
            slab = {"axis": axis, "first": first, "global_extent": extent}
        self._tensors[name] = _Tensor(name, array_view(f"tensor '{name}'", array), chosen[0] if chosen else "replicated", slab)

    def slab(self, name: str, array: Any, offset: Sequence[int], global_shape: Sequence[int]) -> None:
        """Adds an array that is a box of a larger tensor.

        A rank may hold several slabs of a tensor, and calls slab() for each slab with the same name and global_shape. A rank without slabs of the
        tensor calls slab() once with an empty array. The slabs of all ranks must cover the tensor; several ranks may hold equal slabs.

        Parameters
        ----------
        name, array
            Name and array as in tensor().
        offset : sequence of int
            Index of the first element in the larger tensor, one number per axis.
        global_shape : sequence of int
            Shape of the larger tensor.
        """
        number = self._slabs.get(name, 0)
        if not number:
            self._claim(name, "tensor")
        self._slabs[name] = number + 1
        box = {"offset": [int(index) for index in offset], "global_shape": [int(extent) for extent in global_shape]}
        self._tensors[(name, number) if number else name] = _Tensor(name, array_view(f"tensor '{name}'", array), "slab", box)

    def value(self, name: str, value: Any, *, part_of_sum: bool = False) -> None:
        """Adds a value, as ``state[name] = value`` does.

        Parameters
        ----------
        part_of_sum : bool
            The int or float is one summand of a sum over the ranks, for example of losses since the last report. Only the sum is preserved if the
            number of ranks changes.
        """
        if name in self._values:
            raise ValueError(f"the name '{name}' was given twice; each name must be unique")
        if part_of_sum and type(plain_value(f"value '{name}'", value)) not in (int, float):
            raise TypeError(f"value '{name}' is {value!r}; a part of a sum must be an int or a float")
        self[name] = value
        if part_of_sum:
            self._sums.add(name)

    def file(self, name: str, path: str | os.PathLike[str], *, per_rank: bool = False) -> None:
        """Adds a file, which checkpoints save and restore() writes to `path`.

        Write the file before the checkpoint, or in a function of before_save(). Checkpoints contain rank 0's file or, if `per_rank` is True, the file
        of each rank.
        """
        if name in self._files:
            raise ValueError(f"file '{name}' was given twice")
        self._refuse_when_attached("file", name)
        self._files[name] = {"name": name, "path": os.path.abspath(os.fspath(path)), "per_rank": bool(per_rank)}

    def before_save(self, function: Callable[[], Any]) -> Callable[[], Any]:
        """Decorator of a function that updates the arrays and values of the State. The function is called before each checkpoint, and before ranks
        compare their state (checkpoint.replica_check_every). The function must not call the Context."""
        self._before_save.append(function)
        return function

    def __setitem__(self, name: str, value: Any) -> None:
        """Adds or changes a value: a bool, int, float or str, equal on all ranks. A change must not change the type."""
        plain = plain_value(f"value '{name}'", value)
        if not fits_64_bits(plain):
            raise OverflowError(f"value '{name}' is {plain}, which does not fit into 64 bits; use a float or a str")
        if name in self._values:
            kind = type(self._values[name])
            if kind is float and type(plain) is int:
                plain = float(plain)
            if type(plain) is not kind:
                raise TypeError(f"value '{name}' is of the type {kind.__name__} and cannot become {plain!r}")
        else:
            self._claim(name, "value")
        self._values[name] = plain

    def __getitem__(self, name: str) -> Any:
        if name not in self._values:
            raise KeyError(f"the State has no value '{name}'; it has: {', '.join(self._values) or 'no values'}")
        return self._values[name]

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def _claim(self, name: str, kind: str) -> None:
        if not isinstance(name, str):
            raise TypeError(f"the name of a {kind} must be a str, not {name!r}")
        if name in self._tensors or name in self._values:
            raise ValueError(f"the name '{name}' was given twice; each name must be unique")
        self._refuse_when_attached(kind, name)

    def _refuse_when_attached(self, kind: str, name: str) -> None:
        if self._attached:
            raise RuntimeError(f"{kind} '{name}' cannot be added now: add all names before restore()")

    # ---- methods that the Context calls ----

    def _assign_offsets(self) -> int:
        """Sets the offset of each tensor in shared memory, and returns the total number of bytes."""
        end = 0
        for tensor in self._tensors.values():
            unit = mmap.PAGESIZE if tensor.array.nbytes >= _PAGE_ALIGNED_BYTES else 64
            tensor.at = -(-end // unit) * unit
            end = tensor.at + tensor.array.nbytes
        return end

    def _descriptions(self) -> dict[str, Any]:
        return {"tensors": [tensor.description() for tensor in self._tensors.values()], "files": list(self._files.values()),
                "sums": sorted(self._sums)}

    def _write_tensors(self, memory: memoryview) -> None:
        for tensor in self._tensors.values():
            tensor.array.write_to(memory[tensor.at:tensor.at + tensor.array.nbytes])

    def _read_tensors(self, memory: memoryview) -> None:
        for tensor in self._tensors.values():
            tensor.array.read_from(memory[tensor.at:tensor.at + tensor.array.nbytes])

    def _replace_array(self, name: Any, array: Any) -> None:
        """Makes a tensor refer to another array of equal type and shape. Called for frameworks that replace arrays during training."""
        before, now = self._tensors[name].array, array_view(f"tensor '{name}'", array)
        if (before.dtype, before.shape) != (now.dtype, now.shape):
            raise ValueError(f"tensor '{name}' is now {now.dtype} of shape {now.shape}, and was {before.dtype} of shape {before.shape} when it was "
                             f"added: type and shape must not change")
        self._tensors[name].array = now

    def _encoded_values(self) -> dict[str, Any]:
        return {name: encoded(value) for name, value in self._values.items()}

    def _take_values(self, values: dict[str, Any]) -> None:
        for name, value in values.items():
            self._values[name] = type(self._values[name])(decoded(value))
