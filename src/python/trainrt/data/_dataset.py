"""Dataset, which describes samples, their order and operations on the samples, MaterializedDataset and DatasetPipeline. Samples are read when a method
needs them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Callable

from .._client.values import kind_of
from ._batches._iterator import DataIterator
from ._batches._pipeline import PipelineIterator
from ._changes import ChangeMethods
from ._choices import ChoiceMethods
from ._combined import CombineMethods


class Dataset(ChangeMethods, ChoiceMethods, CombineMethods):
    """An immutable dataset of samples with named columns, as read_*() and from_*() return. Each operation returns a new Dataset.

    To train on a Dataset, pass ``datasets={"train": dataset}`` to a Trainer. Methods that need samples read the samples in this process, and raise
    RuntimeError or ValueError if reading fails. Arguments of Ray Data that only place tasks on a cluster (num_cpus, compute, ...) are ignored.
    Methods raise TypeError for unknown arguments and for functions that are not callable.

    Examples
    --------
    >>> import trainrt
    >>> dataset = trainrt.data.range(10).filter(expr="id < 6").map(lambda row: {"half": row["id"] / 2})
    >>> dataset.count()
    6
    >>> dataset.take(2)
    [{'half': 0.0}, {'half': 0.5}]
    >>> train, test = dataset.train_test_split(0.5)
    >>> test.take_batch()["half"].tolist()
    [1.5, 2.0, 2.5]
    """

    def _new(self, *, materialized: bool = False, **parts: Any) -> Dataset:
        return MaterializedDataset(**parts) if materialized else Dataset(**parts)

    def _pipeline(self, times: int | None) -> DatasetPipeline:
        return DatasetPipeline(times=times, source=self._source, rows=self._rows, operations=self._operations, keys=self._keys, encoding=self._encoding,
                               reshape=self._reshape)

    def __repr__(self) -> str:
        rows = "" if self._rows is None else ", of rows" if callable(self._rows) else f", {len(self._rows)} rows"
        made = "".join(f", {name}" for name in self._reshape.keys)
        count = len(self._operations)
        return f"Dataset({self._source}{made}{rows}{f', {count} operation' + 's' * (count > 1) if count else ''})"


class MaterializedDataset(Dataset):
    """A Dataset whose samples are in memory, as materialize() and from_*() return.

    Examples
    --------
    >>> import trainrt
    >>> trainrt.data.range(3).map_batches(lambda batch: {"square": batch["id"] ** 2}).materialize()
    Dataset(in memory: square)
    """


class DatasetPipeline(Dataset):
    """A Dataset whose iterators go through `times` epochs, without an end by default; repeat() and window() of a Dataset return it. A window is an
    epoch of the complete dataset. Methods that explore the dataset, such as take() and count(), use one epoch.

    Examples
    --------
    >>> import trainrt
    >>> pipeline = trainrt.data.range(4).repeat(3).random_shuffle_each_window()
    >>> [sorted(row["id"] for row in window.iter_rows()) for window in pipeline.iter_datasets()]
    [[0, 1, 2, 3], [0, 1, 2, 3], [0, 1, 2, 3]]
    """

    def __init__(self, *, times: int | None = None, **parts: Any) -> None:
        super().__init__(**parts)
        self._times = times

    def _new(self, *, materialized: bool = False, **parts: Any) -> Dataset:
        return super()._new(materialized=True, **parts) if materialized else DatasetPipeline(times=self._times, **parts)

    def random_shuffle_each_window(self, *, seed: int | None = None, **resources: Any) -> Dataset:
        """Shuffles the samples, in a new random order in each epoch, as random_shuffle() does."""
        return self.random_shuffle(seed=seed, **resources)

    def randomize_block_order_each_window(self, *, seed: int | None = None) -> Dataset:
        """Shuffles the samples, in a new random order in each epoch, as random_shuffle() does."""
        return self.random_shuffle(seed=seed)

    def repartition_each_window(self, num_blocks: int, **others: Any) -> Dataset:
        """Returns this pipeline unchanged, since samples are not stored in blocks."""
        return self.repartition(num_blocks, **others)

    def rewindow(self, *, blocks_per_window: int, preserve_epoch: bool = True) -> Dataset:
        """Returns this pipeline unchanged, since its only window is the complete dataset."""
        del blocks_per_window, preserve_epoch
        return self

    def foreach_window(self, fn: Callable[[Dataset], Dataset]) -> Dataset:
        """Returns the pipeline of `fn(dataset)`. `fn` is called once, and must return the result of methods of `dataset`."""
        changed = fn(self)
        if not isinstance(changed, DatasetPipeline):
            raise TypeError(f"foreach_window(): the function returned {kind_of(changed)}; it must return the result of methods of its dataset")
        return changed

    def iterator(self) -> PipelineIterator:
        """Returns a PipelineIterator over the samples of all epochs."""
        found = PipelineIterator.local(self)
        found.dataset, found.end_epoch = self, self._times
        return found  # type: ignore[return-value]

    def iter_datasets(self) -> Iterator[DataIterator]:
        """Yields a DataIterator for each epoch. A loop over the batches of a DataIterator reads the next epoch."""
        return self.iterator().iter_datasets()

    def iter_epochs(self, max_epoch: int = -1) -> Iterator[DataIterator]:
        """Yields the DataIterators of iter_datasets(): at most `max_epoch` of them, or all if `max_epoch` is negative."""
        return self.iterator().iter_epochs(max_epoch)

    def iter_rows(self) -> Iterable[dict[str, Any]]:
        """Returns an iterable over the samples of all epochs as dicts."""
        return self.iterator().iter_rows()

    def iter_batches(self, **arguments: Any) -> Iterable[Any]:
        """Returns an iterable over the batches of all epochs. The arguments are those of DataIterator.iter_batches()."""
        return self.iterator().iter_batches(**arguments)

    def iter_torch_batches(self, **arguments: Any) -> Iterable[Any]:
        """Returns an iterable over the tensor batches of all epochs. The arguments are those of DataIterator.iter_torch_batches()."""
        return self.iterator().iter_torch_batches(**arguments)

    def __repr__(self) -> str:
        return f"DatasetPipeline({super().__repr__()}, {'repeated' if self._times is None else f'{self._times} epochs'})"
