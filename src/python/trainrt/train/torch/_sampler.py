"""Samplers with an order that depends on seed and epoch only, and with any start position."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch.utils.data import DistributedSampler

from . import _seeding, _world


class EpochSampler(DistributedSampler):
    """torch's DistributedSampler with an order that depends on seed and epoch only, and with a start position. The samples from the position `first`
    are divided among the present number of ranks. `remainder` as of prepare_data_loader()."""

    def __init__(self, dataset: Any, shuffle: bool, remainder: str, seed: int) -> None:
        super().__init__(dataset, num_replicas=_world.world_size(), rank=_world.world_rank(), shuffle=shuffle, seed=seed,
                         drop_last=remainder == "drop")
        if remainder == "uneven":
            self.total_size = len(dataset)
            self.num_samples = len(range(self.rank, self.total_size, self.num_replicas))
        self.first = 0  # position in the order of all ranks

    def __iter__(self) -> Iterator[int]:
        return iter(self._order()[self.first:][self.rank::self.num_replicas])

    def _order(self) -> list[int]:
        """Returns the order of all ranks' samples, as DistributedSampler makes it."""
        order = list(range(len(self.dataset)))
        if self.shuffle:
            order = torch.randperm(len(order), generator=torch.Generator().manual_seed(self.seed + self.epoch)).tolist()
        missing = self.total_size - len(order)
        if missing > 0 and order:
            order += (order * -(-missing // len(order)))[:missing]
        return order[:self.total_size]


class SeededBatch(list):
    """The indices of a batch. Iterating over it seeds the random numbers of the process that loads it, this one or a worker, so that augmentation
    depends on the position of the batch only."""

    seed: int | None = None

    @classmethod
    def of(cls, indices: Sequence[int], seed: int | None) -> SeededBatch:
        """Returns the batch of these indices and this seed."""
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
    """The batches of `batches`, a sampler of batches, from any position, each with its seed. Skipped batches are not loaded."""

    def __init__(self, batches: Any) -> None:
        self._batches, self._first = batches, 0
        self._seed_of: Callable[[int], int] | None = None

    def begin_at(self, first: int, seed_of: Callable[[int], int]) -> None:
        """Lets the next iterator skip `first` batches. `seed_of(number)` returns the seed of the batch with that number after them."""
        self._first, self._seed_of = first, seed_of

    def __iter__(self) -> Iterator[Any]:
        return self._from(self._first, self._seed_of)

    def __len__(self) -> int:
        return len(self._batches)

    def _from(self, first: int, seed_of: Callable[[int], int] | None) -> Iterator[Any]:
        for number, indices in enumerate(self._batches):
            if number >= first:
                yield SeededBatch.of(indices, seed_of(number - first)) if seed_of and isinstance(indices, (list, tuple)) else indices
