"""DataIterator: the batches of one rank's shard, which get_dataset_shard() returns."""

import itertools
import sys

from ._columns import concatenated, rows_of
from ._map_workers import MapWorkers
from ._numpy import numpy
from ._operations import applied, checked_format, formatted
from ._shared_batches import Walk

_LARGE_BATCH = 1024  # samples


class Epochs:
    """An iterable; each iteration over it is the next epoch."""

    def __init__(self, walk):
        self._walk = walk

    def __iter__(self):
        return self._walk()


class DataIterator:
    """The batches of this rank. Each iteration over the result of an iter_...() method is one epoch, the next one; after a restart, the first
    one is the rest of the epoch in which the checkpoint was saved. All ranks must iterate over datasets that are split among them. A rank
    iterates in one thread."""

    def __init__(self, link, name, dataset=None, before=None, epochs=None, empty_columns=None):
        """`before()` is called before each epoch. `epochs` yields the numbers of epochs if the runtime does not count them. `empty_columns`,
        {name: array}, are the columns of a dataset without samples; `link` and `name` are then None."""
        self._link, self._name, self._before, self._epochs, self._empty_columns = link, name, before, epochs, empty_columns
        self.at_padding = None  # called with count() after an epoch that may have repeated samples by default
        self._operations = dataset._operations if dataset is not None else ()
        self._workers = None  # processes that apply the operations, started when needed
        self._encoding = dataset._encoding if dataset is not None else "utf-8"

    @classmethod
    def local(cls, dataset):
        """Returns an iterator over all samples, for this process."""
        from . import _server
        server = _server.server()
        return cls(server.link, dataset._open_at(server), dataset, epochs=itertools.count())

    @classmethod
    def without_samples(cls, dataset, columns):
        """Returns the iterator of an empty dataset. `columns`, {name: array}, are its columns before its operations."""
        return cls(None, None, dataset, empty_columns=columns)

    def iter_batches(self, *, batch_size=256, prefetch_batches=1, batch_format="default", drop_last=False, local_shuffle_buffer_size=None,
                     local_shuffle_seed=None, epoch=None, remainder=None, **others):
        """Returns an iterable over batches: {name: array}, arrays of shape [batch_size, ...]. The caller owns the arrays.

        batch_size: samples of this rank per batch; None: all samples.
        batch_format: "numpy" (default), or "pandas" for DataFrames.
        remainder: treatment of samples that do not fill the last batch on all ranks. "pad" (default) repeats the first samples of the
        epoch, so that all ranks have equally many batches; "uneven" uses each sample once, for evaluation; "drop" (drop_last=True) leaves
        them out.
        epoch: number of the epoch, for a loop that counts itself; default: the next one.
        prefetch_batches, local_shuffle_seed: ignored; the keys `threads` and `memory` control reading ahead.

        Raises ValueError for invalid values and for local_shuffle_buffer_size, TypeError for unknown arguments; the iteration raises
        RuntimeError if samples cannot be read, and TypeError or ValueError for invalid results of map functions."""
        del prefetch_batches, local_shuffle_seed
        if others:
            raise TypeError(f"iter_batches() got an unexpected argument: {', '.join(sorted(others))}")
        if local_shuffle_buffer_size is not None:
            raise ValueError("local_shuffle_buffer_size is not supported: random_shuffle() of the dataset shuffles all samples, at no additional cost")
        size, batch_format = self._checked_size(batch_size), checked_format(batch_format)
        at_end = self.at_padding if remainder is None and not drop_last else None
        return Epochs(lambda: self._batches(size, batch_format, remainder or ("drop" if drop_last else "pad"), epoch, at_end))

    def _checked_size(self, batch_size):
        if batch_size is None:
            return max(self.count(), 1)
        if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1:
            raise ValueError(f"batch_size={batch_size!r}: it must be an integer, 1 or more")
        return batch_size

    def _batches(self, batch_size, batch_format, remainder, epoch, at_end=None):
        if self._empty_columns is not None:
            return
        if self._before is not None:
            self._before()
        if epoch is None and self._epochs is not None:
            epoch = next(self._epochs)
        workers = self._map_workers()
        walk = Walk(self._link, self._name, batch_size, remainder, epoch, encoding=self._encoding, is_ahead=workers is not None,
                    has_draws=any(operation.is_random for operation in self._operations))
        batches = self._applied_here(walk) if workers is None else walk.counted(workers.apply(iter(walk)))
        with walk:
            for batch in batches:
                yield formatted(batch, batch_format)
                del batch  # its memory may be reused
        if at_end is not None:
            at_end(self.count())

    def _applied_here(self, walk):
        for batch, draws in walk:
            batch = applied(self._operations, batch, draws)
            yield batch
            del batch

    def _map_workers(self):
        count = max((operation.workers for operation in self._operations), default=0)
        if count and self._workers is None:
            self._workers = MapWorkers(self._operations, count)
        return self._workers

    def iter_rows(self):
        """Returns an iterable over this rank's samples as dicts, each once."""
        batches = self.iter_batches(batch_size=_LARGE_BATCH, remainder="uneven")
        return Epochs(lambda: (row for batch in batches for row in rows_of(batch)))

    def iter_torch_batches(self, *, batch_size=256, dtypes=None, device="auto", collate_fn=None, pin_memory=False, **others):
        """Returns an iterable over batches of torch tensors: {name: tensor of shape [batch_size, ...]}.

        dtypes: one torch dtype for all columns, or {name: dtype}; default: that of the column.
        device: a torch device; "auto": the rank's GPU if there is one, else the CPU.
        collate_fn: function of {name: array} that returns the batch to yield; its tensors are moved to the device.
        pin_memory: True copies through pinned memory, without blocking, if the device is a GPU.
        others: arguments of iter_batches().

        The iteration raises TypeError for a column of texts or of arrays with different lengths, unless collate_fn is given."""
        import torch
        device = _device_of(torch, device)

        def tensors_of(batch):
            if collate_fn is not None:
                return _moved(torch, collate_fn(batch), device)
            return {name: _tensor(torch, name, column, _dtype_of(dtypes, name), device, pin_memory) for name, column in batch.items()}

        batches = self.iter_batches(batch_size=batch_size, **others)
        return Epochs(lambda: map(tensors_of, batches))

    def iter_tf_batches(self, *, batch_size=256, dtypes=None, **others):
        """Returns an iterable over batches of TensorFlow tensors, {name: tf.Tensor}. `dtypes`: one type, or {name: type}; `others`: arguments of
        iter_batches()."""
        import tensorflow

        def tensors_of(batch):
            return {name: tensorflow.convert_to_tensor(column.tolist() if column.dtype == object else column, dtype=_dtype_of(dtypes, name))
                    for name, column in batch.items()}

        batches = self.iter_batches(batch_size=batch_size, **others)
        return Epochs(lambda: map(tensors_of, batches))

    def to_torch(self, *, label_column=None, feature_columns=None, batch_size=1, label_column_dtype=None, feature_column_dtypes=None,
                 unsqueeze_label_tensor=True, unsqueeze_feature_tensors=True, **others):
        """Returns a torch IterableDataset of (features, labels) batches, or of features if `label_column` is None.

        feature_columns: names; default: all other columns. One column gives its tensor, several their values side by side,
        [batch_size, columns].
        feature_column_dtypes: one torch dtype, {name: dtype}, or a list in the order of the columns.
        unsqueeze_...: True gives tensors of one axis a second one of length 1.
        others: arguments of iter_batches().

        Use DataLoader(dataset, batch_size=None, num_workers=0): iterating in a worker process raises RuntimeError."""
        from ._torch_dataset import pairs_of
        return pairs_of(self, label_column, feature_columns, batch_size, label_column_dtype, feature_column_dtypes, unsqueeze_label_tensor,
                        unsqueeze_feature_tensors, others)

    def to_tf(self, feature_columns, label_columns, *, batch_size=1, **others):
        """Returns a tf.data.Dataset of (features, labels) batches: a tensor for one column's name, a dict for a list of names."""
        import tensorflow
        first = self._empty_batch()
        pick = lambda batch, names: batch[names] if isinstance(names, str) else {name: batch[name] for name in names}
        spec = lambda column: tensorflow.TensorSpec((None, *column.shape[1:]), tensorflow.string if column.dtype == object else column.dtype)
        specs = [pick({name: spec(column) for name, column in first.items()}, names) for names in (feature_columns, label_columns)]

        def batches():
            for batch in self.iter_batches(batch_size=batch_size, **others):
                yield pick(batch, feature_columns), pick(batch, label_columns)

        return tensorflow.data.Dataset.from_generator(batches, output_signature=tuple(specs))

    def count(self):
        """Returns the number of samples of the dataset, over all ranks."""
        return 0 if self._empty_columns is not None else self._link.fields(self._name)[1]

    def schema(self):
        """Returns the Schema of the batches. Reads no samples."""
        from ._dataset import Schema
        return Schema(self._empty_batch())

    def _empty_batch(self):
        """Returns a batch without samples, after the operations. Reads nothing and does not change the position."""
        columns = self._empty_columns
        if columns is None:
            fields, _ = self._link.fields(self._name)
            columns = {field.name: numpy.empty((0, *field.shape), object if field.varies else field.dtype) for field in fields}
        return applied(self._operations, columns, ())

    def materialize(self):
        """Returns this rank's samples as a MaterializedDataset in memory, in the order of epoch 0."""
        from ._dataset import MaterializedDataset
        from ._sources import MemorySource
        return MaterializedDataset(MemorySource(self.columns_at_once()))

    def columns_at_once(self):
        """Returns this rank's samples as {name: array}, in the order of epoch 0; empty arrays if it has no samples."""
        batches = self.iter_batches(batch_size=_LARGE_BATCH, remainder="uneven", epoch=0)
        found = [{name: column.copy() for name, column in batch.items()} for batch in batches]
        return concatenated(found) if found else self._empty_batch()

    def __repr__(self):
        return f"DataIterator({self._name})"


# ---- torch -----------------------------------------------------------------------------------------------------------------


def _device_of(torch, device):
    if device != "auto":
        return torch.device(device)
    if "trainrt.train.torch" in sys.modules and torch.cuda.is_available():
        from ..train.torch import get_device
        return get_device()
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def _dtype_of(dtypes, name):
    return dtypes.get(name) if isinstance(dtypes, dict) else dtypes


def _tensor(torch, name, column, dtype, device, pin_memory):
    if column.dtype == object:
        raise TypeError(f"the column '{name}' has texts or arrays of several lengths, which do not make one tensor: remove it by "
                        f"drop_columns(['{name}']), or convert it by collate_fn, map or map_batches")
    tensor = torch.from_numpy(column)
    if pin_memory and device.type == "cuda":
        tensor = tensor.pin_memory()
    return tensor.to(device=device, dtype=dtype, non_blocking=pin_memory)


def _moved(torch, value, device):
    if isinstance(value, torch.Tensor):
        return value.to(device)
    if isinstance(value, dict):
        return {name: _moved(torch, part, device) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_moved(torch, part, device) for part in value)
    return value
