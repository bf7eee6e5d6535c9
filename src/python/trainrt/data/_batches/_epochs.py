"""Epochs and Place, parts of a DataIterator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Callable, NamedTuple

from .._operations import Operation, applied
from .._values._numpy import numpy
from ._shared_batches import Link


class Epochs:
    """An iterable. Each loop over an Epochs object calls begin_epoch(), which returns the iterator of the next epoch."""

    def __init__(self, begin_epoch: Callable[[], Iterator[Any]]) -> None:
        self._begin_epoch = begin_epoch

    def __iter__(self) -> Iterator[Any]:
        return self._begin_epoch()


class Place(NamedTuple):
    """The source from which a DataIterator reads. There are three cases:

    - Usually, `link` is the connection to the reader process, and `name` the name of the dataset there.
    - For a dataset without samples, `link` and `name` are `None`, and `empty_columns` has its columns before its operations, {name: array}.
    - For samples that only this process can use, `link` and `name` are `None`, and `here` has the samples.
    """
    link: Link | None
    name: str | None
    empty_columns: dict[str, Any] | None = None
    here: SamplesHere | None = None


class SamplesHere:
    """Samples in the memory of this process, {name: array}, in the order of `rows`. `shuffle_seed`: a seed if each epoch shuffles the samples."""

    def __init__(self, columns: dict[str, Any], rows: Any = None, shuffle_seed: int | None = None) -> None:
        count = len(next(iter(columns.values()), ()))
        self.columns, self._rows, self._seed = columns, numpy.arange(count) if rows is None else numpy.asarray(rows, "i8"), shuffle_seed

    def __len__(self) -> int:
        return len(self._rows)

    def applied(self, operations: Sequence[Operation], size: int, epoch: int, drops_last: bool) -> Iterator[dict[str, Any]]:
        """Yields the batches of an epoch after all operations, as new arrays."""
        rows = self._rows
        if self._seed is not None:
            rows = numpy.random.default_rng([self._seed, epoch]).permutation(rows)
        has_draws = any(operation.is_random for operation in operations)
        draws = numpy.random.default_rng(epoch).integers(1 << 63, size=len(self)).tolist() if has_draws else []
        for first in range(0, len(rows), size):
            chosen = rows[first:first + size]
            if len(chosen) == size or not drops_last:
                yield applied(operations, {name: column[chosen] for name, column in self.columns.items()}, draws[first:first + size])
