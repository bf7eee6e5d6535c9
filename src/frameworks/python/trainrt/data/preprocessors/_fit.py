"""fit() of the preprocessors: the runtime learns what they need, from the files, in threads of its own."""

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
        return _ask(server.link, server.open(_written(ds, columns, folder), 0), description)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _read_as_needed(keys, description):
    """Records that are looked at once are parsed by the threads that look, and not kept before by one."""
    is_once = description["preprocessor"] not in ("Chain", "RobustScaler")
    return {**keys, "memory": "0 B"} if is_once and "memory" not in keys and keys.get("format") in ("csv", "jsonl", "text") else keys


def _ask(link, name, description):
    return link.ask("data_fit", name=name, preprocessor=description)["preprocessor"]


def _written(ds, columns, folder):
    """What Python makes of the samples, in files that the runtime reads. columns: None for all."""
    keys = {}
    for number, batch in enumerate(ds._local().iter_batches(batch_size=_AT_ONCE, remainder="uneven")):
        for name in columns or ():
            if name not in batch:
                raise ValueError(f"there is no column '{name}'; there are: {', '.join(batch)}")
        needed = batch if columns is None else {name: batch[name] for name in columns}
        if all(column.dtype != object for column in needed.values()):
            _files.put(folder, lambda file: numpy.savez(file, **needed), "npz", f"{number:06}")
            keys = {"format": "npz"}
        else:
            _files.put(folder, _files._as_lines(needed), "jsonl", f"{number:06}")
            types = _files._types_of(needed)
            keys = {"format": "jsonl", **({"types": types} if types else {})}
    return {"source": folder, **keys}
