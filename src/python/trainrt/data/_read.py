"""read_*(), the functions that return datasets of files.

`paths` is a file, a folder, a pattern (*, ?, [a-z]), a URL of an object store (s3://, gs://), or a list of these. Files must be in a file system that
all nodes see. The functions list the files and return a Dataset; files are read when samples are needed. They raise FileNotFoundError for a missing
path, TypeError for an unknown argument, and ValueError for an unsupported argument. Dataset.options() sets further keys of [data.NAME]. Arguments of
Ray Data that only place tasks on a cluster are ignored; shuffle="files" shuffles the samples, as random_shuffle() does.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, Union

from ._dataset import Dataset
from ._sources import FileSource, paths_of
from ._values._arguments import OF_CLUSTERS, check_ignored

Paths = Union[str, os.PathLike, Sequence[Union[str, os.PathLike]]]
Names = Union[str, Sequence[str], None]
_IGNORED = OF_CLUSTERS | {"meta_provider", "ignore_missing_paths", "file_extensions", "partition_filter", "shuffle"}


def dataset_of_files(function: str, files: Paths, others: dict[str, Any], /, **keys: Any) -> Dataset:
    """Returns the Dataset of `files` with `keys` of [data.NAME]. `others` are further arguments that the user passed to `function`."""
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
    """Returns a dataset of the rows of CSV tables (RFC 4180), with the columns of the tables.

    Parameters
    ----------
    columns : str or list of str, optional
        Names of the columns to read; default: all columns.
    types : dict, optional
        Types of columns, {"price": "f32"}. Types of other columns are detected.
    delimiter : str, optional
        Delimiter of columns: one character, or "tab". Default: a comma, or a tab for .tsv files.
    header : bool
        False if the first row contains values, not names. The columns are then named c0, c1 and so on.
    quotes : bool
        False treats quotes as normal characters.
    na : str or list of str, optional
        Strings that mark a missing number; default: NA, NaN, null.
    vector : str, optional
        Name of one column that combines all numeric columns that `types` does not name. Its type is f32; "x:f64" makes column x an f64.

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
    """Returns a dataset of the rows of Parquet files. The arguments are those of read_csv().

    Requires a build of trainrt with Apache Arrow (CMake option ARROW_ROOT). Without it, use from_pandas(pandas.read_parquet(path)), or convert the
    files: reading the dataset raises ValueError with the command.

    Examples
    --------
    >>> trainrt.data.read_parquet("/lustre/data/houses-*.parquet", columns=["price"])   # doctest: +SKIP
    """
    return dataset_of_files("read_parquet", paths, ray, format="parquet", columns=joined_names(columns), types=_types(types), vector=vector)


def read_sql(sql: str, database: str | os.PathLike[str] | Callable[[], Any], *, types: dict[str, str] | None = None, vector: str | None = None,
             **ray: Any) -> Dataset:
    """Returns a dataset of the rows of an SQL query, SELECT ... ORDER BY ..., in an SQLite database.

    Parameters
    ----------
    sql : str
    database : path or function
        Path of the database or, as in Ray, a function that returns a connection of Python's module sqlite3. Connections to other databases or to a
        database in memory raise ValueError.
    types, vector
        Arguments of read_csv().

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
    """Returns a dataset of the objects in JSON-lines files, one object per line and one column per key.

    `columns` and `types` are arguments of read_csv(). Raises ValueError for lines=False.

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
    """Returns a dataset of the lines of text files, in the column `text`. Lines are decoded by `encoding`.

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
    """Returns a dataset of .npy files, in the column `data`, or of .npz files, one column per array. The first axis counts the samples.

    Parameters
    ----------
    labels : paths, optional
        .npy files to read into the column `labels`.
    fields : str or list of str, optional
        Names of the arrays of .npz files to read: ["x", "y"], or "images=x, labels=y" to rename arrays. Default: all arrays.

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
    """Returns a dataset of HDF5 files, with one column per HDF5 dataset. The first axis counts the samples.

    Parameters
    ----------
    group : str, optional
        HDF5 group that contains the HDF5 datasets; default: the root group.
    fields : str or list of str, optional
        Paths of the HDF5 datasets to read, relative to the group. Default: all numeric datasets.

    Examples
    --------
    >>> trainrt.data.read_hdf5("/lustre/data/train.h5", fields=["x", "y"])   # doctest: +SKIP
    """
    return dataset_of_files("read_hdf5", paths, ray, format="hdf5", group=group, fields=joined_names(fields))


def read_idx(paths: Paths, *, labels: Paths | None = None, **ray: Any) -> Dataset:
    """Returns a dataset of IDX files such as MNIST's. The column `images` contains `paths`, the column `labels` contains the files `labels`.

    Examples
    --------
    >>> trainrt.data.read_idx("train-images-idx3-ubyte.gz", labels="train-labels-idx1-ubyte.gz")   # doctest: +SKIP
    """
    return dataset_of_files("read_idx", paths, ray, format="idx", labels=_paths(labels))


def read_tokens(paths: Paths, *, length: int, dtype: str | None = None, stride: int | None = None, header: int | None = None,
                document_end: int | None = None, pad: int | None = None, next_token: bool | None = None, **ray: Any) -> Dataset:
    """Returns a dataset of windows of token ids from flat files or .npy files, in the column `tokens` of shape [length + 1].

    Parameters
    ----------
    length : int
        Number of input tokens of the model. The additional token is the target of the last input; next_token=False leaves out the additional token.
    dtype : {"u8", "u16", "u32", "i32", "i64"}, optional
        Type of the token ids in the files; default: "u16".
    stride : int, optional
        Number of tokens between the starts of two windows; default: `length`.
    header : int, optional
        Number of bytes before the first token of a file; default: 0.
    document_end : int, optional
        Token id that ends a document. Windows do not cross the end of a document.
    pad : int, optional
        Token id that fills incomplete windows. The column `count` then contains the number of tokens without the fill.

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
