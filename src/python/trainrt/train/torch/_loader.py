"""prepare_data_loader(): a DataLoader that knows its place."""

import functools
import warnings

from torch.utils.data import DataLoader, DistributedSampler, IterableDataset, RandomSampler, SequentialSampler
import torch

from ..._support import _notes
from . import _world, _seeding, _transfer
from ._sampler import EpochSampler, PlacedBatches

# What a DataLoader is made of, beside the sampler; newer versions of torch have more of it.
_PARTS = ("num_workers", "collate_fn", "pin_memory", "timeout", "worker_init_fn", "multiprocessing_context", "generator", "prefetch_factor",
          "persistent_workers", "pin_memory_device", "in_order")


_REMAINDERS = ("pad", "uneven", "drop")


def prepare_data_loader(data_loader, add_dist_sampler=True, move_to_device=True, auto_transfer=True, *, remainder=None):
    """A DataLoader of the same data for this rank: of several ranks each gets its part of every epoch (add_dist_sampler), on its device
    (move_to_device; auto_transfer: the next batch is copied while the program works on one).

    It knows its place. Each time that a loop over it begins is an epoch; its order is a function of (run.seed, epoch), and set_epoch() needs
    not be called. state_dict() has its place inside the epoch, of which save_state() and load_state() make use: after load_state_dict() the
    next loop goes on behind the batches that were seen, without loading them. As it hands out a batch it seeds all random numbers from
    (run.seed, epoch, batch, rank), in this process and in its workers: dropout and augmentation are the same after any restart.

    remainder: what becomes of the samples that the ranks do not divide. "pad", the default, repeats the first ones, so that all ranks have as
    many batches; a note says so for a loader that does not shuffle, as in evaluation, unless "pad" is given. "uneven" gives each sample once: a
    rank may have a batch less, and the loop must not wait for the other ranks at each batch. "drop" leaves out what does not fill a last batch on
    all ranks.
    """
    if remainder not in (*_REMAINDERS, None):
        raise ValueError(f"prepare_data_loader(remainder={remainder!r}): it must be 'pad', 'uneven' or 'drop'")
    if not isinstance(data_loader, DataLoader):
        raise TypeError(f"prepare_data_loader() takes a torch.utils.data.DataLoader, not a {type(data_loader).__name__}")
    device = _transfer.get_device() if move_to_device else torch.device("cpu")
    return PreparedDataLoader(data_loader, _sampling(data_loader, add_dist_sampler, remainder), device, auto_transfer, remainder is None)


def _sampling(loader, add_dist_sampler, remainder):
    """The arguments of a DataLoader that say which samples come when."""
    drop_last = loader.drop_last or remainder == "drop"
    if isinstance(loader.dataset, IterableDataset):
        return {"batch_size": loader.batch_size, "drop_last": drop_last}
    if loader.batch_size is None and loader.batch_sampler is not None:  # of the user's own
        if add_dist_sampler and _world.world_size() > 1 and not isinstance(getattr(loader.batch_sampler, "sampler", None), DistributedSampler):
            raise ValueError("prepare_data_loader(): the loader has a batch_sampler of its own, which cannot be divided among the ranks: let it "
                             "give this rank's batches (trainrt.train.get_context().get_world_rank()), and pass add_dist_sampler=False")
        _require_own_order(remainder, "batch_sampler")
        return {"batch_sampler": loader.batch_sampler}
    return {"batch_size": loader.batch_size, "drop_last": drop_last, "sampler": _sampler(loader, add_dist_sampler, remainder)}


def _require_own_order(remainder, kept):
    if remainder in ("uneven", "drop") and _world.world_size() > 1:
        raise ValueError(f"prepare_data_loader(remainder={remainder!r}): the loader keeps its own {kept}, which says what each rank gets; leave remainder out")


def _sampler(loader, add_dist_sampler, remainder):
    given = loader.sampler
    is_plain = isinstance(given, SequentialSampler) or (type(given) is RandomSampler and not given.replacement and
                                                         given.num_samples == len(loader.dataset))
    alone = _world.world_size() == 1
    if isinstance(given, DistributedSampler) or (not is_plain and alone) or not (add_dist_sampler or alone):
        _require_own_order(remainder, "sampler")
        return given
    if not isinstance(given, (SequentialSampler, RandomSampler)) and _world.world_rank() == 0:
        warnings.warn(f"prepare_data_loader() replaces the {type(given).__name__} by one that divides the samples among the ranks; "
                      f"add_dist_sampler=False keeps it", stacklevel=4)
    return EpochSampler(loader.dataset, not isinstance(given, SequentialSampler), remainder or "pad", _world.base_seed() % 2**32)


