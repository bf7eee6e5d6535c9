"""Samplers that can start at any position, in an order that depends only on the seed and the epoch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch.utils.data import DistributedSampler

from . import _seeding, _world


class EpochSampler(DistributedSampler):
    """A DistributedSampler whose order depends only on the seed and the epoch. Samples from position `first` of the order on are divided among the
    ranks. For `remainder` see prepare_data_loader()."""

    def __init__(self, dataset: Any, shuffle: bool, remainder: str, seed: int) -> None:
        super().__init__(dataset, num_replicas=_world.world_size(), rank=_world.world_rank(), shuffle=shuffle, seed=seed,
                         drop_last=remainder == "drop")
        if remainder == "uneven":
            self.total_size = len(dataset)
            self.num_samples = len(range(self.rank, self.total_size, self.num_replicas))
        self.first = 0  # position of the first sample, in the common order of all ranks

    def __iter__(self) -> Iterator[int]:
        return iter(self._order()[self.first:][self.rank::self.num_replicas])

    def _order(self) -> list[int]:
        """Returns the sample numbers of the epoch for all ranks, in the order that torch's DistributedSampler would use."""
        order = list(range(len(self.dataset)))
        if self.shuffle:
            order = torch.randperm(len(order), generator=torch.Generator().manual_seed(self.seed + self.epoch)).tolist()
        missing = self.total_size - len(order)
        if missing > 0 and order:
            order += (order * -(-missing // len(order)))[:missing]
        return order[:self.total_size]


class SeededBatch(list):
    """The sample indices of a batch, and a seed. The process that loads the batch iterates over the indices. The iteration first seeds that process's
    random numbers. Augmentation therefore depends only on the position of the batch."""

    seed: int | None = None

    @classmethod
    def of(cls, indices: Sequence[int], seed: int | None) -> SeededBatch:
        """Returns a SeededBatch with these sample indices and this seed. If `seed` is `None`, the batch seeds no random numbers."""
        batch = cls(indices)
        batch.seed = seed
        return batch

    def __iter__(self) -> Iterator[Any]:
        if self.seed is not None:
            _seeding.seed_all(self.seed)
        return super().__iter__()

    def __reduce__(self) -> Any:
        return SeededBatch.of, (self[:], self.seed)


class ResumableBatches:
    """A batch sampler that yields the batches of the batch sampler `batches` from any position as SeededBatch. Skipped batches are not loaded."""

    def __init__(self, batches: Any) -> None:
        self._batches, self._first = batches, 0
        self._seed_of: Callable[[int], int] | None = None

    def begin_at(self, first: int, seed_of: Callable[[int], int]) -> None:
        """Makes the next iterator skip `first` batches. `seed_of(n)` returns the seed of the n-th batch after the skipped batches."""
        self._first, self._seed_of = first, seed_of

    def __iter__(self) -> Iterator[Any]:
        return self._from(self._first, self._seed_of)

    def __len__(self) -> int:
        return len(self._batches)

    def _from(self, first: int, seed_of: Callable[[int], int] | None) -> Iterator[Any]:
        for number, indices in enumerate(self._batches):
            if number >= first:
                yield SeededBatch.of(indices, seed_of(number - first)) if seed_of and isinstance(indices, (list, tuple)) else indices
