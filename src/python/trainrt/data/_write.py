"""Implements Dataset.write_parquet(), write_csv() and write_numpy()."""

from __future__ import annotations

import csv
import os
import uuid
from typing import Any

from .._support import _notes
from ._values._arguments import check_ignored
from ._values._numpy import numpy

_ROWS = 1 << 16  # rows per batch
_MODES = ("append", "overwrite", "error", "ignore")
IGNORED = ("concurrency", "ray_remote_args", "num_rows_per_file", "try_create_dir")


class FileWriter:
    """Writes batches into files of one folder. A file gets its final name when it is complete."""

    def __init__(self, function, path, ending, mode, rows_per_file, others):
        check_ignored(function, others, IGNORED, refused=("filesystem", "filename_provider"))
        self.mode = str(getattr(mode, "value", mode)).lower()
        if self.mode not in _MODES:
            raise ValueError(f"{function}(mode={mode!r}): it must be one of {', '.join(_MODES)}")
        self.rows = rows_per_file or others.get("num_rows_per_file")
        if self.rows is not None and self.rows < 1:
            raise ValueError(f"{function}(): {self.rows} rows per file: it must be 1 or more")
        self.folder, self.ending, self._name = os.fspath(path), ending, uuid.uuid4().hex

    def write(self, batches, open_file):
        """Writes all batches. `open_file(path)` returns an object with write(batch) and close()."""
        if os.path.isdir(self.folder) and os.listdir(self.folder):
            if self.mode == "ignore":
                return
            if self.mode == "error":
                raise FileExistsError(f"the folder {self.folder} has files; mode='append' adds to them, mode='overwrite' replaces them")
        os.makedirs(self.folder, exist_ok=True)
        old = [name for name in os.listdir(self.folder) if name.endswith(self.ending)] if self.mode == "overwrite" else []
        self._write_files(batches, open_file)
        for name in old:
            os.unlink(os.path.join(self.folder, name))

    def _write_files(self, batches, open_file):
        number, rows, file = 0, 0, None
        hidden = os.path.join(self.folder, f".{self._name}.tmp")
        try:
            for batch in batches:
                for piece in self._pieces(batch, rows):
                    file = file or open_file(hidden)
                    file.write(piece)
                    rows += _length(piece)
                    if rows == self.rows:
                        file.close()
                        os.rename(hidden, self._path(number))
                        number, rows, file = number + 1, 0, None
            if file:
                file.close()
                os.rename(hidden, self._path(number))
            elif not number:
                _notes.say(f"the dataset has no samples: no {self.ending} file was written into {self.folder}")
        finally:
            if os.path.exists(hidden):
                os.unlink(hidden)

    def _path(self, number):
        return os.path.join(self.folder, f"{self._name}_{number:06}{self.ending}")

    def _pieces(self, batch, rows):
        """Divides a batch at file boundaries, and yields the rows for each file. The current file already has `rows` rows."""
        count, at = _length(batch), 0
        while at < count:
            end = count if self.rows is None else min(count, at + self.rows - rows)
            yield {name: values[at:end] for name, values in batch.items()}
            rows, at = (rows + end - at) % (self.rows or count + 1 + rows), end


def _length(batch):
    return len(next(iter(batch.values())))


class _Parquet:
    def __init__(self, path, arguments):
        self._path, self._arguments = path, arguments
        self._file: Any = None

    def write(self, batch):
        from pyarrow import parquet, table
        columns = table({name: _arrow_array(values) for name, values in batch.items()})
        if self._file is None:
            self._file = parquet.ParquetWriter(self._path, columns.schema, **self._arguments)
        self._file.write_table(columns.cast(self._file.schema))

    def close(self):
        self._file.close()


def _arrow_array(values):
    """Returns a column as an Arrow array. A column of arrays becomes an Arrow array of fixed-size lists."""
    import pyarrow
    if values.dtype == object:
        return pyarrow.array([each if each is None or isinstance(each, (str, list)) else numpy.asarray(each) for each in values])
    found = pyarrow.array(numpy.ascontiguousarray(values).reshape(-1))
    for extent in reversed(values.shape[1:]):
        found = pyarrow.FixedSizeListArray.from_arrays(found, extent)
    return found


class _Csv:
    def __init__(self, path, arguments):
        self._file = open(path, "w", newline="", encoding="utf-8")
        self._rows, self._has_header = csv.writer(self._file, **arguments), False

    def write(self, batch):
        if not self._has_header:
            self._rows.writerow(batch)
            self._has_header = True
        self._rows.writerows(zip(*(_csv_values(name, values) for name, values in batch.items())))

    def close(self):
        self._file.close()


def _csv_values(name, values):
    if values.ndim > 1 or (values.dtype == object and not all(each is None or isinstance(each, str) for each in values)):
        raise ValueError(f"write_csv(): the samples of '{name}' are arrays: use write_parquet(), or select_columns() for the other columns")
    if values.dtype.kind == "f":
        return ["" if each != each else repr(each) for each in values.astype("f8").tolist()]
    return ["" if each is None else each for each in values.tolist()]


class _Npy:
    """Collects all batches of one column, and writes one .npy file in close(). The header of a .npy file contains the number of samples."""

    def __init__(self, path, column):
        self._path, self._column, self._parts = path, column, []

    def write(self, batch):
        self._parts.append(batch[self._column].copy())

    def close(self):
        with open(self._path, "wb") as file:
            numpy.save(file, numpy.concatenate(self._parts), allow_pickle=False)


def write_parquet(batches_of, path, mode, rows_per_file, arrow_arguments, others):
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError as error:
        raise ImportError(f"write_parquet() needs the package pyarrow (pip install pyarrow): {error}") from error
    FileWriter("write_parquet", path, ".parquet", mode, rows_per_file, others).write(
        batches_of(_ROWS), lambda file: _Parquet(file, arrow_arguments))


def write_csv(batches_of, path, mode, rows_per_file, csv_arguments, others):
    FileWriter("write_csv", path, ".csv", mode, rows_per_file, others).write(batches_of(_ROWS), lambda file: _Csv(file, csv_arguments))


def write_numpy(batches_of, path, column, mode, rows_per_file, others):
    def batches():
        for batch in batches_of(_ROWS):
            if column not in batch:
                raise ValueError(f"write_numpy(): there is no column '{column}'; the columns are: {', '.join(batch)}")
            if batch[column].dtype == object:
                raise ValueError(f"write_numpy(): the samples of '{column}' vary in length: use write_parquet()")
            yield batch
    FileWriter("write_numpy", path, ".npy", mode, rows_per_file, others).write(batches(), lambda file: _Npy(file, column))
