"""prepare_data_loader(), which returns a DataLoader that loads this rank's samples and saves its position in checkpoints."""

from __future__ import annotations

import functools
import warnings
import weakref
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils.data import DataLoader, DistributedSampler, IterableDataset, RandomSampler, SequentialSampler

from ..._client.values import kind_of
from ..._support import _notes
from . import _seeding, _transfer, _world
from ._sampler import EpochSampler, ResumableBatches

# Arguments that a PreparedDataLoader copies from the user's DataLoader. Older versions of torch lack some of them.
_PARTS = ("num_workers", "collate_fn", "pin_memory", "timeout", "worker_init_fn", "multiprocessing_context", "generator", "prefetch_factor",
          "persistent_workers", "pin_memory_device", "in_order")
_REMAINDERS = ("pad", "uneven", "drop")


def prepare_data_loader(data_loader: DataLoader, add_dist_sampler: bool = True, move_to_device: bool = True, auto_transfer: bool = True, *,
                        remainder: str | None = None) -> PreparedDataLoader:
    """Returns a DataLoader that yields this rank's samples.

    Each loop over the loader is one epoch. The order depends only on run.seed and the epoch; calling set_epoch() is optional. If the loader is passed
    to load_state() and save_state(), they save and restore the position: after a restart, the first loop skips used batches without loading them.
    Before each batch, the loader seeds all random numbers in this process and its workers from run.seed, epoch, batch and rank. Dropout and
    augmentation are therefore equal after a restart.

    Parameters
    ----------
    data_loader : torch.utils.data.DataLoader
    add_dist_sampler : bool
        Divides the samples among the ranks.
    move_to_device : bool
        Moves batches to the device of this rank.
    auto_transfer : bool
        Copies the next batch while the program uses the current one.
    remainder : {"pad", "uneven", "drop"}, optional
        Treatment of samples that do not divide evenly among the ranks. "pad" (default) repeats the first samples until all ranks have equally many
        batches. A note reports the repetition if the loader does not shuffle and `remainder` was not passed. "uneven" uses each sample once. Some
        ranks may then have one batch less, so the ranks must not wait for each other at each batch. "drop" leaves out the samples that do not
        fill the last batch on all ranks.

    Examples
    --------
    >>> import torch
    >>> from torch.utils.data import DataLoader, TensorDataset
    >>> from trainrt.train.torch import prepare_data_loader
    >>> loader = prepare_data_loader(DataLoader(TensorDataset(torch.arange(6.0)), batch_size=2), move_to_device=False)
    >>> [batch.tolist() for batch, in loader]
    [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
    >>> loader.state_dict()
    {'epoch': 1, 'batches': 0, 'samples': 0}
    """
    if remainder not in (*_REMAINDERS, None):
        raise ValueError(f"prepare_data_loader(remainder={remainder!r}): it must be 'pad', 'uneven' or 'drop'")
    if not isinstance(data_loader, DataLoader):
        raise TypeError(f"prepare_data_loader() takes a torch.utils.data.DataLoader, not {kind_of(data_loader)}")
    device = _transfer.get_device() if move_to_device else torch.device("cpu")
    return PreparedDataLoader(data_loader, _sampling(data_loader, add_dist_sampler, remainder), device, auto_transfer, remainder is None)


def _sampling(loader: Any, add_dist_sampler: bool, remainder: str | None) -> dict[str, Any]:
    """Returns the arguments of a DataLoader that define its order."""
    drop_last = loader.drop_last or remainder == "drop"
    if isinstance(loader.dataset, IterableDataset):
        return {"batch_size": loader.batch_size, "drop_last": drop_last}
    if loader.batch_size is None and loader.batch_sampler is not None:  # the user's batch_sampler
        if add_dist_sampler and _world.world_size() > 1 and not isinstance(getattr(loader.batch_sampler, "sampler", None), DistributedSampler):
            raise ValueError("prepare_data_loader(): the loader has its own batch_sampler, whose batches cannot be divided among the ranks: make it "
                             "yield this rank's batches (trainrt.train.get_context().get_world_rank()), and pass add_dist_sampler=False")
        _require_default_remainder(remainder, "batch_sampler")
        return {"batch_sampler": loader.batch_sampler}
    return {"batch_size": loader.batch_size, "drop_last": drop_last, "sampler": _sampler(loader, add_dist_sampler, remainder)}


