"""Methods of Dataset that change the columns of samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Callable, Union

from ._operations import AddColumn, Call, Drop, Map, MapBatches, Rename, Select
from ._parts import DatasetParts
from ._values._arguments import OF_CLUSTERS, check_ignored

if TYPE_CHECKING:
    from ._dataset import Dataset

Concurrency = Union[int, tuple[int, ...], None]


class ChangeMethods(DatasetParts):
    """Base class of Dataset with the methods that change columns."""

    def map(self, fn: Callable[..., Any], *, fn_args: Sequence | None = None, fn_kwargs: Mapping[str, Any] | None = None,
            fn_constructor_args: Sequence | None = None, fn_constructor_kwargs: Mapping[str, Any] | None = None,
            concurrency: Concurrency = None, random: bool = False, **resources: Any) -> Dataset:
        """Replaces each sample by the result of a function.

        Parameters
        ----------
        fn : function or class
            Called as `fn(row, *fn_args, **fn_kwargs)`; `row` and the result are dicts, {column: value}. If `fn` is a class, each process creates one
            instance with the constructor arguments and calls the instance.
        concurrency : int, optional
            Number of processes per rank that run this and all other operations of the dataset, ahead of the train function. Default: the process
            that iterates over the batches runs the operations.
        random : bool
            True calls `fn(row, rng, ...)`. `rng` is a numpy.random.Generator, seeded only from run.seed, the dataset's name, the epoch and the
            sample. The result does not depend on the number of ranks and processes, nor on restarts.

        Taking a batch raises TypeError if `fn` does not return a dict, ValueError if the dicts have different keys.
        """
        check_ignored("map", resources)
        call = Call("map", fn, fn_args, fn_kwargs, fn_constructor_args, fn_constructor_kwargs)
        return self._and_then(Map(call, _workers_of("map", concurrency), random))

    def map_batches(self, fn: Callable[..., Any], *, batch_size: Any = "default", batch_format: str | None = "default",
                    fn_args: Sequence | None = None, fn_kwargs: Mapping[str, Any] | None = None,
                    fn_constructor_args: Sequence | None = None, fn_constructor_kwargs: Mapping[str, Any] | None = None,
                    zero_copy_batch: bool = True, concurrency: Concurrency = None, random: bool = False, **resources: Any) -> Dataset:
        """Replaces each batch by `fn(batch)`: {name: array}, or a DataFrame, with any columns and the same number of samples.

        Parameters
        ----------
        batch_format : {"numpy", "pandas"}
            Type of the argument: {name: array} (default), or a DataFrame.
        batch_size, zero_copy_batch
            Ignored: `fn` receives the batches that the train function takes.
        random : bool
            True calls `fn(batch, rng, ...)` with the generator of the batch's first sample; see map(). The result then depends on the batch size.
        others
            Arguments of map().
        """
        del batch_size, zero_copy_batch
        check_ignored("map_batches", resources, OF_CLUSTERS | {"udf_modifying_row_count"})
        call = Call("map_batches", fn, fn_args, fn_kwargs, fn_constructor_args, fn_constructor_kwargs)
        return self._and_then(MapBatches(call, batch_format, _workers_of("map_batches", concurrency), random))

    def add_column(self, col: str, fn: Callable[..., Any], **resources: Any) -> Dataset:
        """Adds the column `col`, or replaces it, with the values that `fn(DataFrame)` returns: a Series, an array or a list."""
        check_ignored("add_column", resources)
        return self._and_then(AddColumn(col, Call("add_column", fn)))

    def select_columns(self, cols: str | Sequence[str], **resources: Any) -> Dataset:
        """Keeps the columns `cols`, a name or a list of names, in the order of `cols`. Taking a batch raises KeyError for an unknown name."""
        check_ignored("select_columns", resources)
        return self._and_then(Select(cols))

    def drop_columns(self, cols: str | Sequence[str], **resources: Any) -> Dataset:
        """Removes the columns `cols`, a name or a list of names. Taking a batch raises KeyError for an unknown name."""
        check_ignored("drop_columns", resources)
        return self._and_then(Drop(cols))

    def rename_columns(self, names: Mapping[str, str], **resources: Any) -> Dataset:
        """Renames columns by `names`, {old: new}. Taking a batch raises KeyError for an unknown name, ValueError if two get the same name."""
        check_ignored("rename_columns", resources)
        return self._and_then(Rename(names))


def _workers_of(method: str, concurrency: Concurrency) -> int:
    """Returns the maximum number of processes in `concurrency`, which is a number, (minimum, maximum) or (minimum, maximum, initial); 0 for `None`."""
    workers = concurrency[1] if isinstance(concurrency, (tuple, list)) and len(concurrency) in (2, 3) else concurrency
    if workers is None:
        return 0
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise ValueError(f"{method}(concurrency={concurrency!r}): it must be a number of processes, 1 or more")
    return workers
