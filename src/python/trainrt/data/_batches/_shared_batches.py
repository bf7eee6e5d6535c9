"""Receives batches in shared memory from a reader: the process that reads the files, which is a rank's runtime or `trainrt data serve`."""

from __future__ import annotations

import ctypes
import weakref

from ..._client.errors import Stop
from ..._client.shared_memory import SharedMemory, size_with_reserve
from .._values._numpy import numpy

_MAX_BYTES_PER_ANSWER = 512 << 10  # maximum size of several batches in one answer
_DTYPES = {"f64": "f8", "f32": "f4", "f16": "f2", "i64": "i8", "i32": "i4", "i16": "i2", "i8": "i1", "u8": "u1", "bool": "?"}


class Field:
    """Name, element type and shape of one field of a sample. A field of type u8 with varying length contains strings, unless it has a shape: then it
    contains images of different sizes, and the height and width in the shape are 0."""

    def __init__(self, description):
        self.name, self.shape, self.varies = description["name"], tuple(description["shape"]), description["varies"]
        self.is_image = self.varies and len(self.shape) > 1
        self.is_text = self.varies and description["dtype"] == "u8" and not self.is_image
        if description["dtype"] not in _DTYPES:
            raise TypeError(f"the field '{self.name}' has the type {description['dtype']}, which NumPy lacks: convert it by "
                            f"options(cast='{self.name}: f32')")
        self.dtype = numpy.dtype(_DTYPES[description["dtype"]])


class _Slot:
    """Shared memory for batches. A slot is free when the program has released all arrays in the slot's memory."""

    def __init__(self, number):
        self.number = number
        self._memory: SharedMemory | None = None
        self._lent: list[weakref.ref] = []

    def is_free(self):
        return all(lent() is None for lent in self._lent)

    def lend(self, at, nbytes):
        """Returns `nbytes` bytes of the memory, from byte `at`, as a buffer for an array."""
        assert self._memory is not None
        part = (ctypes.c_char * nbytes).from_buffer(self._memory.bytes, at)  # an array keeps this object alive, unlike a memoryview
        self._lent.append(weakref.ref(part))
        return part

    def new_memory(self, nbytes):
        self._memory = SharedMemory(size_with_reserve(nbytes, 1 << 16))
        return self._memory

    def begin(self):
        self._lent = []


class Link:
    """The connection to one reader process. `ask(op, with_memory, **fields)` sends a message to the reader and returns the answer."""

    def __init__(self, ask):
        self.ask = ask
        self._slots = []
        self._ended = []  # walks (loops over an epoch) that have ended, but whose end was not reported to the reader
        self._taken = {}  # {number of a walk: number of batches that count as done in checkpoints}

    def fields(self, name):
        """Returns (list of Fields, number of samples) of a dataset, or (None, 0) if the dataset does not exist."""
        found = self.ask("data_look", name=name)
        if found.get("is_missing"):
            return None, 0
        return [Field(each) for each in found["fields"]], found["samples"]

    def end(self, walk):
        self._ended.append(walk)
        self.send_ended()

    def end_quietly(self, walk):
        """Ends a walk and ignores exceptions. If this thread is already sending a message, for example if the garbage collector ends the walk, the
        reader is notified before the next walk."""
        try:
            self.end(walk)
        except (Exception, Stop):  # another call reports that the run has ended
            pass

    def send_ended(self):
        while self._ended:
            self.ask("data_end", walk=self._ended[-1])
            self._taken.pop(self._ended.pop(), None)

    def count(self, walk, batches):
        self._taken[walk] = batches

    def taken(self):
        """Returns the fields that each message to a rank's runtime must contain: the positions in the data, for checkpoints."""
        return {"taken": {str(walk): batches for walk, batches in self._taken.items()}} if self._taken else {}

    def _free_slot(self):
        for slot in self._slots:
            if slot.is_free():
                return slot
        self._slots.append(_Slot(len(self._slots)))
        return self._slots[-1]

    def next_batches(self, walk, fields, encoding):
        """Returns [({name: array}, draws)] with the next batch of the walk, and small following batches that are ready. Returns [] at the end. The
        arrays use shared memory; the memory is not reused while one of the arrays exists."""
        slot = self._free_slot()
        slot.begin()
        answer = self.ask("data_next", walk=walk, slot=slot.number, together=_MAX_BYTES_PER_ANSWER)
        if "room" in answer:
            memory = slot.new_memory(answer["room"])
            answer = self.ask("data_next", with_memory=memory, walk=walk, slot=slot.number, memory=memory.nbytes, together=_MAX_BYTES_PER_ANSWER)
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
    if field.is_text:
        data = values.tobytes()
        return _objects(ends, lambda first, end: _text(field, data[first:end], encoding))
    if field.is_image:
        return _objects(ends, lambda first, end: _image(field, values[first:end]))
    return _objects(ends, lambda first, end: values[first:end])


def _objects(ends, part_of):
    """Returns an array of objects: part_of(first, end) for each sample. `ends` contains the end of each sample's values."""
    found = numpy.empty(len(ends), object)
    for number, (first, end) in enumerate(zip([0, *ends], ends)):
        found[number] = part_of(first, end)
    return found


def _image(field, values):
    """Returns an image. `values` begin with its height and width, two 32-bit integers."""
    height_and_width = iter(values[:8 // field.dtype.itemsize].view("u4").tolist())
    return values[8 // field.dtype.itemsize:].reshape([extent or next(height_and_width) for extent in field.shape])


def _text(field, data, encoding):
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise ValueError(f"the field '{field.name}' has a text that is not valid {encoding}: {data[:60]!r} ({error.reason}); name its encoding: "
                         f"read_text(..., encoding='latin-1')") from None


class Walk:
    """Iterates over the batches of one epoch of a dataset, as ({name: array}, draws).

    If `is_ahead` is True, only batches that counted() has yielded count as done in checkpoints. If `has_draws` is True, `draws` contains one random
    64-bit integer per sample, which depends on the seed, the epoch and the sample; otherwise `draws` is empty. Raises KeyError for an unknown
    dataset."""

    def __init__(self, link, name, batch_size, remainder, epoch=None, encoding="utf-8", is_ahead=False, has_draws=False):
        self._link, self._encoding = link, encoding
        self._fields, _ = link.fields(name)
        if self._fields is None:
            raise KeyError(f"there is no dataset '{name}'")
        link.send_ended()
        optional = {**({"draws": True} if has_draws else {}), **({"epoch": epoch} if epoch is not None else {})}
        begun = link.ask("data_begin", name=name, batch_size=batch_size, remainder=remainder, fields=[field.name for field in self._fields], ahead=True,
                         **optional)
        self._number, self.epoch = begun["walk"], begun["epoch"]
        self._is_ahead = is_ahead
        self._has_ended = False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        if not self._has_ended:
            self._has_ended = True
            self._link.end_quietly(self._number)

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
                del batch  # the reader may reuse the memory
        if not self._is_ahead:
            self._has_ended = True
            self._link.end(self._number)

    def counted(self, batches):
        """Yields `batches`. When it yields a batch, this batch counts as processed in the next checkpoint."""
        for number, batch in enumerate(batches, 1):
            self._link.count(self._number, number)
            yield batch
            del batch