def _require_default_remainder(remainder: str | None, kept: str) -> None:
    if remainder in ("uneven", "drop") and _world.world_size() > 1:
        raise ValueError(f"prepare_data_loader(remainder={remainder!r}): the loader keeps its own {kept}, which defines the samples of each rank; "
                         f"leave remainder out")


def _sampler(loader: Any, add_dist_sampler: bool, remainder: str | None) -> Any:
    given = loader.sampler
    is_plain = isinstance(given, SequentialSampler) or (type(given) is RandomSampler and not given.replacement and
                                                         given.num_samples == len(loader.dataset))
    alone = _world.world_size() == 1
    if isinstance(given, DistributedSampler) or (not is_plain and alone) or not (add_dist_sampler or alone):
        _require_default_remainder(remainder, "sampler")
        return given
    if not isinstance(given, (SequentialSampler, RandomSampler)) and _world.world_rank() == 0:
        warnings.warn(f"prepare_data_loader() replaces the {type(given).__name__} with a sampler that divides the samples among the ranks; "
                      f"add_dist_sampler=False keeps it", stacklevel=4)
    return EpochSampler(loader.dataset, not isinstance(given, SequentialSampler), remainder or "pad", _world.base_seed() % 2**32)


_running: weakref.WeakSet[PreparedDataLoader] = weakref.WeakSet()


def running_loaders() -> list[PreparedDataLoader]:
    """Returns the loaders over which a loop is running."""
    return list(_running)


