"""The order of samples in an epoch, and the batches of a loader from any place on."""

import torch
from torch.utils.data import DistributedSampler

from . import _world, _seeding


class EpochSampler(DistributedSampler):
    """torch's DistributedSampler, whose order is a function of (seed, epoch), and which can begin behind the samples that all ranks
    together have seen: the rest is dealt out to the ranks that are there now. remainder: as of prepare_data_loader()."""

    def __init__(self, dataset, shuffle, remainder, seed):
        super().__init__(dataset, num_replicas=_world.world_size(), rank=_world.world_rank(), shuffle=shuffle, seed=seed, drop_last=remainder == "drop")
        if remainder == "uneven":
            self.total_size = len(dataset)
            self.num_samples = len(range(self.rank, self.total_size, self.num_replicas))
        self.first = 0  # place in the order of all ranks

    def __iter__(self):
        return iter(self._order()[self.first:][self.rank::self.num_replicas])

    def _order(self):
        """Of all ranks: as DistributedSampler makes it."""
        order = list(range(len(self.dataset)))
        if self.shuffle:
            order = torch.randperm(len(order), generator=torch.Generator().manual_seed(self.seed + self.epoch)).tolist()
        missing = self.total_size - len(order)
        if missing > 0 and order:
            order += (order * -(-missing // len(order)))[:missing]
        return order[:self.total_size]


class SeededBatch(list):
    """The indices of a batch. Whoever loads it, this process or a worker, seeds its random numbers as it begins: so what augmentation draws
    depends on the batch's place alone, and not on which worker has loaded what before."""

    seed = None

    @classmethod
    def of(cls, indices, seed):
        batch = cls(indices)
        batch.seed = seed
        return batch

    def __iter__(self):
        if self.seed is not None:
            _seeding.seed_all(self.seed)
        return super().__iter__()

    def __reduce__(self):
        return SeededBatch.of, (self[:], self.seed)


class PlacedBatches:
    """What `batches`, a sampler of batches, gives from a place on, each with its seed. Indices are skipped, and nothing is loaded."""

    def __init__(self, batches):
        self._batches, self._first, self._seed_of = batches, 0, None

    def begin_at(self, first, seed_of):
        """The next iterator skips `first` batches; `seed_of(number)` is the seed of the batch with that number behind them."""
        self._first, self._seed_of = first, seed_of

    def __iter__(self):
        return self._from(self._first, self._seed_of)

    def __len__(self):
        return len(self._batches)

    def _from(self, first, seed_of):
        for number, indices in enumerate(self._batches):
            if number >= first:
                yield SeededBatch.of(indices, seed_of(number - first)) if seed_of and isinstance(indices, (list, tuple)) else indices
