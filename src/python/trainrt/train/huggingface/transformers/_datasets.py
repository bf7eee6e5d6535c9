"""Datasets for a transformers.Trainer, which read the dataset shards of a rank."""

from typing import Any

import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset

from ....data._values._columns import rows_of


class TrainRows(IterableDataset):
    """The samples of this rank's shard, as dicts of tensors. Each loop is one epoch; all ranks have the same number of samples."""

    def __init__(self, shard: Any, world_size: int) -> None:
        super().__init__()
        self._shard, self._world_size = shard, world_size
        self._batch_size, self._drops_last = 1, False
        self._epoch, self._skipped = 0, 0  # epoch of the next loop, and number of batches that the loop skips
        self._loop: Any = None  # the newest loop: a shard saves the position of one loop only

    def __len__(self) -> int:
        """Returns the number of samples of this rank per epoch."""
        count = self._shard.count()
        if self._drops_last:
            return count // (self._world_size * self._batch_size) * self._batch_size
        return -(-count // self._world_size)

    def __iter__(self) -> Any:
        if self._loop is not None:
            self._loop.close()
        self._loop = self._rows(self._epoch, self._skipped)
        self._epoch, self._skipped = self._epoch + 1, 0
        return self._loop

    def start_at(self, epoch: int, skipped_batches: int) -> None:
        """Sets the epoch of the next loop. The loop yields `None` for the samples of its first `skipped_batches` batches, which Transformers skips after a
        restart; the shard itself continues after them."""
        self._epoch, self._skipped = epoch, skipped_batches

    def _rows(self, epoch: int, skipped: int) -> Any:
        for _ in range(skipped * self._batch_size):
            yield None
        for batch in self._shard.iter_batches(batch_size=self._batch_size, remainder="drop" if self._drops_last else "pad", epoch=epoch):
            yield from map(_with_tensors, rows_of(batch))

    def loader(self, batch_size: int, drops_last: bool, collate: Any) -> DataLoader:
        """Returns a DataLoader of this rank's batches. It draws from its own generator, because checkpoints restore the state of torch's default one."""
        self._batch_size, self._drops_last = batch_size, drops_last
        return DataLoader(self, batch_size=batch_size, collate_fn=_SkipsOr(collate), generator=torch.Generator())


class EvaluationRows(Dataset):
    """All samples of a dataset, in memory. Transformers divides them among the ranks and counts each sample once."""

    def __init__(self, shard: Any) -> None:
        self._rows = list(rows_of(shard.columns_at_once()))

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, number: int) -> Any:
        return _with_tensors(self._rows[number])


class _SkipsOr:
    """Collates the samples of a batch with `collate`. A batch that is skipped has `None` in place of its samples, and the result is `None`."""

    def __init__(self, collate: Any) -> None:
        self._collate = collate

    def __call__(self, samples: Any) -> Any:
        return None if samples[0] is None else self._collate(samples)


def _with_tensors(row: Any) -> Any:
    return {name: value if isinstance(value, (str, bytes)) else torch.as_tensor(value) for name, value in row.items()}
