"""Implements fit() of preprocessors: the runtime reads the files in several threads and computes the statistics (stats)."""

import os
import shutil
import tempfile

from .. import _files
from .._batches._iterator import DataIterator
from .._values._columns import require_storable
from .._values._numpy import numpy

_SAMPLES_PER_FILE = 1 << 16  # number of samples per temporary file of _written()


def stats_learned_from(ds, description, columns):
    """Fit a preprocessor to the dataset `ds` and return its stats as in JSON. `columns` are the names of the needed columns; `None` for all."""
    return _fitted(ds, description, columns).get("stats")


def stages_learned_from(ds, chain, columns):
    """Fit a Chain to the dataset `ds` and return a list with the stats of each preprocessor."""
    return [stage.get("stats") for stage in _fitted(ds, chain, columns)["parameters"]["preprocessors"]]


def _fitted(ds, description, columns):
    if isinstance(ds, DataIterator):
        if ds._operations:
            raise ValueError("fit() does not accept a shard that is changed by map() or a similar method; fit the dataset before you pass it to the "
                             "Trainer")
        return _ask(ds._link, ds._name, description)
    if not hasattr(ds, "_local_batches"):
        raise TypeError(f"fit() takes a dataset of trainrt.data or a shard of one, not {type(ds).__name__}")
    from .._batches import _server
    server = _server.server()
    if not ds._operations and ds._encoding == "utf-8" and ds._samples_here() is None:
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
    """Return the keys of [data.NAME] for a fit. If a fit reads text files once, the key memory is '0 B': the files are parsed, not kept in memory."""
    is_once = description["preprocessor"] not in ("Chain", "RobustScaler")
    return {**keys, "memory": "0 B"} if is_once and "memory" not in keys and keys.get("format") in ("csv", "jsonl", "text") else keys


def _ask(link, name, description):
    return link.ask("data_fit", name=name, preprocessor=description)["preprocessor"]


def _written(ds, columns, folder):
    """Write the samples after Python operations to files that the runtime reads. Return the keys of [data.NAME] that read the files."""
    parts = _Parts(folder)
    for batch in ds._local().iter_batches(batch_size=_SAMPLES_PER_FILE, remainder="uneven"):
        for name in columns or ():
            if name not in batch:
                raise ValueError(f"You specified the column '{name}', but there's no such column in the dataset. The dataset has columns: {list(batch)}")
        chosen = batch if columns is None else {name: batch[name] for name in columns}
        for name, column in chosen.items():
            require_storable(name, column)
        parts.add(chosen)
    return parts.keys()


def columns_here(ds, names):
    """Returns all samples of the columns `names` of the Dataset `ds` as {name: array}. Raises TypeError for a shard, since other ranks have the rest."""
    if not hasattr(ds, "_columns_at_once"):
        raise TypeError(f"fit() of this preprocessor takes a dataset of trainrt.data, not {type(ds).__name__}: fit it before you pass the dataset to the "
                        f"Trainer")
    columns = ds._columns_at_once()
    for name in names:
        if name not in columns:
            raise ValueError(f"Column '{name}' does not exist in DataFrame, which has columns: {list(columns)}")
    if not len(next(iter(columns.values()), ())):
        raise ValueError("the dataset has no samples; fit() needs at least one")
    return {name: columns[name] for name in names}


def first_sample(ds):
    """Returns the first sample of the Dataset `ds` as {name: array}; {} for a shard, and for a dataset without samples."""
    if not hasattr(ds, "_columns_at_once"):
        return {}
    return next(iter(ds._local()._batches(1, "uneven", None)), {})


class _Parts:
    """Writes one file per batch. The final format depends on all batches, since the runtime requires equal fields in all files."""

    def __init__(self, folder):
        self._folder = folder
        self._paths = []
        self._dtypes = {}  # {column: type that can store the numbers of all batches}
        self._shapes = {}  # {column: shape of the first sample}
        self._others = {}  # {column: (file, row, sample as {name: array})} of the first sample with another shape
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
        """Return the row of the first sample whose shape differs from the column's first sample, or `None` if all shapes are equal."""
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
        """Yield the samples of a file as JSON lines, without the rows `left_out`."""
        if path.endswith(".npz"):
            yield _files._as_lines({name: numpy.delete(column, left_out, axis=0) for name, column in self._part(path).items()})
            return
        with open(path, "rb") as file:
            yield from (line for row, line in enumerate(file) if row not in left_out)

    def _as_jsonl(self):
        """Write one file of JSON lines. The runtime checks the first 10000 samples for lists of different lengths, so samples with such lists come
        first."""
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
        """Returns the value of the key `types`. A column of lists with different lengths is included only if it contains floats: the runtime would
        otherwise detect integers if the first lists contain only integers."""
        varying = {name for name in self._dtypes if name in self._others}
        return _files._types_of({name: numpy.empty(0, "f8" if name in varying else dtype) for name, dtype in self._dtypes.items()
                                 if name not in varying or dtype.kind == "f"})


def _dtypes_in(column):
    """Return the set of NumPy types of the numbers in a column. Empty lists are ignored."""
    if column.dtype != object:
        return {column.dtype}
    return {values.dtype for values in column if not isinstance(values, str) and values.size}
