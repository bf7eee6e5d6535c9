"""DataIterator, which get_dataset_shard() returns and which yields the batches of one rank."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Callable

from .._operations import Operation, applied, checked_format, formatted
from .._values._categories import Categories, with_categories
from .._values._columns import concatenated, require_one_shape, rows_of
from .._values._numpy import numpy
from .._values._schema import Schema
from . import _server
from ._epochs import Epochs, Place
from ._map_workers import MapWorkers
from ._shared_batches import Link, Walk
from ._torch_batches import converter, dtype_of, pairs_of

if TYPE_CHECKING:
    from .._dataset import Dataset, MaterializedDataset
    from .._parts import DatasetParts
    from ._streams import StreamSplit

_LARGE_BATCH = 1024  # samples per batch when all samples are read


class DataIterator:
    """Yields the batches of this rank's shard of a dataset; get_dataset_shard() returns a DataIterator.

    Each loop over the result of an iter_...() method is the next epoch. After a restart, the first loop yields the rest of the epoch in which the
    checkpoint was saved. If a dataset is split among the ranks, all ranks must iterate. A rank must iterate in one thread.

    Examples
    --------
    >>> import trainrt
    >>> iterator = trainrt.data.range(5).iterator()
    >>> [batch["id"].tolist() for batch in iterator.iter_batches(batch_size=2, remainder="uneven")]
    [[0, 1], [2, 3], [4]]
    """

    dataset: Dataset | None = None  # set by Dataset.iterator() and streaming_split(): the complete dataset
    split: StreamSplit | None = None  # set by streaming_split(), with the number of this iterator's part
    number = 0
    epoch: int | None = None  # number of the epoch that was begun last
    end_epoch: int | None = None  # number of epochs, if it is limited; a loop over a later epoch yields nothing

    def __init__(self, open_place: Callable[[], Place], dataset: DatasetParts | None = None, before: Callable[[], Any] | None = None,
                 epochs: Iterator[int] | None = None, in_memory: Callable[[dict[str, Any]], MaterializedDataset] | None = None) -> None:
        """`open_place()` is called at the first use. `before()` is called before each epoch. `epochs` yields epoch numbers if the runtime does not
        count epochs. materialize() calls `in_memory`."""
        self._open_place, self._before, self._epochs = open_place, before, epochs
        self.at_padding: Callable[[int], Any] | None = None  # called with count() after each epoch without an explicit `remainder`
        self._operations: Sequence[Operation] = dataset._operations if dataset is not None else ()
        self._workers: MapWorkers | None = None  # processes that apply the operations; started at the first batch
        self._encoding = dataset._encoding if dataset is not None else "utf-8"
        self._categories: dict[str, Categories] = getattr(dataset._source, "categories", {}) if dataset is not None else {}
        self._in_memory = in_memory

    @classmethod
    def local(cls, dataset: Dataset, part: Callable[[], Dataset] | None = None) -> DataIterator:
        """Returns an iterator over all samples, for this process. If `part` is given, the samples are those of the Dataset that part() returns."""

        def open_place() -> Place:
            opened = part() if part is not None else dataset
            columns = opened._empty_columns()
            if columns is not None:
                return Place(None, None, columns)
            here = opened._samples_here()
            if here is not None:
                return Place(None, None, None, here)
            server = _server.server()
            return Place(server.link, opened._open_at(server))

        return cls(open_place, dataset, epochs=itertools.count(), in_memory=dataset._in_memory)

    def opened(self) -> DataIterator:
        """Opens the dataset unless it is open, and returns this object."""
        self._place = self._place
        return self

    @functools.cached_property
    def _place(self) -> Place:
        return self._open_place()

    @property
    def _link(self) -> Link | None:
        return self._place.link

    _name = property(lambda self: self._place.name)
    _empty_columns = property(lambda self: self._place.empty_columns)

    def iter_batches(self, *, batch_size: int | None = 256, prefetch_batches: int = 1, batch_format: str | None = "default",
                     drop_last: bool = False, local_shuffle_buffer_size: int | None = None, local_shuffle_seed: int | None = None,
                     epoch: int | None = None, remainder: str | None = None, **others: Any) -> Iterable[Any]:
        """Returns an iterable over batches: {name: array}, arrays of shape [batch_size, ...]. The caller owns the arrays.

        Parameters
        ----------
        batch_size : int, optional
            Number of samples per batch on this rank. `None` returns all samples in one batch.
        batch_format : {"numpy", "pandas"}
            "pandas" gives DataFrames.
        remainder : {"pad", "uneven", "drop"}
            Treatment of samples that do not fill the last batch on all ranks. "pad" (default) repeats the first samples of the epoch until all
            ranks have equally many batches. "uneven", for evaluation, uses each sample once. "drop" (drop_last=True) leaves out the samples.
        epoch : int, optional
            Number of the epoch, if the caller counts epochs. Default: the next epoch.
        prefetch_batches, local_shuffle_seed
            Ignored; the keys `threads` and `memory` control reading ahead.

        Raises
        ------
        ValueError
            A value is invalid, or local_shuffle_buffer_size is given.
        TypeError
            An argument is unknown.
        RuntimeError
            Raised during the loop if samples cannot be read. The loop raises TypeError or ValueError for invalid results of map functions.
        """
        del prefetch_batches, local_shuffle_seed
        if others:
            raise TypeError(f"iter_batches() got an unexpected argument: {', '.join(sorted(others))}")
        if local_shuffle_buffer_size is not None:
            raise ValueError("local_shuffle_buffer_size is not supported: random_shuffle() of the dataset shuffles all samples, at no additional "
                             "cost")
        size, batch_format = self._checked_size(batch_size), checked_format(batch_format)
        at_end = self.at_padding if remainder is None and not drop_last else None
        rest = remainder or ("drop" if drop_last else "pad")
        return Epochs(lambda: map(lambda batch: formatted(batch, batch_format), self._batches(size, rest, epoch, at_end)))

    def _checked_size(self, batch_size: int | None) -> int:
        if batch_size is None:
            return max(self.count(), 1)
        if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1:
            raise ValueError(f"batch_size={batch_size!r}: it must be an integer, 1 or more")
        return batch_size

    def _batches(self, batch_size: int, remainder: str, epoch: int | None, at_end: Callable[[int], Any] | None = None) -> Iterator[dict[str, Any]]:
        """Yields batches, {name: array}, after all operations. Columns of categories are Categorical."""
        if self._empty_columns is not None:
            return
        if self._before is not None:
            self._before()
        if epoch is None and self._epochs is not None:
            epoch = next(self._epochs)
        if self._place.here is not None:
            self.epoch = epoch or 0
            if self.end_epoch is None or self.epoch < self.end_epoch:
                yield from self._place.here.applied(self._operations, batch_size, self.epoch, remainder == "drop")
            return
        workers = self._map_workers()
        assert self._link is not None and self._name is not None
        walk = Walk(self._link, self._name, batch_size, remainder, epoch, encoding=self._encoding, is_ahead=workers is not None,
                    has_draws=any(operation.is_random for operation in self._operations))
        self.epoch = walk.epoch
        if self.end_epoch is not None and walk.epoch >= self.end_epoch:
            walk.end()
            return
        batches = self._applied_here(walk) if workers is None else walk.counted(workers.apply(iter(walk)))
        with walk:
            for batch in batches:
                yield batch
                del batch  # its memory may be reused
        if at_end is not None:
            at_end(self.count())

    def _applied_here(self, walk: Walk) -> Iterator[dict[str, Any]]:
        for batch, draws in walk:
            batch = applied(self._operations, with_categories(batch, self._categories), draws)
            yield batch
            del batch

    def _map_workers(self) -> MapWorkers | None:
        count = max((operation.workers for operation in self._operations), default=0)
        if count and self._workers is None:
            self._workers = MapWorkers(self._operations, count)
        return self._workers

    def iter_rows(self) -> Iterable[dict[str, Any]]:
        """Returns an iterable over this rank's samples as dicts. Each sample is yielded once per epoch."""
        batches = self.iter_batches(batch_size=_LARGE_BATCH, remainder="uneven")
        return Epochs(lambda: (row for batch in batches for row in rows_of(batch)))

    def iter_torch_batches(self, *, batch_size: int | None = 256, dtypes: Any = None, device: Any = "auto",
                           collate_fn: Callable[[Any], Any] | None = None, pin_memory: bool = False, **others: Any) -> Iterable[Any]:
        """Returns an iterable over batches of torch tensors: {name: tensor of shape [batch_size, ...]}.

        Parameters
        ----------
        dtypes : torch.dtype or dict, optional
            One dtype for all columns, or {name: dtype}. Default: each column's dtype.
        device : torch.device or str
            "auto" (default): the rank's GPU if there is one, else the CPU.
        collate_fn : function, optional
            Called with {name: array}. The result is moved to the device and yielded as the batch.
        pin_memory : bool
            If the device is a GPU, True copies batches asynchronously through pinned memory.
        others
            Arguments of iter_batches().

        The iteration raises TypeError for a column of strings or of arrays with different lengths, unless collate_fn is given.
        """
        tensors_of = converter(dtypes, device, collate_fn, pin_memory)
        batches = self.iter_batches(batch_size=batch_size, **others)
        return Epochs(lambda: map(tensors_of, batches))

    def iter_tf_batches(self, *, batch_size: int | None = 256, dtypes: Any = None, **others: Any) -> Iterable[Any]:
        """Returns an iterable over batches of TensorFlow tensors, {name: tf.Tensor}. `dtypes` is one dtype for all columns, or {name: dtype}.
        `others` are arguments of iter_batches()."""
        import tensorflow

        def tensors_of(batch):
            for name, column in batch.items():
                require_one_shape(name, column)
            return {name: tensorflow.convert_to_tensor(column.tolist() if column.dtype == object else column, dtype=dtype_of(dtypes, name))
                    for name, column in batch.items()}

        batches = self.iter_batches(batch_size=batch_size, **others)
        return Epochs(lambda: map(tensors_of, batches))

    def to_torch(self, *, label_column: str | None = None, feature_columns: str | Sequence[str] | None = None, batch_size: int | None = 1,
                 label_column_dtype: Any = None, feature_column_dtypes: Any = None, unsqueeze_label_tensor: bool = True,
                 unsqueeze_feature_tensors: bool = True, **others: Any) -> Iterable[Any]:
        """Returns a torch IterableDataset of (features, labels) batches, or of features if `label_column` is `None`.

        Parameters
        ----------
        feature_columns : str or list of str, optional
            Columns of the features. Default: all columns except the label. Several columns are concatenated to shape [batch_size, columns].
        feature_column_dtypes : torch.dtype, dict or list, optional
            One dtype for all columns, {name: dtype}, or a list of dtypes in the order of the columns.
        unsqueeze_label_tensor, unsqueeze_feature_tensors : bool
            True adds a second axis of length 1 to tensors with one axis.
        others
            Arguments of iter_batches().

        Use DataLoader(dataset, batch_size=None, num_workers=0): iterating in a worker process raises RuntimeError.
        """
        return pairs_of(self, label_column, feature_columns, batch_size, label_column_dtype, feature_column_dtypes, unsqueeze_label_tensor,
                        unsqueeze_feature_tensors, others)

    def to_tf(self, feature_columns: Any, label_columns: Any, *, batch_size: int | None = 1, **others: Any) -> Any:
        """Returns a tf.data.Dataset of batches (features, labels). Features and labels are a tensor for one column name, a dict for a list of names."""
        import tensorflow
        first = self._empty_batch()

        def pick(batch: Any, names: Any) -> Any:
            for name in [names] if isinstance(names, str) else names:
                require_one_shape(name, batch[name])
            return batch[names] if isinstance(names, str) else {name: batch[name] for name in names}

        def spec(column: Any) -> Any:
            return tensorflow.TensorSpec((None, *column.shape[1:]), tensorflow.string if column.dtype == object else column.dtype)

        specs = [pick({name: spec(column) for name, column in first.items()}, names) for names in (feature_columns, label_columns)]

        def batches():
            for batch in self.iter_batches(batch_size=batch_size, **others):
                yield pick(batch, feature_columns), pick(batch, label_columns)

        return tensorflow.data.Dataset.from_generator(batches, output_signature=tuple(specs))

    def count(self) -> int:
        """Returns the number of samples of the dataset, over all ranks."""
        if self._empty_columns is not None:
            return 0
        if self._place.here is not None:
            return len(self._place.here)
        assert self._link is not None and self._name is not None
        return self._link.fields(self._name)[1]

    def schema(self) -> Schema:
        """Returns the Schema of the batches. Reads no samples."""
        return Schema(self._empty_batch())

    def _empty_batch(self) -> dict[str, Any]:
        """Returns a batch with 0 samples, with the columns after all operations. Reads no samples and does not change the position."""
        columns = self._empty_columns if self._place.here is None else {name: column[:0] for name, column in self._place.here.columns.items()}
        if columns is None:
            assert self._link is not None and self._name is not None
            fields, _ = self._link.fields(self._name)
            columns = {field.name: numpy.empty((0, *field.shape), object if field.varies else field.dtype) for field in fields or ()}
        return applied(self._operations, columns, ())

    def materialize(self) -> MaterializedDataset:
        """Returns this rank's samples as a MaterializedDataset in memory, in the order of epoch 0."""
        assert self._in_memory is not None
        return self._in_memory(self.columns_at_once())

    def columns_at_once(self) -> dict[str, Any]:
        """Returns all samples of this rank as {name: array}, in the order of epoch 0. If this rank has no samples, the arrays are empty."""
        batches = DataIterator._batches(self, _LARGE_BATCH, "uneven", 0)
        found = [{name: column.copy() for name, column in batch.items()} for batch in batches]
        return concatenated(found) if found else self._empty_batch()

    def __repr__(self) -> str:
        return f"DataIterator({self._name if self.dataset is None else self.dataset})"
