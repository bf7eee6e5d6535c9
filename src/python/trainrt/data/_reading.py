"""ReadMethods, the base class of Dataset with the methods that read samples in this process or write samples into files."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Union

from . import _files, _write
from ._batches._epochs import SamplesHere
from ._batches._iterator import DataIterator
from ._batches._streams import StreamSplit
from ._operations import formatted
from ._parts import DatasetParts, Reshape, numbers_of
from ._sources import MemorySource, local_folder
from ._values._arguments import checked_integer
from ._values._columns import concatenated
from ._values._numpy import numpy
from ._values._schema import Schema

if TYPE_CHECKING:
    import pandas

    from ._dataset import MaterializedDataset

BATCH_OF_SCANS = 1024  # samples per batch when this process reads all samples
Path = Union[str, os.PathLike]


class ReadMethods(DatasetParts):
    """Base class of Dataset with the methods that read samples."""

    def count(self) -> int:
        """Returns the number of samples."""
        rows = self._row_numbers()
        return self._count_all() if rows is None else len(rows)

    def schema(self) -> Schema | None:
        """Returns the Schema of the first sample. For an empty dataset, returns the Schema after all operations, or `None` if it is unknown."""
        first = next(iter(self._local_batches(1)), None)
        if first is None:
            first = self._empty_batch()
        return Schema(first) if first else None

    def columns(self, fetch_if_missing: bool = True) -> list[str] | None:
        """Returns the names of the columns, or `None` if the names are unknown, for example for from_items([])."""
        del fetch_if_missing
        schema = self.schema()
        return None if schema is None else schema.names

    def take(self, limit: int = 20) -> list[dict[str, Any]]:
        """Returns the first `limit` samples as a list of dicts."""
        return list(itertools.islice(self._local().iter_rows(), checked_integer("take()", limit, 0)))

    def take_all(self, limit: int | None = None) -> list[dict[str, Any]]:
        """Returns all samples as a list of dicts. Raises ValueError if there are more than `limit`."""
        rows = self.take((limit or self.count()) + 1)
        if limit is not None and len(rows) > limit:
            raise ValueError(f"The dataset has more than the given limit of {limit} records. take_all(limit={limit}): it has {self.count()} samples; "
                             f"take({limit}) returns the first {limit}")
        return rows

    def take_batch(self, batch_size: int = 20, *, batch_format: str | None = "default") -> Any:
        """Returns the first `batch_size` samples as one batch, or fewer if there are fewer. Raises ValueError if the dataset is empty."""
        for batch in self.iter_batches(batch_size=batch_size, batch_format=batch_format):
            return batch
        raise ValueError("The dataset is empty. take_batch() needs at least one sample")

    def show(self, limit: int = 20) -> None:
        """Prints the first `limit` samples."""
        for row in self.take(limit):
            print(row)

    def iterator(self) -> DataIterator:
        """Returns a DataIterator over all samples."""
        found = DataIterator.local(self)  # type: ignore[arg-type]
        found.dataset = self  # type: ignore[assignment]
        return found

    def streaming_split(self, n: int, *, equal: bool = False, locality_hints: Any = None) -> list[DataIterator]:
        """Returns `n` DataIterators over disjoint parts of the dataset, for DataConfig.configure().

        If configure() returns one part per worker, the train function gets shards from the runtime. The shards have other samples in each epoch, and
        `remainder` decides about samples that do not fill the last batch. In this process, the parts are those of split(n, equal=equal).
        `locality_hints` is ignored. Raises TypeError or ValueError unless `n` is an integer from 1 on."""
        del locality_hints
        return StreamSplit(self, checked_integer("streaming_split()", n, 1), equal).iterators()

    def iter_rows(self) -> Iterable[dict[str, Any]]:
        """Returns an iterable over the samples as dicts."""
        return self._local().iter_rows()

    def iter_batches(self, **arguments: Any) -> Iterable[Any]:
        """Returns an iterable over batches, {name: array}. The arguments are those of DataIterator.iter_batches()."""
        return self._local().iter_batches(**arguments)

    def iter_torch_batches(self, **arguments: Any) -> Iterable[Any]:
        """Returns an iterable over batches, {name: tensor}. The arguments are those of DataIterator.iter_torch_batches()."""
        return self._local().iter_torch_batches(**arguments)

    def iter_tf_batches(self, **arguments: Any) -> Iterable[Any]:
        """Returns an iterable over batches, {name: tf.Tensor}. The arguments are those of DataIterator.iter_tf_batches()."""
        return self._local().iter_tf_batches(**arguments)

    def to_tf(self, feature_columns: Any, label_columns: Any, **arguments: Any) -> Any:
        """Returns a tf.data.Dataset of batches (features, labels). The arguments are those of DataIterator.to_tf()."""
        return self._local().to_tf(feature_columns, label_columns, **arguments)

    def num_blocks(self) -> int:
        """Returns 1, since samples are not stored in blocks."""
        return 1

    def to_pandas(self, limit: int | None = None) -> pandas.DataFrame:
        """Returns the samples as a DataFrame. Raises ValueError if there are more than `limit`."""
        if limit is not None and self.count() > limit:
            raise ValueError(f"the dataset has more than the given limit of {limit} rows: {self.count()}. to_pandas(limit=None) converts all rows")
        return formatted(self._columns_at_once(), "pandas")

    def _columns_at_once(self) -> dict[str, Any]:
        """Returns all samples after all operations as {name: array}."""
        batches = [{name: column.copy() for name, column in batch.items()} for batch in self._local()._batches(BATCH_OF_SCANS, "uneven", None)]
        return concatenated(batches) if batches else self._empty_batch()

    def materialize(self) -> MaterializedDataset:
        """Reads all samples, applies the operations once, and returns a MaterializedDataset of the results in memory."""
        return self._in_memory(self._columns_at_once())

    def stats(self) -> str:
        """Returns repr() of the dataset."""
        return repr(self)

    # ---- methods that write files ----

    def write_parquet(self, path: Path, *, mode: str = "append", max_rows_per_file: int | None = None, **others: Any) -> None:
        """Writes the samples after all operations as Parquet files. Needs pyarrow (ImportError without it).

        Arrays of several axes become fixed-size lists.

        Parameters
        ----------
        path : path
            Folder of the files; it is created if it does not exist.
        mode : {"append", "overwrite", "error", "ignore"}
            Behaviour if the folder contains files: add files (default), replace all files of the same kind, raise FileExistsError, or write nothing.
        max_rows_per_file : int, optional
            Maximum number of samples per file; default: all samples in one file.
        others
            Arguments of pyarrow.parquet.ParquetWriter, such as compression="zstd".
        """
        ours = {key: others.pop(key) for key in list(others) if key in (*_write.IGNORED, "filesystem", "filename_provider")}
        _write.write_parquet(self._local_batches, path, mode, max_rows_per_file, others, ours)

    def write_csv(self, path: Path, *, mode: str = "append", max_rows_per_file: int | None = None, delimiter: str = ",", **others: Any) -> None:
        """Writes the samples as CSV files with a header; for the arguments see write_parquet(). NaN becomes an empty value. Reading the files
        returns all other numbers bit-identical. Raises ValueError for columns of arrays."""
        _write.write_csv(self._local_batches, path, mode, max_rows_per_file, {"delimiter": delimiter}, others)

    def write_numpy(self, path: Path, *, column: str, mode: str = "append", max_rows_per_file: int | None = None, **others: Any) -> None:
        """Writes one column as .npy files; for the arguments see write_parquet(). Raises ValueError for an unknown column, and for a column whose
        samples differ in length."""
        _write.write_numpy(self._local_batches, path, column, mode, max_rows_per_file, others)

    # ---- implementation ----

    def is_empty(self) -> bool:
        """Returns whether the dataset is known to have no samples, without reading files."""
        rows = (self._row_numbers(), numbers_of(self._reshape.rows))
        return self._source.empty_columns() is not None or any(each is not None and not len(each) for each in rows)

    def _in_memory(self, columns: dict[str, Any]) -> MaterializedDataset:
        return self._new(source=MemorySource(columns), materialized=True)  # type: ignore[return-value]

    def _samples_here(self) -> SamplesHere | None:
        """Returns the samples if only this process can use them, and no key of [data.NAME] changes them, else `None`."""
        columns = None if self._reshape.keys or set(self._keys) - {"shuffle", "shuffle_seed"} else self._source.columns_here()
        if columns is None:
            return None
        return SamplesHere(columns, self._row_numbers(), int(self._keys.get("shuffle_seed", 0)) if "shuffle" in self._keys else None)

    def _count_all(self) -> int:
        return self._local().count()

    def _local(self) -> DataIterator:
        """Returns a DataIterator over all samples, and opens the dataset."""
        return DataIterator.local(self).opened()  # type: ignore[arg-type]

    def _local_batches(self, batch_size: int) -> Iterator[dict[str, Any]]:
        return iter(self._local().iter_batches(batch_size=batch_size))

    def _empty_columns(self) -> dict[str, Any] | None:
        """Returns the columns of an empty dataset before its operations, {name: array}. Returns `None` if the dataset has samples."""
        if not self.is_empty():
            return None
        columns = self._source.empty_columns()
        if columns is not None:
            return columns
        return self._with(rows=None, operations=(), reshape=Reshape(self._reshape.keys))._local()._empty_batch()

    def _empty_batch(self) -> dict[str, Any]:
        """Returns the columns of an empty dataset after its operations, as empty arrays. If the source has samples, the operations are applied to
        the source's first sample, since users' functions seldom support empty batches."""
        if self._source.empty_columns() is None:
            for batch in self._with(rows=None, reshape=Reshape(self._reshape.keys))._local_batches(1):
                return {name: column[:0] for name, column in batch.items()}
        return self._local()._empty_batch()

    def _config(self, folder: str) -> dict[str, str]:
        """Returns the keys of [data.NAME] for this dataset. Samples in memory are first written into `folder`, which all nodes must see."""
        keys = {**self._source.keys(folder), **self._keys, **self._reshape.keys}
        chosen = {"subset": self._row_numbers()}
        if self._reshape.keys:
            chosen = {"subset": numbers_of(self._reshape.rows), "subset_after": self._row_numbers()}
        for key, rows in chosen.items():
            if rows is None:
                continue
            if not len(rows):
                raise ValueError(f"{self!r} has no samples")
            text = text_of_rows(rows)
            keys[key] = text if len(text) <= 200 else "@" + _files.put_text(folder, text.encode(), "rows")
        return keys

    def _open_at(self, server: Any, with_more: Any = dict) -> str:
        """Opens the dataset in `server` (`trainrt data serve`) and returns its name in the server. `with_more(keys)` may add keys of [data.NAME]."""
        return server.open(with_more(self._config(local_folder())), 0, self._source.reading, repr(self))


def text_of_rows(rows: Any) -> str:
    """Returns the row numbers in the format of the key `subset`. Consecutive row numbers become one range, FIRST:END."""
    if isinstance(rows, range):
        return f"{rows.start}:{rows.stop}"
    rows = numpy.asarray(rows)
    firsts = numpy.flatnonzero(numpy.diff(rows, prepend=rows[0] - 2) != 1)
    ends = [*firsts[1:], len(rows)]
    return "\n".join(f"{rows[first]}:{rows[first] + end - first}" if end - first > 1 else str(rows[first]) for first, end in zip(firsts, ends))
