"""Sources of a Dataset: files, arrays in memory, and functions that compute arrays. A source returns the keys of [data.NAME] that read its samples."""

from __future__ import annotations

import atexit
import glob
import os
import shutil
import tempfile
import uuid
from collections.abc import Callable, Sequence
from typing import Any

from .._support import _notes, _store_url
from . import _files
from ._values._categories import Categories, categories_in
from ._values._columns import is_storable, require_storable
from ._values._numpy import numpy


class FileSource:
    """A source of samples in files, or of a format without files. The arguments are keys of [data.NAME]. `reading` identifies the read_*() call, also in
    copies of this object and other processes. A later read_*() call lists the files again and reads their new content."""

    def __init__(self, **keys: Any) -> None:
        self._keys = checked_keys(keys)
        self.reading = uuid.uuid4().hex if "source" in self._keys else None

    def keys(self, folder: str) -> dict[str, str]:
        del folder
        return dict(self._keys)

    def empty_columns(self) -> dict[str, Any] | None:
        """Returns `None`, which means that the source may have samples: the files have not been read."""
        return None

    def columns_here(self) -> dict[str, Any] | None:
        """Returns `None`, which means that this process has no columns: the runtime reads the files."""
        return None

    def __repr__(self) -> str:
        return ", ".join(f"{key}={text}" for key, text in self._keys.items())


class MemorySource:
    """A source of columns in this process's memory, {name: array}. The first axis counts the samples. keys(folder) writes the columns into a file in
    `folder`; a source that is pickled after that contains only the file's path."""

    reading = None  # not needed, since the names of the files depend on their content

    categories: dict[str, Categories] = {}  # the categories of categorical columns, since the files contain only the values of samples

    def __init__(self, columns: dict[str, Any] | None) -> None:
        self._columns = columns
        self.categories = categories_in(columns or {})
        self._keys: dict[str, dict[str, str]] = {}  # {folder: keys}

    def empty_columns(self) -> dict[str, Any] | None:
        """Returns {name: array} if there are no samples, else `None`."""
        columns = self._columns
        return dict(columns) if columns is not None and not any(len(column) for column in columns.values()) else None

    def __getstate__(self) -> dict[str, Any]:
        return {"_columns": None if self._keys else self._columns, "_keys": self._keys, "categories": self.categories}

    def keys(self, folder: str) -> dict[str, str]:
        if self._columns is None:
            return dict(next(iter(self._keys.values())))
        if not self._columns or not len(next(iter(self._columns.values()))):
            raise ValueError("the dataset has no samples; it needs at least one")
        if folder not in self._keys:
            self._keys[folder] = _files.put_columns(folder, {name: _as_stored(name, column) for name, column in self._columns.items()})
        return dict(self._keys[folder])

    def columns_here(self) -> dict[str, Any] | None:
        """Returns the columns, {name: array}, if only this process can use one of them, such as strings with missing values, else `None`."""
        columns = self._columns or {}
        return None if all(is_storable(column) for column in columns.values()) else columns

    def __repr__(self) -> str:
        return "in memory: " + ", ".join(self._columns or ["written into a file"])


class MadeSource(MemorySource):
    """A source of columns that the function `make` computes when the columns are first needed. `words` is the repr() of the source."""

    def __init__(self, make: Callable[[], dict[str, Any]], words: str) -> None:
        super().__init__(None)
        self._make: Callable[[], dict[str, Any]] | None = make
        self._words = words

    def __getstate__(self) -> dict[str, Any]:
        self._compute()
        return {**super().__getstate__(), "_make": None, "_words": self._words}

    def keys(self, folder: str) -> dict[str, str]:
        self._compute()
        return super().keys(folder)

    def empty_columns(self) -> dict[str, Any] | None:
        self._compute()
        return super().empty_columns()

    def columns_here(self) -> dict[str, Any] | None:
        self._compute()
        return super().columns_here()

    def _compute(self) -> None:
        if self._make is not None:
            self._columns, self._make = self._make(), None
            self.categories = categories_in(self._columns or {})

    def __repr__(self) -> str:
        return self._words


def _as_stored(name: str, column: Any) -> Any:
    """Returns the column as it is written into a file. Missing strings become empty strings, with a note. Raises NotStorableError for a column
    that the runtime cannot store."""
    count = sum(each is None for each in column) if column.dtype == object else 0
    if count and all(each is None or isinstance(each, str) for each in column):
        _notes.say(f"column '{name}' has {count} missing texts: they become empty texts in a train function")
        column = numpy.where(numpy.array([each is None for each in column]), "", column)
    require_storable(name, column)
    return column


def paths_of(paths: str | os.PathLike | Sequence[str | os.PathLike]) -> str:
    """Returns the value of the key `source` for one path or several: absolute paths, or URLs of object stores. Raises FileNotFoundError for a
    missing path, ValueError for an unsupported URL or a path with a comma."""
    several = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    if not several:
        raise ValueError("no path was given")
    return ", ".join(_path_of(path) for path in several)


def _path_of(path: str | os.PathLike) -> str:
    text = os.fspath(path)
    for scheme in ("file://", "local://"):
        text = text[len(scheme):] if text.startswith(scheme) else text
    is_object = _store_url.is_store_url(text)
    if "://" in text and not is_object:
        raise ValueError(f"{path!r}: use a path that all nodes see, or an object store: s3://BUCKET/KEY or gs://BUCKET/KEY")
    if "," in text:
        raise ValueError(f"{path!r} has a comma, which separates the paths of a dataset: use its folder, or a pattern")
    if is_object:
        _store_url.parsed(text)  # this call only checks the options of the URL
        return text
    full = os.path.abspath(os.path.expanduser(text))
    if not glob.glob(full) and not os.path.exists(full):
        raise FileNotFoundError(f"{path!r}: no such file or folder ({full})")
    return full


def checked_keys(keys: dict[str, Any]) -> dict[str, str]:
    """Returns the keys with their values as strings. Leaves out keys with the value `None`."""
    return {key: ("true" if value else "false") if isinstance(value, bool) else str(value) for key, value in keys.items() if value is not None}


_folder: tuple[str, int] | None = None


def local_folder() -> str:
    """Returns a temporary folder for files that only this process reads. The folder is removed when this process exits."""
    global _folder
    if _folder is None or _folder[1] != os.getpid():
        _folder = (tempfile.mkdtemp(prefix="trainrt_data_"), os.getpid())
        atexit.register(_remove, *_folder)
    return _folder[0]


def _remove(folder: str, process: int) -> None:
    if process == os.getpid():
        shutil.rmtree(folder, ignore_errors=True)
