"""DataIterator: the batches of one rank's shard, what get_dataset_shard() returns."""

import itertools
import sys

from ._columns import rows_of
from ._numpy import numpy
from ._map_workers import MapWorkers
from ._operations import applied, checked_format, formatted
from ._shared_batches import Walk

_ALL_AT_ONCE = 1024


class Epochs:
    """Each walk over it is the next epoch."""

    def __init__(self, walk):
        self._walk = walk

    def __iter__(self):
        return self._walk()


class DataIterator:
    """Each walk over what iter_...() returns is one epoch, the next one: after a restart, the rest of the epoch that the checkpoint stands in. All ranks walk
    the datasets that are split among them together."""

    def __init__(self, link, name, dataset=None, before=None, epochs=None, empty_columns=None):
        """before(): called before each walk. epochs: their numbers, where the runtime does not count them. empty_columns: {name: array} of a
        dataset without samples, which no runtime reads; link and name are None then."""
        self._link, self._name, self._before, self._epochs, self._empty_columns = link, name, before, epochs, empty_columns
        self.at_padding = None  # called with the number of samples after an epoch that the ranks may have padded without being asked to
        self._operations = dataset._operations if dataset is not None else ()
        self._workers = None  # that apply the operations, once they are needed
        self._encoding = dataset._encoding if dataset is not None else "utf-8"

    @classmethod
    def local(cls, dataset):
        """Of all samples, for this process alone."""
        from . import _server
        server = _server.server()
        return cls(server.link, dataset._open_at(server), dataset, epochs=itertools.count())

    @classmethod
    def without_samples(cls, dataset, columns):
        """Of an empty dataset: {name: array} of its columns, before its operations."""
        return cls(None, None, dataset, empty_columns=columns)

    def iter_batches(self, *, batch_size=256, prefetch_batches=1, batch_format="default", drop_last=False, local_shuffle_buffer_size=None,
                     local_shuffle_seed=None, epoch=None, remainder=None, **others):
        """{name: array} of `batch_size` samples of this rank; batch_format="pandas": a DataFrame. The arrays are the batch's own, and lie
        in memory that the runtime has filled.

        The samples that do not fill a last batch on all ranks: remainder="pad" (as drop_last=False) repeats the epoch's first ones, so that
        all ranks have as many batches; "uneven" gives each sample once, which suits evaluation; "drop" (as drop_last=True) leaves them out.
        epoch: its number, where the next one is not meant. The runtime reads ahead (the keys threads and memory), whatever
        prefetch_batches says.
        """
        del prefetch_batches, local_shuffle_seed
        if others:
            raise TypeError(f"iter_batches() got an unexpected argument: {', '.join(sorted(others))}")
        if local_shuffle_buffer_size is not None:
            raise ValueError("local_shuffle_buffer_size is not offered, since all samples are shuffled among each other, at no more cost: give the "
                             "Trainer dataset.random_shuffle()")
        size, batch_format = self._checked_size(batch_size), checked_format(batch_format)
        at_end = self.at_padding if remainder is None and not drop_last else None
        return Epochs(lambda: self._batches(size, batch_format, remainder or ("drop" if drop_last else "pad"), epoch, at_end))

    def _checked_size(self, batch_size):
        if batch_size is None:
            return max(self.count(), 1)
        if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1:
            raise ValueError(f"batch_size={batch_size!r}: it must be a whole number, 1 or more")
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
        if workers is None:
            made = self._made_here(walk)
        else:
            made = walk.counted(workers.apply(iter(walk)))
        with walk:
            for batch in made:
                yield formatted(batch, batch_format)
                del batch  # its memory may be used again
        if at_end is not None:
            at_end(self.count())

    def _made_here(self, walk):
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
        """The samples one by one, as dicts; each once."""
        batches = self.iter_batches(batch_size=_ALL_AT_ONCE, remainder="uneven")
        return Epochs(lambda: (row for batch in batches for row in rows_of(batch)))

    def iter_torch_batches(self, *, batch_size=256, dtypes=None, device="auto", collate_fn=None, pin_memory=False, **others):
        """{name: tensor}, on the rank's device, without a copy on the CPU. dtypes: one type, or {name: type}. collate_fn(batch) makes what
        is yielded of {name: array}."""
        import torch
        device = _device_of(torch, device)
        batches = self.iter_batches(batch_size=batch_size, **others)

        def tensors_of(batch):
            if collate_fn is not None:
                return _moved(torch, collate_fn(batch), device)
            return {name: _tensor(torch, name, column, _dtype_of(dtypes, name), device, pin_memory) for name, column in batch.items()}

        return Epochs(lambda: map(tensors_of, batches))

    def iter_tf_batches(self, *, batch_size=256, dtypes=None, **others):
        """{name: tf.Tensor}."""
        import tensorflow
        batches = self.iter_batches(batch_size=batch_size, **others)

        def tensors_of(batch):
            return {name: tensorflow.convert_to_tensor(column.tolist() if column.dtype == object else column, dtype=_dtype_of(dtypes, name))
                    for name, column in batch.items()}

        return Epochs(lambda: map(tensors_of, batches))

    def to_torch(self, *, label_column=None, feature_columns=None, batch_size=1, label_column_dtype=None, feature_column_dtypes=None,
                 unsqueeze_label_tensor=True, unsqueeze_feature_tensors=True, **others):
        """A torch IterableDataset of (features, labels), each [samples, ...]. One feature column: its tensor; several: their numbers side by
        side, [samples, columns]. It is walked in this process: DataLoader(..., batch_size=None, num_workers=0)."""
        from ._torch_dataset import pairs_of
        return pairs_of(self, label_column, feature_columns, batch_size, label_column_dtype, feature_column_dtypes, unsqueeze_label_tensor,
                        unsqueeze_feature_tensors, others)

    def to_tf(self, feature_columns, label_columns, *, batch_size=1, **others):
        """A tf.data.Dataset of (features, labels): a tensor for one column's name, a dict for a list of names."""
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
        """Samples of the whole dataset, over all ranks."""
        return 0 if self._empty_columns is not None else self._link.fields(self._name)[1]

    def schema(self):
        """Names and types of the columns, as they are read."""
        from ._dataset import Schema
        return Schema(self._empty_batch())

    def _empty_batch(self):
        """Through all that is made of batches: nothing is read, and no place in the data moves."""
        if self._empty_columns is not None:
            return applied(self._operations, self._empty_columns, ())
        fields, _ = self._link.fields(self._name)
        batch = {field.name: numpy.empty((0, *field.shape), object if field.varies else field.dtype) for field in fields}
        return applied(self._operations, batch, ())

    def materialize(self):
        """This rank's samples in memory, in the order of the first epoch."""
        from ._dataset import MaterializedDataset
        from ._sources import MemorySource
        return MaterializedDataset(MemorySource(self.columns_at_once()))

    def columns_at_once(self):
        """The same as {name: array}. Empty arrays on a rank that has no samples."""
        from ._columns import concatenated
        batches = self.iter_batches(batch_size=_ALL_AT_ONCE, remainder="uneven", epoch=0)
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
        raise TypeError(f"the column '{name}' holds texts, or arrays of several lengths, of which there is no one tensor: leave it out by "
                        f"drop_columns(['{name}']), or make a tensor of it by collate_fn, map or map_batches")
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
