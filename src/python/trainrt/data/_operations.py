"""Operations on the batches of a dataset. An operation takes a batch, {name: array}, and returns a new batch."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ._values._arguments import names_of
from ._values._categories import Categorical, plain
from ._values._columns import columns_of, rows_of, stacked
from ._values._numpy import numpy

Batch = dict[str, Any]  # {column name: array}


def applied(operations: Iterable[Operation], batch: Batch, draws: Sequence[int]) -> Batch:
    """Returns the batch after all `operations`, in order. If an operation is random, `draws` contains one random 64-bit integer per sample."""
    for number, operation in enumerate(operations):
        batch = operation(batch, [(draw, number) for draw in draws]) if operation.is_random else operation(batch)
    return batch


class Call:
    """A call of a user's function with fixed arguments. If `function` is a class, each process creates one instance at the first call, and calls the
    instance. `method` is the Dataset method that was given `function`, for messages. Raises TypeError if `function` is not callable."""

    def __init__(self, method: str, function: Callable[..., Any], args: Sequence | None = (), kwargs: Mapping[str, Any] | None = None,
                 constructor_args: Sequence | None = (), constructor_kwargs: Mapping[str, Any] | None = None) -> None:
        if not callable(function):
            raise TypeError(f"{method}() takes a function, not {function!r}")
        self._function, self._args, self._kwargs = function, tuple(args or ()), dict(kwargs or {})
        self._constructor_args, self._constructor_kwargs = tuple(constructor_args or ()), dict(constructor_kwargs or {})
        self.name = f"{method}({getattr(function, '__qualname__', type(function).__name__)})"
        self._callable: Callable[..., Any] | None = None

    def __call__(self, *values: Any) -> Any:
        if self._callable is None:
            is_class = isinstance(self._function, type)
            self._callable = self._function(*self._constructor_args, **self._constructor_kwargs) if is_class else self._function
        return self._callable(*values, *self._args, **self._kwargs)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_callable": None}


class Operation:
    """Base class of operations. A random operation is called with a second argument: one seed per sample for numpy.random.default_rng()."""

    is_random = False
    workers = 0  # number of processes that run the operation; 0: the process that iterates over the batches
    name = ""

    def __call__(self, batch: Batch, draws: Sequence[Any] = ()) -> Batch:
        raise NotImplementedError

    def in_training(self) -> Operation:
        """Returns the operation for batches of a train function."""
        return self


class _UserOperation(Operation):
    def __init__(self, call: Call, workers: int = 0, is_random: bool = False) -> None:
        self._call, self.workers, self.is_random = call, workers, is_random
        self.name = call.name


class MapBatches(_UserOperation):
    keeps_count = False  # whether a result of another number of samples is an error, as in a train function

    def __init__(self, call: Call, batch_format: str | None, workers: int = 0, is_random: bool = False) -> None:
        super().__init__(call, workers, is_random)
        self._batch_format = checked_format(batch_format)

    def __call__(self, batch: Batch, draws: Sequence[Any] = ()) -> Batch:
        generators = [numpy.random.default_rng(draws[0] if draws else 0)] if self.is_random else []
        size = _size(batch)
        found = columns_of(self._call(formatted(batch, self._batch_format), *generators), self.name)
        if self.keeps_count and _size(found) != size:
            raise ValueError(f"{self.name} returned {_size(found)} samples for a batch of {size}; in a train function, it must return as many samples as "
                             f"it gets. Use filter() to leave out samples, flat_map() to add samples, or call materialize() after map_batches() in the script")
        return found

    def in_training(self) -> MapBatches:
        """Returns a copy that raises ValueError if the function changes the number of samples."""
        found = copy.copy(self)
        found.keeps_count = True
        return found


class Map(_UserOperation):
    def __call__(self, batch: Batch, draws: Sequence[Any] = ()) -> Batch:
        if self.is_random:
            rows = [self._call(row, numpy.random.default_rng(draw)) for row, draw in zip(rows_of(batch), draws)]
        else:
            rows = [self._call(row) for row in rows_of(batch)]
        return stacked(rows, self.name) if rows else batch


class AddColumn(Operation):
    def __init__(self, name: str, call: Call) -> None:
        self._name, self._call = name, call

    def __call__(self, batch: Batch, draws: Sequence[Any] = ()) -> Batch:
        return columns_of({**batch, self._name: self._call(formatted(batch, "pandas"))}, self._call.name)


class Select(Operation):
    def __init__(self, names: str | Sequence[str]) -> None:
        self._names = names_of(names)

    def __call__(self, batch: Batch, draws: Sequence[Any] = ()) -> Batch:
        _check_columns(batch, self._names)
        return {name: batch[name] for name in self._names}


class Drop(Select):
    def __call__(self, batch: Batch, draws: Sequence[Any] = ()) -> Batch:
        _check_columns(batch, self._names)
        return {name: column for name, column in batch.items() if name not in self._names}


class Rename(Operation):
    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = dict(names)

    def __call__(self, batch: Batch, draws: Sequence[Any] = ()) -> Batch:
        _check_columns(batch, self._names)
        renamed = {self._names.get(name, name): column for name, column in batch.items()}
        if len(renamed) < len(batch):
            raise ValueError(f"rename_columns({self._names}): two columns would get the same name; remove one of them first with drop_columns()")
        return renamed


def _size(batch: Batch) -> int:
    return len(next(iter(batch.values()), ()))


def _check_columns(batch: Batch, names: Iterable[str]) -> None:
    for name in names:
        if name not in batch:
            raise KeyError(f"there is no column '{name}'; the columns are: {', '.join(batch)}")


def checked_format(name: str | None) -> str:
    """Returns 'numpy' or 'pandas'. Raises ValueError for another batch_format."""
    if name in (None, "default", "numpy"):
        return "numpy"
    if name == "pandas":
        return name
    raise ValueError(f"batch_format={name!r}: it must be 'numpy' (a dict of arrays) or 'pandas' (a DataFrame)")


def formatted(batch: Batch, batch_format: str) -> Any:
    """Returns the batch as a DataFrame if `batch_format` is 'pandas', else unchanged. In a DataFrame, an array of several axes becomes a column of
    arrays."""
    if batch_format != "pandas":
        return plain(batch)
    import pandas
    return pandas.DataFrame({name: _series_values(column) for name, column in batch.items()})


def _series_values(column: Any) -> Any:
    if isinstance(column, Categorical):
        return column.to_pandas()
    return column if column.ndim == 1 else list(column)


def keeps(call: Call) -> Callable[[Batch], Any]:
    """Returns a function that calls `call` for each row of a batch and returns a bool array, True for each row to keep."""
    def kept(batch: Batch) -> Any:
        return numpy.fromiter((bool(call(row)) for row in rows_of(batch)), bool)
    return kept