class PreparedDataLoader(DataLoader):
    """The loader of prepare_data_loader(). `sampling` holds the DataLoader arguments that define the order. If `notes_padding` is True, a note
    reports repeated samples."""

    is_in_state = False  # whether load_state() has got this loader
    _resumable: ResumableBatches | None = None  # batch sampler that torch's iterators use

    def __init__(self, loader: Any, sampling: dict[str, Any], device: torch.device, auto_transfer: bool, notes_padding: bool) -> None:
        parts = {name: getattr(loader, name) for name in _PARTS if hasattr(loader, name)}
        super().__init__(loader.dataset, **sampling, **parts)
        self.generator: Any = loader.generator or torch.Generator()
        self._device, self._auto_transfer, self._notes_padding = device, auto_transfer, notes_padding
        self._current_loop: object | None = None  # the newest loop, while it runs
        self._chosen_epoch: int | None = None
        self._known_epoch = getattr(self._ordering, "epoch", None)
        self._go_to(0)
        if not isinstance(self.dataset, IterableDataset):
            self._resumable = ResumableBatches(super()._index_sampler)

    def set_epoch(self, epoch: int) -> None:
        """Sets the number of the next epoch. The call is optional: without it, the loader counts the epochs."""
        self._chosen_epoch = int(epoch)

    def state_dict(self) -> dict[str, int]:
        """Returns the position: the epoch, and in this epoch the number of batches of this rank and the number of samples of all ranks."""
        return dict(self._position)

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Sets the position at which the next loop begins. Raises ValueError unless `state` is a result of state_dict()."""
        wrong = [name for name in self._position if type(state.get(name)) is not int or state[name] < 0]
        if wrong:
            raise ValueError(f"the state of a loader needs {', '.join(wrong)}, integers from 0, as state_dict() returns them: {state!r}")
        self._go_to(**{name: state[name] for name in self._position})
        self._current_loop = self._chosen_epoch = None

    @property
    def _index_sampler(self) -> Any:
        return self._resumable or super()._index_sampler

    @property
    def _ordering(self) -> Any:
        """The sampler of single samples, or `None`."""
        return getattr(self.batch_sampler, "sampler", None) if self.batch_size is None and self.batch_sampler is not None else self.sampler

    def __iter__(self) -> Iterator[Any]:
        self._begin_epoch()
        self._current_loop = loop = object()
        _running.add(self)
        batches = self._loaded(self._position["epoch"], self._position["batches"])
        if self._device.type == "cuda":
            move = _transfer.moved_ahead if self._auto_transfer else _transfer.moved_each
            batches = move(batches, self._device)
        return self._counted(batches, loop)

    def _begin_epoch(self) -> None:
        if self._current_loop:  # the program left the last loop early, for example by `break`
            self._go_to(self._position["epoch"] + 1)
        theirs = getattr(self._ordering, "epoch", None)
        epoch = theirs if theirs != self._known_epoch else self._chosen_epoch
        if epoch is not None and epoch != self._position["epoch"]:
            self._go_to(epoch)
        self._chosen_epoch = None

    def _counted(self, batches: Iterator[Any], loop: object) -> Iterator[Any]:
        """Yields the batches and advances the position. After a loop has ended, or was left by `break`, the next loop begins a new epoch."""
        try:
            for batch in batches:
                if self._current_loop is loop:
                    _seeding.seed_all(_seed_of("step", self._position["epoch"], self._position["batches"]))
                    samples = (self.batch_size or 1) * _world.world_size()
                    self._go_to(self._position["epoch"], self._position["batches"] + 1, self._position["samples"] + samples)
                    self._note_padding()
                yield batch
        finally:
            if self._current_loop is loop:
                self._current_loop = None
                _running.discard(self)
                self._go_to(self._position["epoch"] + 1)

    def _note_padding(self) -> None:
        """Prints one warning, at the first batch with samples that are repeated so that all ranks have equally many."""
        order = self._ordering
        if not self._notes_padding or not isinstance(order, EpochSampler) or order.shuffle or self._position["samples"] <= len(self.dataset):
            return
        self._notes_padding = False
        repeated = order.total_size - len(self.dataset)
        if repeated > 0:
            _notes.warn(f"prepare_data_loader(): the last batches repeat {repeated} of the {len(self.dataset)} samples, so that all "
                       f"{order.num_replicas} ranks have equally many: sums and means of an evaluation count them twice. remainder='uneven' uses "
                       f"each sample once, 'drop' leaves out the rest, and remainder='pad' repeats them without this note")

    def _go_to(self, epoch: int, batches: int = 0, samples: int = 0) -> None:
        self._position = {"epoch": epoch, "batches": batches, "samples": samples}

    def _loaded(self, epoch: int, done: int) -> Iterator[Any]:
        """Returns the batches of the epoch without the first `done` batches."""
        for one in (self._ordering, self.batch_sampler, self.dataset):
            if hasattr(one, "set_epoch"):
                one.set_epoch(epoch)
        self._known_epoch = getattr(self._ordering, "epoch", None)
        self._seed_generators(epoch)
        if self._resumable is None:
            return self._skipping(super().__iter__(), done)
        skipped = done
        if isinstance(self._ordering, EpochSampler):
            self._ordering.first, skipped = self._position["samples"], 0
        self._resumable.begin_at(skipped, functools.partial(_seed_of, "load", epoch, done))
        return super().__iter__()

    def _skipping(self, batches: Iterator[Any], done: int) -> Iterator[Any]:
        """Loads and drops the first `done` batches; an iterable dataset cannot skip batches without loading them."""
        for _ in range(done):
            next(batches, None)
        return batches

    def _seed_generators(self, epoch: int) -> None:
        self.generator.manual_seed(_seed_of("workers", epoch))
        if isinstance(getattr(self._ordering, "generator", self), (torch.Generator, type(None))):
            self._ordering.generator = torch.Generator().manual_seed(_seed_of("sampler", epoch))


def _seed_of(use: str, epoch: int, done: int = 0, number: int = 0) -> int:
    return _world.derived_seed(use, _world.base_seed(), epoch, done + number, _world.world_rank())
