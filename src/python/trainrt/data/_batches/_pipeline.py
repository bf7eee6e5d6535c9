"""PipelineIterator, the DataIterator of a DatasetPipeline."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

from ._epochs import Epochs
from ._iterator import DataIterator


class PipelineIterator(DataIterator):
    """The DataIterator of a DatasetPipeline. Each of its loops goes through all epochs that remain.

    Examples
    --------
    >>> import trainrt
    >>> iterator = trainrt.data.range(3).repeat(2).iterator()
    >>> [row["id"] for row in iterator.iter_rows()]
    [0, 1, 2, 0, 1, 2]
    """

    def iter_batches(self, **arguments: Any) -> Iterable[Any]:  # type: ignore[override]
        """Returns an iterable over the batches of all epochs that remain. The arguments are those of DataIterator.iter_batches()."""
        if arguments.get("epoch") is not None:
            return super().iter_batches(**arguments)
        return Epochs(lambda: itertools.chain.from_iterable(window.iter_batches(**arguments) for window in self.iter_datasets()))

    def iter_datasets(self) -> Iterator[DataIterator]:
        """Yields a DataIterator for each epoch that remains. A loop over the batches of a DataIterator reads the next epoch of this rank's shard."""
        window = DataIterator(lambda: self._place, before=self._before, epochs=self._epochs, in_memory=self._in_memory)
        window._operations, window._encoding, window.at_padding, window.end_epoch = self._operations, self._encoding, self.at_padding, self.end_epoch
        first = 0 if self.epoch is None else self.epoch + 1
        for given in itertools.count():
            next_epoch = first + given if window.epoch is None else max(first + given, window.epoch + 1)
            if self.end_epoch is not None and next_epoch >= self.end_epoch:
                return
            yield window
            self.epoch = self.epoch if window.epoch is None else window.epoch

    def iter_epochs(self, max_epoch: int = -1) -> Iterator[DataIterator]:
        """Yields the DataIterators of iter_datasets(): at most `max_epoch` of them, or all if `max_epoch` is negative."""
        return itertools.islice(self.iter_datasets(), None if max_epoch < 0 else max_epoch)
