"""Batches in memory that this process shares with whoever reads the files: a rank of a run, or `trainrt data serve`."""

import ctypes
import weakref

from .. import _client
from ._numpy import numpy

_TOGETHER_BYTES = 512 << 10  # of small batches that come with one answer
_DTYPES = {"f64": "f8", "f32": "f4", "f16": "f2", "i64": "i8", "i32": "i4", "i16": "i2", "i8": "i1", "u8": "u1", "bool": "?"}


class Field:
    """Name, element type and shape of one sample's part; a text if it is u8 and varies in length."""

    def __init__(self, description):
        self.name, self.shape, self.varies = description["name"], tuple(description["shape"]), description["varies"]
        self.is_text = self.varies and description["dtype"] == "u8"
        if description["dtype"] not in _DTYPES:
            raise TypeError(f"the field '{self.name}' holds {description['dtype']}, which NumPy has no name for: let the runtime change it, by "
                            f"options(cast='{self.name}: f32')")
        self.dtype = numpy.dtype(_DTYPES[description["dtype"]])


class _Slot:
    """A memory that holds batches; it is free when nobody has an array of them any more."""

    def __init__(self, number):
        self.number = number
        self._memory = None
        self._lent = []

    def is_free(self):
        return all(lent() is None for lent in self._lent)

    def lend(self, at, nbytes):
        part = (ctypes.c_char * nbytes).from_buffer(self._memory.bytes, at)  # an array keeps it alive, which it does not do to a memoryview
        self._lent.append(weakref.ref(part))
        return part

    def is_too_small(self, nbytes):
        return self._memory is None or self._memory.nbytes < nbytes

    def new_memory(self, nbytes):
        self._memory = _client._SharedMemory(max(1 << max(nbytes - 1, 0).bit_length(), 1 << 16))
        return self._memory

    def begin(self):
        self._lent = []


class Link:
    """A talk with one reader. `ask(op, with_memory, **fields)` sends a message, and returns what the answer holds."""

    def __init__(self, ask):
        self.ask = ask
        self._slots = []
        self._left = []  # walks that have ended, and that the reader knows nothing of yet
        self._taken = {}  # walk -> how many of its batches count as done

    def fields(self, name):
        """The Fields of a dataset, and how many samples it has; (None, 0) if there is none of that name."""
        found = self.ask("data_look", name=name)
        if found.get("is_missing"):
            return None, 0
        return [Field(each) for each in found["fields"]], found["samples"]

    def end(self, walk):
        self._left.append(walk)
        self.tell_left()

    def leave(self, walk):
        """Ends a walk. If a message is under way, as when the garbage collector finds the walk, that is told before the next one."""
        try:
            self.end(walk)
        except (Exception, _client.Stop):  # also if the run has ended: it is told elsewhere
            pass

    def tell_left(self):
        while self._left:
            self.ask("data_end", walk=self._left[-1])
            self._taken.pop(self._left.pop(), None)

    def count(self, walk, batches):
        self._taken[walk] = batches

    def taken(self):
        """What counts as done in checkpoints: a part of each message to a rank."""
        return {"taken": {str(walk): batches for walk, batches in self._taken.items()}} if self._taken else {}

    def _free_slot(self):
        for slot in self._slots:
            if slot.is_free():
                return slot
        self._slots.append(_Slot(len(self._slots)))
        return self._slots[-1]

    def next_batches(self, walk, fields, encoding):
        """({name: array}, draws) of the walk's next batch, and of those behind it that are there already, if they are small; none at its
        end. The arrays lie in shared memory, which is theirs as long as one of them lives."""
        slot = self._free_slot()
        slot.begin()
        answer = self.ask("data_next", walk=walk, slot=slot.number, together=_TOGETHER_BYTES)
        if "room" in answer:
            memory = slot.new_memory(answer["room"])
            answer = self.ask("data_next", with_memory=memory, walk=walk, slot=slot.number, memory=memory.nbytes, together=_TOGETHER_BYTES)
        return [({field.name: _array(slot, field, each["samples"], place, encoding) for field, place in zip(fields, each["places"])},
                 each.get("draws", ())) for each in answer.get("batches", ())]


def _array(slot, field, samples, place, encoding):
    at, count, ends_at = place
    if not count and not field.varies:
        return numpy.empty((samples, *field.shape), field.dtype)
    values = numpy.frombuffer(slot.lend(at, count * field.dtype.itemsize), field.dtype) if count else numpy.empty(0, field.dtype)
    if not field.varies:
        return values.reshape(samples, *field.shape)
    ends = numpy.frombuffer(slot.lend(ends_at, samples * 8), "u8").tolist() if samples else []
    return _texts(field, values.tobytes(), ends, encoding) if field.is_text else _ragged(values, ends)


def _texts(field, data, ends, encoding):
    texts = numpy.empty(len(ends), object)
    first = 0
    for number, end in enumerate(ends):
        try:
            texts[number] = data[first:end].decode(encoding)
        except UnicodeDecodeError as error:
            raise ValueError(f"the field '{field.name}' has a text that is no {encoding}: {data[first:end][:60]!r} ({error.reason}); say which it "
                             f"is: read_text(..., encoding='latin-1')") from None
        first = end
    return texts


def _ragged(values, ends):
    parts = numpy.empty(len(ends), object)
    first = 0
    for number, end in enumerate(ends):
        parts[number] = values[first:end]
        first = end
    return parts


class Walk:
    """The batches of one epoch of a dataset, as ({name: array}, draws). is_ahead: only those that counted() has given count as done.
    has_draws: each sample has a random number of 64 bits, which hangs on the seed, the epoch and the sample; else there is none."""

    def __init__(self, link, name, batch_size, remainder, epoch=None, encoding="utf-8", is_ahead=False, has_draws=False):
        self._link, self._encoding = link, encoding
        self._fields, _ = link.fields(name)
        if self._fields is None:
            raise KeyError(f"there is no dataset '{name}'")
        link.tell_left()
        asked = {"epoch": epoch} if epoch is not None else {}
        self._number = link.ask("data_begin", name=name, batch_size=batch_size, remainder=remainder, fields=[field.name for field in self._fields],
                                ahead=True, **({"draws": True} if has_draws else {}), **asked)["walk"]
        self._is_ahead = is_ahead
        self._has_ended = False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if not self._has_ended:
            self._has_ended = True
            self._link.leave(self._number)

    def __iter__(self):
        given = 0
        while batches := self._link.next_batches(self._number, self._fields, self._encoding):
            batches.reverse()
            while batches:
                batch = batches.pop()
                given += 1
                if not self._is_ahead:
                    self._link.count(self._number, given)
                yield batch
                del batch  # its memory may be free for the next ones
        if not self._is_ahead:
            self._has_ended = True
            self._link.end(self._number)

    def counted(self, batches):
        """The same batches; each counts as done when it is given."""
        for number, batch in enumerate(batches, 1):
            self._link.count(self._number, number)
            yield batch
            del batch
