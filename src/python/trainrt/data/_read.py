"""read_*(): datasets from files.

All functions take `paths`: a file, a folder, a pattern (*, ?, [a-z]), a URL of an object store (s3://, gs://), or a list of these, in a file system
that all nodes see. They return a Dataset; the files are listed now and read when samples are needed. They raise FileNotFoundError for a path that
does not exist, TypeError for an unknown argument, and ValueError for one that is not supported. Dataset.options() sets further keys of [data.NAME].
Arguments of Ray Data that only place tasks on a cluster are ignored; shuffle="files" means random_shuffle().
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, Union

from ._arguments import OF_CLUSTERS, check_ignored
from ._dataset import Dataset
from ._sources import FileSource, paths_of

Paths = Union[str, os.PathLike, Sequence[Union[str, os.PathLike]]]
Names = Union[str, Sequence[str], None]
_IGNORED = OF_CLUSTERS | {"meta_provider", "ignore_missing_paths", "file_extensions", "partition_filter", "shuffle"}


def dataset_of_files(function: str, files: Paths, others: dict[str, Any], /, **keys: Any) -> Dataset:
    """Returns the Dataset of these files with these keys of [data.NAME]. `others` are the remaining arguments of `function`."""
    check_ignored(function, others, _IGNORED, refused=("filesystem", "partitioning"), hint="; options(...) sets other keys of [data.NAME]")
    dataset = Dataset(FileSource(source=paths_of(files), **keys))
    return dataset.random_shuffle() if others.get("shuffle") else dataset


def joined_names(names: Names) -> str | None:
    return None if names is None else names if isinstance(names, str) else ", ".join(names)


def _types(types: dict[str, str] | str | None) -> str | None:
    return ", ".join(f"{name}:{kind}" for name, kind in types.items()) if isinstance(types, dict) else types


def _paths(paths: Paths | None) -> str | None:
    return None if paths is None else paths_of(paths)


def read_csv(paths: Paths, *, columns: Names = None, types: dict[str, str] | None = None, delimiter: str | None = None, header: bool | None = None,
             quotes: bool | None = None, na: Names = None, vector: str | None = None, **ray: Any) -> Dataset:
    """Reads CSV tables (RFC 4180), one column per column of the table.

    Parameters
    ----------
    columns : str or list of str, optional
        Names to read; default: all.
    types : dict, optional
        {"price": "f32"}; other types are detected.
    delimiter : str, optional
        One character, or "tab"; default: a comma, or a tab for .tsv files.
    header : bool
        False if the first row has no names; the columns are then c0, c1, ...
    quotes : bool
        False reads quotes as normal characters.
    na : str or list of str, optional
        Words for a missing number; default: NA, NaN, null.
    vector : str, optional
        Name of one column for all numeric columns that `types` does not name; "x:f64" for another type than f32.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import trainrt
    >>> path = pathlib.Path(tempfile.mkdtemp(), "houses.csv")
    >>> _ = path.write_text("price,city\\n1.5,Bern\\n2.5,Basel\\n")
    >>> trainrt.data.read_csv(path, types={"price": "f32"}).take(1)
    [{'price': 1.5, 'city': 'Bern'}]
    """
    return dataset_of_files("read_csv", paths, ray, format="csv", columns=joined_names(columns), types=_types(types), delimiter=delimiter,
                            header=header, quotes=quotes, na=joined_names(na), vector=vector)


def read_parquet(paths: Paths, *, columns: Names = None, types: dict[str, str] | None = None, vector: str | None = None, **ray: Any) -> Dataset:
    """Reads Parquet files; arguments as of read_csv(). Needs a build of trainrt with Apache Arrow (its CMake option ARROW_ROOT).

    Examples
    --------
    >>> trainrt.data.read_parquet("/lustre/data/houses-*.parquet", columns=["price"])   # doctest: +SKIP
    """
    return dataset_of_files("read_parquet", paths, ray, format="parquet", columns=joined_names(columns), types=_types(types), vector=vector)


def read_sql(sql: str, database: str | os.PathLike[str] | Callable[[], Any], *, types: dict[str, str] | None = None, vector: str | None = None,
             **ray: Any) -> Dataset:
    """Reads the result of a SELECT ... ORDER BY ... of an SQLite database.

    Parameters
    ----------
    sql : str
    database : path or function
        Path of the database or, as in Ray, a function that returns a connection of the module sqlite3 to it. Other connections, and databases in
        memory, raise ValueError.
    types, vector
        As of read_csv().

    Examples
    --------
    >>> import os, sqlite3, tempfile
    >>> import trainrt
    >>> path = os.path.join(tempfile.mkdtemp(), "houses.db")
    >>> with sqlite3.connect(path) as connection:
    ...     _ = connection.execute("CREATE TABLE houses (price REAL)")
    ...     _ = connection.execute("INSERT INTO houses VALUES (1.5), (2.5)")
    >>> trainrt.data.read_sql("SELECT price FROM houses ORDER BY price", path).count()
    2
    """
    if callable(database):
        connection = database()
        if not hasattr(connection, "execute") or type(connection).__module__ != "sqlite3":
            raise ValueError(f"read_sql(): {type(connection).__module__} is not supported: use the path of an SQLite database")
        path = connection.execute("PRAGMA database_list").fetchone()[2]
        connection.close()
        if not path:
            raise ValueError("read_sql(): other processes cannot read a database in memory: use the path of a file")
        database = path
    query = " ".join(sql.split())
    return dataset_of_files("read_sql", database, ray, format="sqlite", query=query, types=_types(types), vector=vector)  # type: ignore[arg-type]


def read_json(paths: Paths, *, columns: Names = None, types: dict[str, str] | None = None, lines: bool = True, **ray: Any) -> Dataset:
    """Reads JSON lines, one object per line, one column per key; `columns` and `types` as of read_csv(). Raises ValueError for lines=False.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import trainrt
    >>> path = pathlib.Path(tempfile.mkdtemp(), "houses.jsonl")
    >>> _ = path.write_text('{"price": 1.5}\\n{"price": 2.5}\\n')
    >>> trainrt.data.read_json(path).count()
    2
    """
    if not lines:
        raise ValueError("read_json(lines=False) is not supported: use JSON lines, one object per line")
    return dataset_of_files("read_json", paths, ray, format="jsonl", columns=joined_names(columns), types=_types(types))


def read_text(paths: Paths, *, encoding: str = "utf-8", drop_empty_lines: bool = True, **ray: Any) -> Dataset:
    """Reads text files, one sample per line, into the column `text` of str, decoded by `encoding`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import trainrt
    >>> path = pathlib.Path(tempfile.mkdtemp(), "poem.txt")
    >>> _ = path.write_text("first line\\nsecond line\\n")
    >>> trainrt.data.read_text(path).take(1)
    [{'text': 'first line'}]
    """
    return dataset_of_files("read_text", paths, ray, format="text", drop_empty_lines=drop_empty_lines)._with(encoding=encoding)


def read_numpy(paths: Paths, *, labels: Paths | None = None, fields: Names = None, **ray: Any) -> Dataset:
    """Reads .npy files into the column `data`, or .npz files into one column per array. The first axis counts the samples.

    Parameters
    ----------
    labels : paths, optional
        .npy files for the column `labels`.
    fields : str or list of str, optional
        Arrays of .npz files: ["x", "y"], or "images=x, labels=y" to rename them; default: all.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy, trainrt
    >>> path = os.path.join(tempfile.mkdtemp(), "x.npy")
    >>> numpy.save(path, numpy.zeros((3, 2), "f4"))
    >>> trainrt.data.read_numpy(path).schema()
    data: float32[2]
    """
    return dataset_of_files("read_numpy", paths, ray, labels=_paths(labels), fields=joined_names(fields))


def read_hdf5(paths: Paths, *, group: str | None = None, fields: Names = None, **ray: Any) -> Dataset:
    """Reads the datasets of HDF5 files, one column each; the first axis counts the samples.

    Parameters
    ----------
    group : str, optional
        Group of the datasets; default: the root.
    fields : str or list of str, optional
        Paths of datasets below the group; default: all numeric datasets.

    Examples
    --------
    >>> trainrt.data.read_hdf5("/lustre/data/train.h5", fields=["x", "y"])   # doctest: +SKIP
    """
    return dataset_of_files("read_hdf5", paths, ray, format="hdf5", group=group, fields=joined_names(fields))


def read_idx(paths: Paths, *, labels: Paths | None = None, **ray: Any) -> Dataset:
    """Reads IDX files, such as MNIST's, into the column `images`, and the files `labels` into the column `labels`.

    Examples
    --------
    >>> trainrt.data.read_idx("train-images-idx3-ubyte.gz", labels="train-labels-idx1-ubyte.gz")   # doctest: +SKIP
    """
    return dataset_of_files("read_idx", paths, ray, format="idx", labels=_paths(labels))


def read_tokens(paths: Paths, *, length: int, dtype: str | None = None, stride: int | None = None, header: int | None = None,
                document_end: int | None = None, pad: int | None = None, next_token: bool | None = None, **ray: Any) -> Dataset:
    """Reads windows of token ids from flat files or .npy files into the column `tokens`, of shape [length + 1].

    Parameters
    ----------
    length : int
        Number of tokens that the model reads at once. The additional token is the last target; next_token=False omits it.
    dtype : {"u8", "u16", "u32", "i32", "i64"}, optional
        Type in the file; default: "u16".
    stride : int, optional
        Tokens between the starts of two windows; default: `length`.
    header : int, optional
        Bytes before the first token; default: 0.
    document_end : int, optional
        Id that ends a document; no window crosses it.
    pad : int, optional
        Id that fills incomplete windows; the column `count` then has the number of real tokens.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy, trainrt
    >>> path = os.path.join(tempfile.mkdtemp(), "tokens.bin")
    >>> numpy.arange(9, dtype="u2").tofile(path)
    >>> trainrt.data.read_tokens(path, length=4).take_batch()["tokens"].tolist()
    [[0, 1, 2, 3, 4], [4, 5, 6, 7, 8]]
    """
    return dataset_of_files("read_tokens", paths, ray, format="tokens", length=length, dtype=dtype, stride=stride, header=header,
                            document_end=document_end, pad=pad, next_token=next_token)
