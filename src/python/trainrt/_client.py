"""The connection of a program with its rank: State, Context, context(). What it says and hears is in
src/program/protocol/program_protocol.hpp."""

import atexit
import copy
import fcntl
import json
import math
import mmap
import os
import platform
import signal
import socket
import stat
import sys
import threading
import time
import traceback

from ._support._call_place import call_place

_PROTOCOL = 1
_STOP_SIGNALS = (signal.SIGUSR1, signal.SIGUSR2, signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
_VALUE_TYPES = (bool, int, float, str)
_LARGEST_INT = 2**63
_LONGEST_LINE = 64 << 20
_LARGE_BYTES = 1 << 20  # tensors from here on begin on a page: the runtime writes them to the disk from there
_BOARD_BYTES = 64 << 10  # so much passes from rank to rank as it is


class Stop(SystemExit):
    """The run stops here, and all is saved. No `except Exception` catches it; uncaught, it ends the program silently with
    exit code 0, after every `finally` and `atexit`. Where it is swallowed, every later call raises it again."""

    def __init__(self, reason):
        super().__init__(0)
        self.reason = reason

    def __str__(self):
        return self.reason


# ---- arrays --------------------------------------------------------------------------------------------------------------

# The runtime's name of an element type: by format and size of the buffer protocol, and by torch's name.
_BUFFER_DTYPES = {("d", 8): "f64", ("f", 4): "f32", ("e", 2): "f16", ("q", 8): "i64", ("l", 8): "i64", ("i", 4): "i32", ("h", 2): "i16",
                  ("b", 1): "i8", ("B", 1): "u8", ("?", 1): "bool"}
_TORCH_DTYPES = {"float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16", "float8_e4m3fn": "f8e4m3", "float8_e5m2": "f8e5m2",
                 "int64": "i64", "int32": "i32", "int16": "i16", "int8": "i8", "uint8": "u8", "bool": "bool"}


class _HostArray:
    """A user's array in host memory: a view that keeps it alive."""

    def __init__(self, what, array):
        try:
            view = memoryview(array)
        except (TypeError, ValueError, BufferError) as error:
            raise TypeError(f"{what} is a {type(array).__name__}; it must be a NumPy array, an array.array, another writable "
                            f"buffer, or a torch tensor ({error})") from None
        layout = view.format.lstrip("@=" + ("<" if sys.byteorder == "little" else ">"))
        self.dtype = _BUFFER_DTYPES.get((layout, view.itemsize))
        if self.dtype is None:
            raise TypeError(f"{what} has elements of the type {view.format!r}; it must be one of {', '.join(_BUFFER_DTYPES.values())}, in the "
                            f"byte order of this machine")
        if view.readonly:
            raise ValueError(f"{what} cannot be written, and a restore must fill it: give a copy that owns its memory")
        if not view.c_contiguous:
            raise ValueError(f"{what} is not contiguous (row-major): keep it as numpy.ascontiguousarray(...) or tensor.contiguous()")
        self.shape = list(view.shape)
        self.nbytes = view.nbytes
        self._bytes = view.cast("B") if view.nbytes else memoryview(b"")

    def write_to(self, memory):
        """Copies the array into `memory`, nbytes of shared memory."""
        memory[:] = self._bytes

    def read_from(self, memory):
        if self.nbytes:
            self._bytes[:] = memory


class _TorchTensor:
    """A torch tensor on any device, copied by torch: a view by NumPy would forbid it to resize its storage, as FSDP does."""

    def __init__(self, torch, tensor, dtype):
        self._torch, self._tensor, self.dtype = torch, tensor.detach(), dtype
        self.shape = list(tensor.shape)
        self.nbytes = tensor.numel() * tensor.element_size()

    def _on_host(self, memory):
        return self._torch.frombuffer(memory, dtype=self._tensor.dtype).reshape(self._tensor.shape)

    def write_to(self, memory):
        if self.nbytes:
            self._on_host(memory).copy_(self._tensor)

    def read_from(self, memory):
        if self.nbytes:
            self._tensor.copy_(self._on_host(memory))


def _array_of(what, array):
    """The array that errors call `what`, as a _HostArray or _TorchTensor."""
    if hasattr(array, "write_to") and hasattr(array, "read_from"):  # of a framework: it copies itself
        return array
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(array, torch.Tensor):
        return _HostArray(what, array)
    name = str(array.dtype).removeprefix("torch.")
    if name not in _TORCH_DTYPES:
        raise TypeError(f"{what} has elements of the type {array.dtype}; it must be one of {', '.join(_TORCH_DTYPES)}")
    if array.device.type == "cpu" and not array.is_contiguous():
        raise ValueError(f"{what} is not contiguous (row-major): keep it as tensor.contiguous()")
    return _TorchTensor(torch, array, _TORCH_DTYPES[name])


def _copy_of(what, array):
    """A new array of the same kind, type and shape."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        return array.detach().clone()
    try:
        return copy.copy(array)
    except TypeError:
        raise TypeError(f"{what} is a {type(array).__name__}, of which no other can be made; give a NumPy array, an array.array or a torch "
                        f"tensor") from None


class _SharedMemory:
    """Anonymous memory that the runtime sees too. It cannot shrink or grow, so neither side can be made to fault."""

    def __init__(self, nbytes):
        self.nbytes = nbytes
        self.fd = os.memfd_create("trainrt", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.fd, nbytes)
        fcntl.fcntl(self.fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
        self.bytes = memoryview(mmap.mmap(self.fd, nbytes))

    def handed_over(self):
        """The runtime has its own descriptor now; the mapping stays."""
        os.close(self.fd)
        self.fd = -1


class _RuntimeMemory:
    """As _SharedMemory, but made by the runtime, which neither shrinks it."""

    fd = -1

    def __init__(self, file, at, nbytes):
        self.nbytes = nbytes
        self.bytes = memoryview(mmap.mmap(file, nbytes, offset=at))
        os.close(file)


def _round_up(number, unit):
    return -(-number // unit) * unit


# ---- the state -----------------------------------------------------------------------------------------------------------


class _Tensor:
    """One tensor of a State, or a slab of one: the array, where it lies over the ranks, and where its copy lies in the shared memory."""

    def __init__(self, name, array, placement, slab):
        self.name, self.array, self.placement, self.slab = name, array, placement, slab
        self.at = 0

    def description(self):
        return {"name": self.name, "dtype": self.array.dtype, "shape": self.array.shape, "at": self.at, "placement": self.placement, **self.slab}


class State:
    """Names all that a checkpoint holds: tensors, small values, and files. It refers to the arrays and never copies or owns
    them: change them in place. Names are paths ("model/w"); the runtime checks them in restore()."""

    def __init__(self):
        self._tensors = {}
        self._slabs = {}  # name -> how many slab() has made of it
        self._values = {}
        self._sums = set()  # names of values
        self._files = {}
        self._before_save = []
        self._attached = False

    def tensor(self, name, array, *, sharded=None, per_rank=False, part_of_sum=False):
        """Adds an array of any shape: writable, contiguous, with the buffer protocol (NumPy, array.array), or a torch tensor on
        any device; checkpoints take its contents, restore() fills it in place. Without more words every rank holds the same: in a
        new run what rank 0 has, and what checkpoints find to differ later ends the run (checkpoint.replica_check).

        sharded=(axis, first, global_extent): it is a slab of a greater tensor, from index `first` of that axis on.
        per_rank=True: every rank has its own; on another number of ranks, rank r gets that of r modulo the old number.
        part_of_sum=True: it is this rank's part of a sum over the ranks, which any number of ranks continues.
        """
        self._claim(name, "tensor")
        chosen = [word for word, given in (("sharded", sharded is not None), ("per_rank", per_rank), ("sum", part_of_sum)) if given]
        if len(chosen) > 1:
            raise ValueError(f"tensor '{name}' can be only one of sharded, per_rank and part_of_sum")
        slab = {}
        if sharded is not None:
            try:
                axis, first, extent = (int(number) for number in sharded)
            except (TypeError, ValueError):
                raise TypeError(f"tensor '{name}': sharded must be (axis, first, global_extent)") from None
            slab = {"axis": axis, "first": first, "global_extent": extent}
        self._tensors[name] = _Tensor(name, _array_of(f"tensor '{name}'", array), chosen[0] if chosen else "replicated", slab)

    def slab(self, name, array, offset, global_shape):
        """Adds an array, as tensor() takes them, that is the box from `offset` on (an index for each axis) of a greater tensor. A rank may
        hold any number of such slabs, each by a call of its own with the same name and global_shape; a rank that holds none calls it once
        with an empty array. The slabs of all ranks fill the tensor; several ranks may hold the same one."""
        number = self._slabs.get(name, 0)
        if not number:
            self._claim(name, "tensor")
        self._slabs[name] = number + 1
        box = {"offset": [int(index) for index in offset], "global_shape": [int(extent) for extent in global_shape]}
        self._tensors[(name, number) if number else name] = _Tensor(name, _array_of(f"tensor '{name}'", array), "slab", box)

    def value(self, name, value, *, part_of_sum=False):
        """Declares a value as `state[name] = value` does. part_of_sum=True: this int or float is the rank's part of a sum over the
        ranks (of losses since the last report, say), which any number of ranks continues."""
        if name in self._values:
            raise ValueError(f"the name '{name}' was given twice")
        if part_of_sum and type(_plain(f"value '{name}'", value)) not in (int, float):
            raise TypeError(f"value '{name}' is {value!r}; a part of a sum must be an int or a float")
        self[name] = value
        if part_of_sum:
            self._sums.add(name)

    def file(self, name, path, *, per_rank=False):
        """Adds a file: read when a checkpoint is taken (write it before, or in a function under @before_save), put back at its
        path by restore(). Rank 0's counts for all, unless per_rank."""
        if name in self._files:
            raise ValueError(f"file '{name}' was given twice")
        self._refuse_when_attached("file", name)
        self._files[name] = {"name": name, "path": os.path.abspath(os.fspath(path)), "per_rank": bool(per_rank)}

    def before_save(self, function):
        """Decorator: `function()` is called before each checkpoint is taken, to make what it holds current (and before the ranks
        compare what they hold: checkpoint.replica_check_every). It must not call the context."""
        self._before_save.append(function)
        return function

    def __setitem__(self, name, value):
        """Declares a value (bool, int, float or str; the same on every rank, but for what value() says), or sets it: then the type
        stays."""
        value = _plain(f"value '{name}'", value)
        if isinstance(value, int) and not -_LARGEST_INT <= value < _LARGEST_INT:
            raise OverflowError(f"value '{name}' is {value}, which 64 bits cannot hold")
        if name in self._values:
            kind = type(self._values[name])
            if kind is float and type(value) is int:
                value = float(value)
            if type(value) is not kind:
                raise TypeError(f"value '{name}' is of the type {kind.__name__} and cannot become {value!r}")
        else:
            self._claim(name, "value")
        self._values[name] = value

    def __getitem__(self, name):
        if name not in self._values:
            raise KeyError(f"the State has no value '{name}'; it has: {', '.join(self._values) or 'none'}")
        return self._values[name]

    def __contains__(self, name):
        return name in self._values

    def _claim(self, name, kind):
        if not isinstance(name, str):
            raise TypeError(f"the name of a {kind} must be a str, not {name!r}")
        if name in self._tensors or name in self._values:
            raise ValueError(f"the name '{name}' was given twice")
        self._refuse_when_attached(kind, name)

    def _refuse_when_attached(self, kind, name):
        if self._attached:
            raise RuntimeError(f"{kind} '{name}' comes too late: all names are given before restore()")

    # What the Context does with it.

    def _lay_out(self):
        """Gives every tensor its place; returns how many bytes they need."""
        end = 0
        for tensor in self._tensors.values():
            tensor.at = _round_up(end, mmap.PAGESIZE if tensor.array.nbytes >= _LARGE_BYTES else 64)
            end = tensor.at + tensor.array.nbytes
        return end

    def _descriptions(self):
        return {"tensors": [tensor.description() for tensor in self._tensors.values()], "files": list(self._files.values()), "sums": sorted(self._sums)}

    def _write_tensors(self, memory):
        for tensor in self._tensors.values():
            tensor.array.write_to(memory[tensor.at:tensor.at + tensor.array.nbytes])

    def _read_tensors(self, memory):
        for tensor in self._tensors.values():
            tensor.array.read_from(memory[tensor.at:tensor.at + tensor.array.nbytes])

    def _refer(self, name, array):
        """From now on the tensor is that array, of the same type and shape: frameworks make new ones as they train."""
        before, now = self._tensors[name].array, _array_of(f"tensor '{name}'", array)
        if (before.dtype, before.shape) != (now.dtype, now.shape):
            raise ValueError(f"tensor '{name}' is {now.dtype} of shape {now.shape} now, and was {before.dtype} of shape {before.shape} when it was named: "
                             f"type and shape must stay")
        self._tensors[name].array = now

    def _encoded_values(self):
        return {name: _encoded(value) for name, value in self._values.items()}

    def _take_values(self, values):
        for name, value in values.items():
            self._values[name] = type(self._values[name])(_decoded(value))


def _plain(what, value):
    """A bool, int, float or str; scalars of NumPy and torch tensors of one element become the like."""
    if not isinstance(value, _VALUE_TYPES) and hasattr(value, "item"):
        try:
            value = value.item()
        except (TypeError, ValueError, RuntimeError) as error:
            raise TypeError(f"{what} must be one number: {error}") from None
    for kind in _VALUE_TYPES:  # a subclass (numpy.float64, an IntEnum) becomes what it stands for
        if isinstance(value, kind):
            return kind(value)
    raise TypeError(f"{what} is a {type(value).__name__}; it must be a bool, int, float or str")


def _encoded(value):
    """For JSON, which has no word for what is not finite."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"}
    return value


def _decoded(value):
    return float(value["float"]) if isinstance(value, dict) else value


# ---- metrics -------------------------------------------------------------------------------------------------------------


class Number:
    """A metric, and how the ranks' numbers become one: reduce = mean (weighted), sum, min or max. It holds the numbers as they are
    now: an array or tensor that they come from may change before the report."""

    def __init__(self, value, reduce="mean", weight=1):
        self.value, self.reduce, self.weight = _plain("the value of a Number", value), reduce, _plain("the weight of a Number", weight)


def ratio(total, count):
    """A metric: the sum of the ranks' totals, divided by the sum of their counts. It weighs each rank by what it saw."""
    total, count = _plain("the total of ratio()", total), _plain("the count of ratio()", count)
    return Number(total / count if count else 0.0, weight=count)


def _metadata_of(what, metadata, directory_name):
    """A dict for JSON."""
    if metadata is not None and not isinstance(metadata, dict):
        raise TypeError(f"{what} must be a dict, not a {type(metadata).__name__}")
    name = {} if directory_name is None else {"checkpoint_dir_name": str(directory_name)}
    return {**(metadata or {}), **name}


def _metrics(metrics):
    """For JSON; NaN becomes null."""
    if not hasattr(metrics, "items"):
        raise TypeError(f"report() takes a dict of metrics, not a {type(metrics).__name__}")
    for name in metrics:
        if not isinstance(name, str):
            raise TypeError(f"the name of a metric must be a str, not {name!r}")
    return {name: value if type(value) is float and value - value == 0 else _metric(name, value) for name, value in metrics.items()}


def _metric(name, value):
    if isinstance(value, Number):
        return {"value": _encoded(_in_64_bits(name, value.value)), "reduce": value.reduce, "weight": _encoded(value.weight)}
    plain = value if type(value) in _VALUE_TYPES else _plain(f"metric '{name}'", value)
    return None if isinstance(plain, float) and math.isnan(plain) else _encoded(_in_64_bits(name, plain))


def _in_64_bits(name, value):
    """An int that the runtime could not hold becomes the nearest float."""
    if not isinstance(value, int) or -_LARGEST_INT <= value < _LARGEST_INT:
        return value
    try:
        return float(value)
    except OverflowError:
        raise OverflowError(f"metric '{name}' has {value.bit_length()} bits, which no float can hold either") from None


# ---- the connection ------------------------------------------------------------------------------------------------------


# Made once: json.dumps() with options makes one each time.
_to_json = json.JSONEncoder(allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode


def _line_of(message):
    """A message as it is sent. ValueError for what the runtime could not read."""
    try:
        line = _to_json(message).encode() + b"\n"
    except UnicodeEncodeError as error:
        part = error.object[max(error.start - 20, 0):error.end + 20]
        raise ValueError(f"{message['op']}() was given a text that is no Unicode, as names of files may be: ...{part!r}...") from None
    if len(line) > _LONGEST_LINE:
        raise ValueError(f"{message['op']}() was given {len(line)} bytes of names, values and texts; {_LONGEST_LINE} is the most. Keep what "
                         f"is large in tensors or files (state.tensor, state.file)")
    return line


class _Channel:
    """One JSON object a line, in both directions, over the inherited socket."""

    def __init__(self, fd):
        self._socket = socket.socket(fileno=fd)
        self._socket.set_inheritable(False)
        self._received = bytearray()

    def send(self, line, fd=None):
        if fd is not None:
            line = line[socket.send_fds(self._socket, [line], [fd]):]
        self._socket.sendall(line)

    def receive(self, with_file=False):
        """The next message; EOFError if the runtime is gone. with_file: `file` is the descriptor that came with it, or None."""
        self.file = None
        while b"\n" not in self._received:
            if with_file:
                data, files, _, _ = socket.recv_fds(self._socket, 1 << 16, 1, socket.MSG_CMSG_CLOEXEC)
                self.file = files[0] if files else self.file
            else:
                data = self._socket.recv(1 << 16)
            if not data:
                raise EOFError
            self._received += data
        line, _, self._received = self._received.partition(b"\n")
        return json.loads(line)

    def close(self):
        self._socket.close()


# ---- the context ---------------------------------------------------------------------------------------------------------

_REQUIRED = object()
# Calls that all ranks make together: the runtime learns which line of the user's code makes them.
_COLLECTIVE = frozenset(("hello", "open_run", "close_run", "restore", "step", "report", "load", "stop_point", "save", "barrier", "all_reduce",
                         "broadcast", "all_gather", "data_fit", "share"))


class Context:
    """What a program sees of its run; from context(). Only the thread that made it may use it, and only this process.

    Errors: ValueError for what the program did wrong, RuntimeError for what failed. After either, or a Stop, the run ends on
    all ranks, and every later call raises the same again.
    """

    def __init__(self, channel):
        self._channel = channel
        self._busy = None        # the operation under way
        self._end = None         # makes the exception that every call raises from now on
        self._broken = None      # why the talk with the runtime is out of step
        self._told = None        # the exception that the runtime was told of
        self._state = None
        self._data = None        # the memories of batches
        self._memory = None      # of the state
        self._exchanged = None   # memory of all_reduce(), broadcast() and all_gather()
        self._of_one = None      # memory of the States of single reports and loads
        self._talk = threading.Lock()  # held while an answer is awaited
        self._is_open = False    # a run, by open_run()
        self._identity = {}      # what the runtime answered to the greeting
        self._step = self._step_seed = 0
        self._place = {}         # the user's line of the collective call under way, and what this rank has left, for messages
        self._left = None        # "the train function", once it has returned here

    def _greet(self):
        self._take_identity(self._ask("hello", **_who_i_am()))

    def _take_identity(self, answer):
        self._identity = answer
        self._take_step(answer)
        os.environ["TRAINRT_RUN_NAME"], os.environ["TRAINRT_RUN_DIR"] = answer["run_name"], answer["run_dir"]

    # Who am I (Ray Train's names).
    world_rank = property(lambda self: self._identity["world_rank"], doc="Number of this rank, from 0.")
    world_size = property(lambda self: self._identity["world_size"], doc="How many ranks there are.")
    local_rank = property(lambda self: self._identity["local_rank"], doc="Number of this rank on its node.")
    local_world_size = property(lambda self: self._identity["local_world_size"], doc="How many ranks this node has.")
    node_rank = property(lambda self: self._identity["node_rank"], doc="Number of this node.")
    gpus = property(lambda self: list(self._identity["gpus"]), doc="CUDA device numbers of this rank; none on the CPU.")
    run_name = property(lambda self: self._identity["run_name"], doc="run.name of the config.")
    run_dir = property(lambda self: self._identity["run_dir"], doc="The run directory, the same path on every rank.")
    seed = property(lambda self: self._identity["seed"], doc="run.seed of the config.")
    aggregates = property(lambda self: self._identity.get("aggregate", False), doc="metrics.aggregate of the config.")
    step_count = property(lambda self: self._step, doc="Steps completed since the run began, over all attempts.")
    step_seed = property(lambda self: self._step_seed, doc="A seed of 64 bits from (run.seed, step, rank): the same after any restart.")

    def config(self, key, default=_REQUIRED):
        """A key of [loop], as the type of `default`: bool, int, float or str. Without a default it is a text, and a missing key
        a KeyError; with a type in its place (`config("epochs", int)`) it is of that type, and required too."""
        kind = str if default is _REQUIRED else default if isinstance(default, type) else type(default)
        if kind not in _VALUE_TYPES:
            raise TypeError(f"the default of '{key}' must be a bool, int, float or str, not {default!r}")
        text = self._ask("config", key=key)["value"]
        if text is None:
            if default is _REQUIRED or default is kind:
                raise KeyError(f"the config lacks the key '{key}' in [loop], which the program needs")
            return default
        try:
            return _TRUTH[text] if kind is bool else kind(text)
        except (KeyError, ValueError):
            raise ValueError(f"[loop] {key} is '{text}'; the program expects {_TYPE_WORDS[kind]}") from None

    def restore(self, state=None):
        """Attaches the State that checkpoints hold, and loads the last one into it, if there is one: then True. In a new run
        tensors of which every rank holds the same become those of rank 0. Collective; once, before the first step() and
        report().

        Without a State: the program keeps its state in files, and saves by report(directory=...). True if there is such a
        checkpoint: checkpoint() tells where its files lie."""
        if state is None:
            answer = self._ask("restore", by_directory=True)
            self._take_step(answer)
            return answer["restored"]
        if not isinstance(state, State):
            raise TypeError(f"restore() takes a trainrt.State, not a {type(state).__name__}")
        nbytes = state._lay_out()
        memory = _SharedMemory(nbytes) if nbytes else None
        if memory:
            state._write_tensors(memory.bytes)
        answer = self._ask("restore", memory=nbytes, steady=True, values=state._encoded_values(), with_memory=memory, **state._descriptions())
        self._state, self._memory = state, memory
        state._attached = True
        if memory:  # of a new run too: what every rank holds is rank 0's now
            state._read_tensors(memory.bytes)
        if answer["restored"]:
            state._take_values(answer["values"])
        self._take_step(answer)
        return answer["restored"]

    def step(self):
        """One step is complete and the state is consistent: a point where the run may stop and lose nothing. Collective."""
        self._take_step(self._ask("step"))

    def report(self, metrics, *, of_first_rank=False, directory=None, metadata=None, directory_name=None, state=None,
               validation=None):
        """Metrics of an iteration, {name: value}, with the same names on every rank: numbers (also of NumPy, or torch tensors of
        one element) are averaged over the ranks, a Number or ratio() says otherwise; a text is rank 0's. A mean is a float; a sum,
        min or max of ints is an int. Takes a checkpoint where one is due: the state must be complete. Collective.

        of_first_rank=True, on all ranks: rank 0's metrics count, as they are.
        directory: a checkpoint is taken at this report, of all files below the directories that ranks give (one rank, some or
        all; a file of one name must be the same on all). It is copied when the call returns, and committed later: see
        checkpoint(). A directory or file that cannot be read is an error on all ranks. metadata: a dict for JSON that the
        checkpoint's manifest carries beside that of checkpoint_metadata(); of the ranks that give one the lowest's counts.
        directory_name: what you call the checkpoint, kept there as "checkpoint_dir_name". state, on all ranks, in a run whose restore()
        has attached none: a State of this checkpoint alone, which holds it beside the files; load() reads it.
        validation: a dict for JSON, for a checkpoint that somebody is to evaluate once it is committed; see README.md of src/checkpoint."""
        counts = not of_first_rank or self.world_rank == 0
        given = {} if directory is None else {"directory": os.path.abspath(os.fspath(directory))}
        if metadata is not None or directory_name is not None:
            given["directory_metadata"] = _metadata_of("the metadata of report()", metadata, directory_name)
        if validation is not None:
            given["validation"] = validation
        memory, new = (None, False) if state is None else self._memory_of_one(state)
        if state is not None:
            state._write_tensors(memory.bytes)
            given.update(state._descriptions(), values=state._encoded_values(), **({"memory": memory.nbytes} if new else {}))
        self._ask("report", with_memory=memory if new else None, metrics=_metrics(metrics) if counts else {}, of_first_rank=bool(of_first_rank), **given)
        self._of_one = memory or self._of_one

    def checkpoint(self):
        """The newest checkpoint that is committed, or that the run was restored from, as {"index": 12, "path": its directory,
        "files": True if report() was given a directory for it: its files lie in path/files}; None if there is none. Waits
        for one on its way. Not collective."""
        pause_s = 0.002
        while True:
            answer = self._ask("checkpoint")
            if not answer["on_its_way"]:
                return answer["checkpoint"]
            time.sleep(pause_s)
            pause_s = min(1.25 * pause_s, 0.05)

    def _glance(self):
        """What checkpoint() asks for, for any thread: the answer, or None while a call of the train thread is under way."""
        if not self._talk.acquire(blocking=False):
            return None
        try:
            if self._end is not None:
                raise self._end()
            answer = self._exchange("checkpoint", _line_of({"op": "checkpoint"}), None)
        finally:
            self._talk.release()
        if "ok" not in answer:
            raise RuntimeError(answer.get("error", "the run stops"))
        return answer["ok"]

    def load(self, state, checkpoint):
        """Fills the tensors and values of this State from a checkpoint, given by its directory or that of its run; which must have
        them all, and may have more. Every byte is checked. At any time: the run's own State stays what it is. Ranks may name other
        things. Collective."""
        memory, new = self._memory_of_one(state)
        announced = {"memory": memory.nbytes} if new else {}
        answer = self._ask("load", with_memory=memory if new else None, path=os.path.abspath(os.fspath(checkpoint)),
                           values=state._encoded_values(), **state._descriptions(), **announced)
        self._of_one = memory
        state._read_tensors(memory.bytes)
        state._take_values(answer["values"])

    def _memory_of_one(self, state):
        """Room for the tensors of this State, and whether the runtime does not know it yet."""
        nbytes = state._lay_out()
        if self._of_one is not None and self._of_one.nbytes >= nbytes:
            return self._of_one, False
        return _SharedMemory(max(nbytes, 4096)), True

    def stop_point(self):
        """A point inside long work between two steps (evaluation, loading) where the run may stop too: call it every few
        seconds. The state must be as it was at the last step() or report(). Collective."""
        self._ask("stop_point")

    def save(self):
        """Takes a checkpoint if something happened since the last one, and waits until it is committed: a program's last
        call. Collective."""
        self._ask("save")

    def request_stop(self, reason):
        """The run is done before its time: all ranks stop at the same next step() or stop_point(), and it counts as finished.
        Any rank may ask."""
        self._ask("request_stop", reason=str(reason))

    def log(self, text):
        """Writes each line of str(text) as a line of this worker into the run's log (standard error), marked with its rank as
        trainrt's own lines are. Unlike print() it leaves a progress bar whole and shows control characters as escapes. Not
        collective."""
        self._ask("log", text=_utf8(str(text)))

    def _train_function_begins(self):
        """The first step counts from here on, and not from context() on: what came before was the start-up of fit(). Not collective."""
        self._ask("begins")

    def expect_iterations(self, total):
        """Tells how many reports the run will have, for the progress bar."""
        self._ask("expect_iterations", total=int(total))

    def checkpoint_metadata(self, metadata):
        """A dict for JSON that every later checkpoint carries in its manifest. Rank 0's counts."""
        if not isinstance(metadata, dict):
            raise TypeError(f"checkpoint_metadata() takes a dict, not a {type(metadata).__name__}")
        self._ask("metadata", json=metadata)

    def all_reduce(self, array, op="sum"):
        """Reduces an array, as State.tensor() takes them, over all ranks in place, and returns it: op = sum, mean, min or max.
        All ranks give the same size and type. Sums follow one tree over the ranks: the bits are the same each time."""
        view = _array_of("the array of all_reduce()", array)
        view.read_from(self._exchange_array("all_reduce", view, count=math.prod(view.shape), reduce=op))
        return array

    def broadcast(self, array, root=0):
        """Gives every rank what rank `root` has in its array, of any kind that State.tensor() takes, in place, and returns it. All
        ranks give the same root, shape and type."""
        view = _array_of("the array of broadcast()", array)
        view.read_from(self._exchange_array("broadcast", view, shape=view.shape, root=int(root)))
        return array

    def all_gather(self, array):
        """Returns the arrays of all ranks, in their order, as a list of new ones like `array`. All ranks give the same shape and
        type."""
        _array_of("the array of all_gather()", array)  # what is wrong with it is said first
        copies = [_copy_of("the array of all_gather()", array) for _ in range(self.world_size)]
        self._all_gather_into(copies, array)
        return copies

    def _all_gather_into(self, outputs, array, first=None):
        """all_gather() whose parts go where they belong: outputs[r], if it is not None, gets what rank r has in its array, from its
        element first[r] on (from its first, without `first`)."""
        view = _array_of("the array of all_gather()", array)
        parts = self._exchange_array("all_gather", view, self.world_size, shape=view.shape)
        size = view.nbytes // max(math.prod(view.shape), 1)
        for rank, output in enumerate(outputs):
            if output is None:
                continue
            into = _array_of("an output of all_gather()", output)
            at = rank * view.nbytes + (first[rank] * size if first else 0)
            into.read_from(parts[at:at + into.nbytes])

    def _all_reduce_together(self, arrays, op, into=None):
        """all_reduce() of several arrays of one type as if they were one: the ranks meet once. into: the arrays that get the results,
        one for each, None if nobody asks for it; the same arrays, if it is left out."""
        results = None if into is None else [None if each is None else _array_of("a result of all_reduce()", each) for each in into]
        for number, (view, part) in enumerate(self._all_reduced(arrays, op)):
            result = view if results is None else results[number]
            if result is not None:
                result.read_from(part)

    def _all_reduced(self, arrays, op):
        """The same, whose results stay where they lie: pairs of an array's view and its bytes, which the next collective overwrites."""
        views = [_array_of("an array of all_reduce()", array) for array in arrays]
        kinds = sorted({view.dtype for view in views})
        if len(kinds) != 1:
            raise TypeError(f"arrays that are reduced together must be of one type, not of {' and '.join(kinds)}")
        nbytes = sum(view.nbytes for view in views)
        shared, new = self._shared_memory(nbytes)
        for view, part in self._parts(views, shared):
            view.write_to(part)
        self._exchange_memory("all_reduce", shared, new, dtype=kinds[0], count=sum(math.prod(view.shape) for view in views), reduce=op)
        return self._parts(views, shared)

    @staticmethod
    def _parts(views, shared):
        """Each view with its part of the memory."""
        at = 0
        for view in views:
            yield view, shared.bytes[at:at + view.nbytes]
            at += view.nbytes

    def _exchange_array(self, op, view, count_of_parts=1, **fields):
        """Asks for a collective on an array; returns the shared memory with its result, as large as so many of it."""
        nbytes = view.nbytes * count_of_parts
        shared, new = self._shared_memory(nbytes)
        view.write_to(shared.bytes[:view.nbytes])
        self._exchange_memory(op, shared, new, dtype=view.dtype, **fields)
        return shared.bytes[:nbytes]

    def _shared_memory(self, nbytes):
        """For a collective: at least so much, and whether the runtime does not know it yet."""
        if self._exchanged is not None and self._exchanged.nbytes >= nbytes:
            return self._exchanged, False
        return _SharedMemory(max(1 << max(nbytes - 1, 0).bit_length(), 4096)), True

    def _exchange_memory(self, op, shared, is_new, **fields):
        announced = {"memory": shared.nbytes} if is_new else {}
        self._ask(op, with_memory=shared if is_new else None, **fields, **announced)
        self._exchanged = shared
        if is_new and shared.nbytes > _BOARD_BYTES and self.world_size > 1:
            self._exchanged = self._memory_of_ranks(shared.nbytes) or shared

    def _memory_of_ranks(self, nbytes):
        """Memory for the next collectives in which the ranks of a node reach each other's: nothing is copied from one to the other. All
        ranks ask together, as all have brought new memory. None if there is none better than the program's own."""
        place = self._ask("share", bytes=nbytes)
        return _RuntimeMemory(self._channel.file, place["at"], place["bytes"]) if self._channel.file is not None else None

    def barrier(self):
        """Returns when all ranks have called it."""
        self._ask("barrier")

    # ---- datasets ----

    def has_dataset(self, name):
        """Whether the config has [data.NAME], or the Trainer was given it."""
        return "samples" in self._ask("data_look", name=name)

    def dataset(self, name, dataset=None, before=None):
        """This rank's shard of [data.NAME], as a trainrt.data.DataIterator. It is asked for after restore(), or before the first batch at
        the latest: then it goes on in the middle of an epoch. Needs NumPy."""
        from .data._iterator import DataIterator
        from .data._shared_batches import Link
        if self._data is None:
            self._data = Link(self._ask)
        return DataIterator(self._data, name, dataset, before)

    def _take_step(self, answer):
        self._step, self._step_seed = answer["step"], answer["step_seed"]

    # ---- runs that the program opens ----

    def open_run(self, settings, number=1):
        """Opens the run of these config keys ({"run.name": "mine", "checkpoint.num_to_keep": "2"}, texts as on the command line),
        which stand between the config file and the command line; rank 0's count. number: of the run among those that this
        program opens. False if that run has finished already: then nothing is run, and run_dir is where its results lie.
        ValueError if another run is open, or for wrong settings. Collective."""
        if self._is_open:
            raise RuntimeError(f"open_run() was called while the run '{self.run_name}' is open: close_run() comes before")
        self._take_identity(self._ask("open_run", settings=settings, number=int(number), **_who_i_am()))
        self._is_open = not self._identity.get("finished", False)
        return self._is_open

    def close_run(self):
        """The run is finished: a checkpoint on its way is committed, and what the State holds is saved. Another may be opened.
        Collective."""
        self._ask("close_run")
        self._state = self._memory = self._exchanged = self._of_one = self._data = self._left = None
        self._is_open = False

    # ---- the talk with the runtime ----

    def _ask(self, op, with_memory=None, **fields):
        """Sends a request and returns what the answer holds."""
        if self._end is not None:
            raise self._end()
        if self._broken:
            raise RuntimeError(self._broken)
        if self._busy:
            raise RuntimeError(f"{op}() was called during {self._busy}(): by a function under before_save, or by another thread")
        if op in _COLLECTIVE:
            self._place = {"left": self._left} if self._left else call_place(op)
        line = _line_of({"op": op, **fields, **(self._place if op in _COLLECTIVE else {}), **self._taken()})
        try:
            with self._talk:
                self._busy = op
                answer = self._exchange(op, line, with_memory)
        except BaseException as error:  # of before_save, or of a signal's handler: the answer may still come
            self._broken = f"{op}() was interrupted by {type(error).__name__}, and the run cannot go on"
            raise
        finally:
            self._busy = None
        if "ok" in answer:
            return answer["ok"]
        if "stop" in answer:
            self._end = lambda: Stop(answer["stop"])
        else:
            kind = ValueError if answer.get("usage") else RuntimeError
            self._end = lambda: kind(answer["error"])
        raise self._end()

    def _taken(self):
        """Which batches count as done from the next message on, as part of it."""
        return self._data.taken() if self._data is not None else {}

    def _exchange(self, op, line, memory):
        try:
            self._channel.send(line, memory.fd if memory else None)
            if memory:
                memory.handed_over()
            answer = self._channel.receive(with_file=op == "share")
            while "save" in answer:
                try:
                    self._save()
                except BaseException as error:  # the runtime waits for the state: it must hear that none comes
                    self._failed(type(error), error, error.__traceback__)
                    raise
                answer = self._channel.receive()
            return answer
        except (EOFError, ConnectionError):
            return {"error": f"{op}(): the trainrt process of this rank is gone"}

    def _save(self):
        """Makes current what the checkpoint takes, and says so."""
        values = {}
        if self._state is not None:
            for function in self._state._before_save:
                function()
            if self._memory:
                self._state._write_tensors(self._memory.bytes)
            values = self._state._encoded_values()
        self._channel.send(_line_of({"op": "state", "values": values, **self._place}))

    def _failed(self, kind, error, trace):
        """Tells the runtime of an exception that ends the program: it prints and keeps it. False if the runtime knows that
        the run ends, of another reason, or is gone."""
        if self._told is error:
            return True
        if self._end is not None:
            return False
        self._end, self._told = lambda: RuntimeError("the program has failed"), error
        summary = "".join(traceback.format_exception_only(kind, error)).strip()
        text = "".join(traceback.format_exception(kind, error, trace)).strip()
        try:
            self._channel.send(_line_of({"op": "failed", "error": _utf8(summary), "traceback": _utf8(text)}))
        except OSError:
            return False
        return True

    def _done(self):
        """Tells the runtime of a good end, if it asks: a script or a pipeline around the program may hide how it ended."""
        if self._end is None:
            self._end = lambda: RuntimeError("the program has ended")
            try:
                self._channel.send(_line_of({"op": "done", **({"left": self._left} if self._left else {}), **self._taken()}))
            except OSError:
                pass

    def _left_behind(self):
        """In a forked process: the connection is the parent's."""
        self._channel.close()
        self._end = lambda: RuntimeError("only the process that trainrt started may use the context, not one forked from it")


_TRUTH = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
_TYPE_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


def _utf8(text):
    return text.encode("utf-8", "replace").decode()


# ---- the process ---------------------------------------------------------------------------------------------------------

_context = None


def context():
    """The Context of this program; the same at each call. RuntimeError if trainrt did not start the program. The first call
    is the main thread's.

    From the first call on, the signals that stop a run (SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2) are ignored and blocked
    here, and in what this process starts: batch systems send them to all processes, and the stop comes from the runtime, as
    the next collective call raises it. So `multiprocessing` ends its workers by SIGKILL, and so does `subprocess.Popen.terminate()`
    with what it started.
    """
    return _context or _connected(Context._greet)


def open_run(settings, number=1):
    """context(), whose run is the one that Context.open_run() opens, instead of the config's. It is the first call of either, or
    comes after close_run(). Returns whether there is something to run."""
    is_running = []

    def greet(ctx):
        is_running.append(ctx.open_run(settings, number))

    if _context is None:
        _connected(greet)
    else:
        greet(_context)
    return is_running[0]


def is_connected():
    """Whether this process is a program that trainrt started, and context() will not fail for want of it."""
    return _context is not None or "TRAINRT_FD" in os.environ


def _require_channel(fd):
    """Raises RuntimeError unless `fd`, the value of TRAINRT_FD, names an open socket: it may be left from a program of trainrt that
    started this one."""
    try:
        if stat.S_ISSOCK(os.fstat(int(fd)).st_mode):
            return
    except (ValueError, OverflowError, OSError):
        pass
    raise RuntimeError(f"TRAINRT_FD={fd} is left from another program: this process has no such connection to trainrt. A program that "
                       f"trainrt has started calls trainrt.context() itself, before it starts others; a program of its own is started "
                       f"without TRAINRT_FD (env -u TRAINRT_FD)")


def _connected(greet):
    """Makes the one Context of this process."""
    global _context
    fd = os.environ.get("TRAINRT_FD")
    if fd is None:
        raise RuntimeError(f"this program was not started by trainrt. Write into a config: [train] program = python3 "
                           f"{os.path.basename(sys.argv[0] or 'train.py')}, and start it by `trainrt --config FILE`, under srun or mpiexec "
                           f"for several ranks")
    _require_channel(fd)
    _leave_stops_to_the_runtime()
    del os.environ["TRAINRT_FD"]  # what the program starts shall not take it for its own
    _context = Context(_Channel(int(fd)))
    _report_failures(_context)
    os.register_at_fork(after_in_child=_context._left_behind)
    greet(_context)
    atexit.register(_context._done)
    return _context


def _who_i_am():
    return {"protocol": _PROTOCOL, "client": f"Python {platform.python_version()}", "pid": os.getpid(), **_stacks_signal()}


def _announce():
    """Tells the runtime that this program uses the client: then it waits longer for which run is to be opened. What this process
    inherited under that number may be something else, if it is not the one that trainrt started."""
    try:
        fd = int(os.environ.get("TRAINRT_FD", ""))
        if os.fstat(fd).st_ino != int(os.environ.get("TRAINRT_FD_INODE", "")):
            return
        with socket.socket(fileno=os.dup(fd)) as channel:
            channel.sendall(b'{"op":"imported"}\n')
    except (ValueError, OSError):
        pass


def _leave_stops_to_the_runtime():
    for number in _STOP_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    # Workers of torch's DataLoader take SIGTERM for themselves and die of it, and with them this process: a mask stays.
    signal.pthread_sigmask(signal.SIG_BLOCK, _STOP_SIGNALS)
    # And what is started here would not hear this program's own SIGTERM: the end of a Pool, or a wait for a server that was told
    # to end, would take for ever.
    import subprocess
    from multiprocessing.popen_fork import Popen
    for kind in (Popen, subprocess.Popen):
        kind.terminate = kind.kill


def _stacks_signal():
    """Lets this process, and those that it forks, print the stacks of all threads at a signal: the runtime asks if the run hangs."""
    import faulthandler
    try:
        with open("/proc/self/status") as status:  # a library in C may have handlers that Python knows nothing of
            caught = int(next(line for line in status if line.startswith("SigCgt:")).split()[1], 16)
    except (OSError, StopIteration):  # no /proc, as in some containers: the program trains without
        return {}
    free = [number for number in range(signal.SIGRTMAX, signal.SIGRTMIN - 1, -1) if not caught >> (number - 1) & 1]
    if not free:
        return {}
    faulthandler.register(free[0], file=2, all_threads=True)
    return {"stacks_signal": int(free[0])}


def _report_failures(ctx):
    """An exception that nobody catches is told to the runtime, which prints it with its rank; else it is printed as ever."""
    print_exception = sys.excepthook

    def tell(kind, error, trace):
        if not ctx._failed(kind, error, trace):
            print_exception(kind, error, trace)

    sys.excepthook = tell


_announce()
