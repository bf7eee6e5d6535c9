"""fit() of the preprocessors: the runtime learns what they need, from the files, in threads of its own."""

import os
import shutil
import tempfile

from .. import _files
from .._iterator import DataIterator
from .._numpy import numpy

_AT_ONCE = 1 << 16  # samples that Python hands over in one file


def stats_learned_from(ds, description, columns):
    """The stats of a preprocessor, as JSON has them."""
    return _fitted(ds, description, columns).get("stats")


def stages_learned_from(ds, chain, columns):
    """Those of each preprocessor of a Chain, as one list."""
    return [stage.get("stats") for stage in _fitted(ds, chain, columns)["parameters"]["preprocessors"]]


def _fitted(ds, description, columns):
    if isinstance(ds, DataIterator):
        if ds._operations:
            raise ValueError("fit() takes a shard whose batches are as they are read; this one's are changed by map() and the like: fit() the dataset "
                             "before the Trainer gets it")
        return _ask(ds._link, ds._name, description)
    if not hasattr(ds, "_local_batches"):
        raise TypeError(f"fit() takes a dataset of trainrt.data, or a shard of one; {type(ds).__name__} is none")
    from .. import _server
    server = _server.server()
    if not ds._operations and ds._encoding == "utf-8":
        return _ask(server.link, ds._open_at(server, lambda keys: _read_as_needed(keys, description)), description)
    folder = tempfile.mkdtemp(prefix="trainrt_fit_")
    try:
        name = server.open(_written(ds, columns, folder), 0)
        try:
            return _ask(server.link, name, description)
        finally:
            server.release(name)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _read_as_needed(keys, description):
    """Records that are looked at once are parsed by the threads that look, and not kept before by one."""
    is_once = description["preprocessor"] not in ("Chain", "RobustScaler")
    return {**keys, "memory": "0 B"} if is_once and "memory" not in keys and keys.get("format") in ("csv", "jsonl", "text") else keys


def _ask(link, name, description):
    return link.ask("data_fit", name=name, preprocessor=description)["preprocessor"]


def _written(ds, columns, folder):
    """What Python makes of the samples, in files that the runtime reads, as keys for them. columns: None for all."""
    parts = _Parts(folder)
    for batch in ds._local().iter_batches(batch_size=_AT_ONCE, remainder="uneven"):
        for name in columns or ():
            if name not in batch:
                raise ValueError(f"there is no column '{name}'; there are: {', '.join(batch)}")
        parts.add(batch if columns is None else {name: batch[name] for name in columns})
    return parts.keys()


class _Parts:
    """A file for each batch. What all of them hold together says in which form the runtime gets them: it wants the same fields in all files."""

    def __init__(self, folder):
        self._folder = folder
        self._paths = []
        self._dtypes = {}  # of numbers: the one that holds those of all batches
        self._shapes = {}  # of each column's first sample
        self._others = {}  # column -> (part, row, {name: array}), the first sample of another shape
        self._has_objects = False

    def add(self, batch):
        for name, column in batch.items():
            for dtype in _dtypes_in(column):
                self._dtypes[name] = numpy.result_type(self._dtypes.get(name, dtype), dtype)
            row = None if name in self._others else self._other_shape(name, column)
            if row is not None:
                self._others[name] = (len(self._paths), row, {each: values[row:row + 1].copy() for each, values in batch.items()})
        has_objects = any(column.dtype == object for column in batch.values())
        self._has_objects |= has_objects
        self._paths.append(os.path.join(self._folder, f"{len(self._paths):06}.{'lines' if has_objects else 'npz'}"))
        with open(self._paths[-1], "wb") as file:
            file.write(_files._as_lines(batch)) if has_objects else numpy.savez(file, **batch)

    def _other_shape(self, name, column):
        """The row of the first sample that is not of the shape of those before."""
        if column.dtype == object and isinstance(column[0], str):
            return None
        shape = self._shapes.setdefault(name, column[0].shape)
        if column.dtype != object:
            return None if column.shape[1:] == shape else 0
        return next((row for row, values in enumerate(column) if numpy.shape(values) != shape), None)

    def keys(self):
        if self._has_objects or self._others:
            return self._as_jsonl()
        for path in self._paths:
            with numpy.load(path) as file:
                is_right = all(column.dtype == self._dtypes[name] for name, column in file.items())
            if not is_right:
                numpy.savez(path, **self._part(path))
        return {"source": self._folder, "format": "npz"}

    def _part(self, path):
        with numpy.load(path) as file:
            return {name: column.astype(self._dtypes[name], copy=False) for name, column in file.items()}

    def _lines_of(self, path, left_out):
        """Those of a part, without some rows."""
        if path.endswith(".npz"):
            yield _files._as_lines({name: numpy.delete(column, left_out, axis=0) for name, column in self._part(path).items()})
            return
        with open(path, "rb") as file:
            yield from (line for row, line in enumerate(file) if row not in left_out)

    def _as_jsonl(self):
        """One file. The runtime looks at the first 10000 samples for the lists that vary in length: one that shows it goes to the front."""
        early = {(part, row): sample for part, row, sample in self._others.values()}
        result = os.path.join(self._folder, "all.jsonl")
        with open(result, "wb") as file:
            for sample in early.values():
                file.write(_files._as_lines(sample))
            for part, path in enumerate(self._paths):
                file.writelines(self._lines_of(path, [row for of, row in early if of == part]))
                os.unlink(path)
        types = self._types()
        return {"source": result, "format": "jsonl", **({"types": types} if types else {})}

    def _types(self):
        """Of lists that vary only that they are reals, where the first ones may be whole numbers."""
        varying = {name for name in self._dtypes if name in self._others}
        return _files._types_of({name: numpy.empty(0, "f8" if name in varying else dtype) for name, dtype in self._dtypes.items()
                                 if name not in varying or dtype.kind == "f"})


def _dtypes_in(column):
    """Those of its numbers. An empty list has none of its own."""
    if column.dtype != object:
        return {column.dtype}
    return {values.dtype for values in column if not isinstance(values, str) and values.size}