class PreparedDataLoader(DataLoader):
    """Made by prepare_data_loader()."""

    _placed = None  # what torch's iterators draw from

    def __init__(self, loader, sampling, device, auto_transfer, notes_padding):
        parts = {name: getattr(loader, name) for name in _PARTS if hasattr(loader, name)}
        super().__init__(loader.dataset, **sampling, **parts)
        self.generator = self.generator or torch.Generator()
        self._device, self._auto_transfer, self._notes_padding = device, auto_transfer, notes_padding
        self._under_way = None  # marks the newest loop
        self._chosen_epoch, self._told_epoch = None, getattr(self._ordering, "epoch", None)
        self._go_to(0)
        if not isinstance(self.dataset, IterableDataset):
            self._placed = PlacedBatches(super()._index_sampler)

    def set_epoch(self, epoch):
        """The next loop is this epoch. It need not be called: epochs are counted."""
        self._chosen_epoch = int(epoch)

    def state_dict(self):
        """Its place: the epoch, how many batches of it this rank was handed, and how many samples all ranks together."""
        return dict(self._place)

    def load_state_dict(self, state):
        """The next loop begins at that place."""
        wrong = [name for name in self._place if type(state.get(name)) is not int or state[name] < 0]
        if wrong:
            raise ValueError(f"the place of a loader lacks {', '.join(wrong)}, which are numbers from 0, as state_dict() gives them: {state!r}")
        self._go_to(**{name: state[name] for name in self._place})
        self._under_way = self._chosen_epoch = None

    @property
    def _index_sampler(self):
        return self._placed or super()._index_sampler

    @property
    def _ordering(self):
        """The sampler of single samples, if there is one."""
        return getattr(self.batch_sampler, "sampler", None) if self.batch_size is None and self.batch_sampler is not None else self.sampler

    def __iter__(self):
        self._begin_epoch()
        self._under_way = loop = object()
        batches = self._loaded(self._place["epoch"], self._place["batches"])
        if self._device.type == "cuda":
            batches = _transfer.moved_ahead(batches, self._device) if self._auto_transfer else (_transfer.moved(each, self._device) for each in batches)
        return self._handed_out(batches, loop)

    def _begin_epoch(self):
        if self._under_way:  # a loop that has not ended is left for another
            self._go_to(self._place["epoch"] + 1)
        theirs = getattr(self._ordering, "epoch", None)
        epoch = theirs if theirs != self._told_epoch else self._chosen_epoch
        if epoch is not None and epoch != self._place["epoch"]:
            self._go_to(epoch)
        self._chosen_epoch = None

    def _handed_out(self, batches, loop):
        """However the loop ends, by its last batch or by `break`, the next is another epoch."""
        try:
            for batch in batches:
                if self._under_way is loop:
                    _seeding.seed_all(_seed_of("step", self._place["epoch"], self._place["batches"]))
                    samples = (self.batch_size or 1) * _world.world_size()
                    self._go_to(self._place["epoch"], self._place["batches"] + 1, self._place["samples"] + samples)
                    self._note_padding()
                yield batch
        finally:
            if self._under_way is loop:
                self._under_way = None
                self._go_to(self._place["epoch"] + 1)

    def _note_padding(self):
        """Once, as the batch is handed out that repeats samples."""
        order = self._ordering
        if not self._notes_padding or not isinstance(order, EpochSampler) or order.shuffle or self._place["samples"] <= len(self.dataset):
            return
        self._notes_padding = False
        repeated = order.total_size - len(self.dataset)
        if repeated > 0:
            _notes.say(f"warning: prepare_data_loader(): the last batches repeat {repeated} of the {len(self.dataset)} samples, so that all "
                       f"{order.num_replicas} ranks have as many: sums and means of an evaluation count them twice. remainder='uneven' gives each sample "
                       f"once, 'drop' leaves out the rest, and remainder='pad' repeats them without this note")

    def _go_to(self, epoch, batches=0, samples=0):
        self._place = {"epoch": epoch, "batches": batches, "samples": samples}

    def _loaded(self, epoch, done):
        """The batches of the epoch behind those that are done."""
        for one in (self._ordering, self.batch_sampler, self.dataset):
            if hasattr(one, "set_epoch"):
                one.set_epoch(epoch)
        self._told_epoch = getattr(self._ordering, "epoch", None)
        self._seed_generators(epoch)
        if self._placed is None:
            return self._behind(super().__iter__(), done)
        skipped = done
        if isinstance(self._ordering, EpochSampler):
            self._ordering.first, skipped = self._place["samples"], 0
        self._placed.begin_at(skipped, functools.partial(_seed_of, "load", epoch, done))
        return super().__iter__()

    def _behind(self, batches, done):
        """An iterable dataset cannot skip: what was seen is loaded, and dropped."""
        for _ in range(done):
            next(batches, None)
        return batches

    def _seed_generators(self, epoch):
        self.generator.manual_seed(_seed_of("workers", epoch))
        if isinstance(getattr(self._ordering, "generator", self), (torch.Generator, type(None))):
            self._ordering.generator = torch.Generator().manual_seed(_seed_of("sampler", epoch))


def _seed_of(use, epoch, done=0, number=0):
    return _world.derived_seed(use, _world.base_seed(), epoch, done + number, _world.world_rank())
