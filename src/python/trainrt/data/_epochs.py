"""Epochs and Place, parts of a DataIterator."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Callable, NamedTuple

from ._shared_batches import Link


class Epochs:
    """An iterable. Each loop over an Epochs object calls begin_epoch(), which returns the iterator of the next epoch."""

    def __init__(self, begin_epoch: Callable[[], Iterator[Any]]) -> None:
        self._begin_epoch = begin_epoch

    def __iter__(self) -> Iterator[Any]:
        return self._begin_epoch()


class Place(NamedTuple):
    """Where a DataIterator reads: the dataset `name` of the reader at `link`. For a dataset without samples, both are `None`, and `empty_columns`,
    {name: array}, are its columns before its operations."""
    link: Link | None
    name: str | None
    empty_columns: dict[str, Any] | None = None
