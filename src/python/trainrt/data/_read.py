"""read_*() and from_*(): datasets from files, and from data in a script's memory.

All read functions take `paths`: a file, a folder, a pattern (*, ?, [a-z]), a URL of an object store (s3://, gs://), or a list of these, in a
file system that all nodes see. They return a Dataset; the files are listed now and read when samples are needed. They raise
FileNotFoundError for a path that does not exist, TypeError for an unknown argument, and ValueError for one that is not supported. Further keys
of [data.NAME] are set by Dataset.options(). Arguments of Ray Data that only place tasks on a cluster are ignored; shuffle="files" means
random_shuffle().
"""

import builtins

from ._arguments import OF_CLUSTERS, check_ignored
from ._columns import column_of, columns_of, stacked
from ._dataset import Dataset, MaterializedDataset
from ._numpy import numpy
from ._sources import FileSource, MemorySource, paths_of

_IGNORED = OF_CLUSTERS | {"meta_provider", "ignore_missing_paths", "file_extensions", "partition_filter", "shuffle"}


def _of_files(function, files, others, /, **keys):
    """Returns the Dataset of these files with these keys of [data.NAME]. `others` are the remaining arguments of `function`."""
    check_ignored(function, others, _IGNORED, refused=("filesystem", "partitioning"), hint="; options(...) sets other keys of [data.NAME]")
    dataset = Dataset(FileSource(source=paths_of(files), **keys))
    return dataset.random_shuffle() if others.get("shuffle") else dataset


def _words(names):
    return None if names is None else names if isinstance(names, str) else ", ".join(names)


def _types(types):
    return ", ".join(f"{name}:{kind}" for name, kind in types.items()) if isinstance(types, dict) else types


def _paths(paths):
    return None if paths is None else paths_of(paths)


def read_csv(paths, *, columns=None, types=None, delimiter=None, header=None, quotes=None, na=None, vector=None, **ray):
    """Reads CSV tables (RFC 4180), one column per column of the table.

    columns: names to read (list or str; default: all).
    types: {"price": "f32"}; other types are detected.
    delimiter: one character, or "tab"; default: a comma, or a tab for .tsv files.
    header: False if the first row has no names; the columns are then c0, c1, ...
    quotes: False to read quotes as normal characters.
    na: words for a missing number; default: NA, NaN, null.
    vector: name of one column for all numeric columns that `types` does not name; "x:f64" for another type than f32."""
    return _of_files("read_csv", paths, ray, format="csv", columns=_words(columns), types=_types(types), delimiter=delimiter, header=header,
                     quotes=quotes, na=_words(na), vector=vector)


def read_parquet(paths, *, columns=None, types=None, vector=None, **ray):
    """Reads Parquet files; arguments as of read_csv(). Needs a build of trainrt with Apache Arrow (its CMake option ARROW_ROOT)."""
    return _of_files("read_parquet", paths, ray, format="parquet", columns=_words(columns), types=_types(types), vector=vector)


def read_sql(sql, database, *, types=None, vector=None, **ray):
    """Reads the result of a SELECT ... ORDER BY ... of an SQLite database. `database` is its path or, as in Ray, a function that returns a
    connection of the module sqlite3 to it; `types` and `vector` as of read_csv(). Raises ValueError for other connections and for databases
    in memory."""
    if callable(database):
        connection = database()
        if not hasattr(connection, "execute") or type(connection).__module__ != "sqlite3":
            raise ValueError(f"read_sql(): {type(connection).__module__} is not supported: use the path of an SQLite database")
        path = connection.execute("PRAGMA database_list").fetchone()[2]
        connection.close()
        if not path:
            raise ValueError("read_sql(): other processes cannot read a database in memory: use the path of a file")
        database = path
    return _of_files("read_sql", database, ray, format="sqlite", query=" ".join(sql.split()), types=_types(types), vector=vector)


def read_json(paths, *, columns=None, types=None, lines=True, **ray):
    """Reads JSON lines, one object per line, one column per key; `columns` and `types` as of read_csv(). Raises ValueError for lines=False."""
    if not lines:
        raise ValueError("read_json(lines=False) is not supported: use JSON lines, one object per line")
    return _of_files("read_json", paths, ray, format="jsonl", columns=_words(columns), types=_types(types))


def read_text(paths, *, encoding="utf-8", drop_empty_lines=True, **ray):
    """Reads text files, one sample per line, into the column `text` of str, decoded by `encoding`."""
    return _of_files("read_text", paths, ray, format="text", drop_empty_lines=drop_empty_lines)._with(encoding=encoding)


def read_numpy(paths, *, labels=None, fields=None, **ray):
    """Reads .npy files into the column `data`, and the .npy files `labels` into `labels`; or .npz files, one column per array. `fields` chooses
    arrays of .npz files: ["x", "y"], or "images=x, labels=y" to rename them. The first axis counts the samples."""
    return _of_files("read_numpy", paths, ray, labels=_paths(labels), fields=_words(fields))


def read_hdf5(paths, *, group=None, fields=None, **ray):
    """Reads the datasets of HDF5 files, one column each; the first axis counts the samples. `group`: their group (default: the root).
    `fields`: their paths below the group (default: all numeric datasets)."""
    return _of_files("read_hdf5", paths, ray, format="hdf5", group=group, fields=_words(fields))


def read_idx(paths, *, labels=None, **ray):
    """Reads IDX files, such as MNIST's, into the column `images`, and the files `labels` into the column `labels`."""
    return _of_files("read_idx", paths, ray, format="idx", labels=_paths(labels))


def read_tokens(paths, *, length, dtype=None, stride=None, header=None, document_end=None, pad=None, next_token=None, **ray):
    """Reads windows of token ids from flat files or .npy files into the column `tokens`, of shape [length + 1].

    length: number of tokens that the model reads at once; the additional token is the last target. next_token=False omits it.
    dtype: type in the file: "u8", "u16" (default), "u32", "i32", "i64".
    stride: tokens between the starts of two windows (default: length).
    header: bytes before the first token (default: 0).
    document_end: id that ends a document; no window crosses it.
    pad: id that fills incomplete windows; the column `count` then has the number of real tokens."""
    return _of_files("read_tokens", paths, ray, format="tokens", length=length, dtype=dtype, stride=stride, header=header, document_end=document_end,
                     pad=pad, next_token=next_token)


_CHANNELS = {None: None, "L": 1, "RGB": 3, "RGBA": 4}


def _image_keys(function, size, mode, resize_mode, layout, dtype, decode, max_pixels):
    if mode not in _CHANNELS:
        raise ValueError(f"{function}(mode={mode!r}): it must be L, RGB or RGBA")
    if size is not None:
        try:
            height, width = (int(extent) for extent in size)
        except (TypeError, ValueError):
            raise ValueError(f"{function}(size={size!r}): it must be (height, width)") from None
        size = f"{height}x{width}"
    return {"size": size, "channels": _CHANNELS[mode], "resize_mode": resize_mode, "layout": layout, "type": dtype, "decode": decode,
            "max_pixels": max_pixels}


def read_images(paths, *, size=None, mode=None, include_paths=False, labels=None, classes=None, resize_mode=None, layout=None, dtype=None, decode=None,
                max_pixels=None, **ray):
    """Reads JPEG, PNG and WebP images, one file each, into the column `image` of shape [height, width, channels]. If they are in folders of
    classes, or in a list with lines "path,label", the column `label` (i64) has the positions of the classes in `classes`.

    size: (height, width) to resize to; default: all images must have one size.
    mode: "L" (gray), "RGB" (default) or "RGBA".
    include_paths: True adds the column `path`.
    labels: "auto" (default), "folders", or "none" for no labels.
    classes: names of the classes; default: the sorted folder names of the dataset "train" of the same Trainer, or of this one.
    resize_mode: "stretch" (default) changes proportions, "crop" uses the largest centered part.
    layout: "interleaved" (default), or "planar" for [channels, height, width].
    dtype: "u8" (default), or "f32" from 0 to 1.
    decode: False returns the encoded bytes.
    max_pixels: maximum number of pixels of an image (default: 100 million)."""
    return _of_files("read_images", paths, ray, format="images", labels=labels, classes=_words(classes), paths=include_paths or None,
                     **_image_keys("read_images", size, mode, resize_mode, layout, dtype, decode, max_pixels))


def read_webdataset(paths, *, fields=None, size=None, mode=None, resize_mode=None, layout=None, dtype=None, decode=None, max_pixels=None, **ray):
    """Reads tar archives of samples, one column per file extension: jpg, png and webp as images (arguments as of read_images()), cls as i64, npy
    as arrays, txt and json as text, others as bytes. `fields` chooses extensions: ["jpg", "cls", "__key__"], or
    {"image": "jpg;png", "label": "cls"} to rename them; default: those of the first sample."""
    if isinstance(fields, dict):
        fields = [f"{name}={extensions}" for name, extensions in fields.items()]
    unsupported = sorted(name for name in ("decoder", "fileselect", "filerename", "suffixes", "expand_json", "verbose_open") if ray.pop(name, None))
    if unsupported:
        raise ValueError(f"read_webdataset({unsupported[0]}=...) is not supported; use fields and decode")
    return _of_files("read_webdataset", paths, ray, format="tar", fields=_words(fields),
                     **_image_keys("read_webdataset", size, mode, resize_mode, layout, dtype, decode, max_pixels))


def range(n, **ray):
    """Returns the numbers 0 to n-1 in the column `id` (i64)."""
    del ray
    return Dataset(FileSource(format="range", samples=int(n)))


class _Filled:
    """Makes arrays of one shape whose elements all are the sample's number."""

    def __init__(self, shape):
        self.shape = tuple(shape)

    def __call__(self, batch):
        ids = batch["id"]
        return {"data": numpy.broadcast_to(ids.reshape(-1, *(1 for _ in self.shape)), (len(ids), *self.shape)).copy()}


def range_tensor(n, *, shape=(1,), **ray):
    """Returns n arrays of this shape in the column `data`; all elements of array i are i."""
    return range(n, **ray).map_batches(_Filled(shape))


# ---- from memory: the data are written once into .datasets in the storage path, when a run starts --------------------------


def _of_columns(columns, what):
    return MaterializedDataset(MemorySource(columns_of(columns, what, "was given")))


def from_items(items, **ray):
    """Returns one sample per item of a list: dicts with equal keys become columns, other values the column `item`. Raises TypeError and
    ValueError for values that are not numbers, bools, texts or arrays of them."""
    del ray
    items = list(items)
    if not items:
        return _of_columns({}, "from_items")
    if isinstance(items[0], dict):
        return _of_columns(stacked(items, "from_items", "was given"), "from_items")
    return _of_columns({"item": items}, "from_items")


def from_numpy(ndarrays, **ray):
    """Returns the samples of an array, or of several arrays one after another, in the column `data`; a dict of arrays gives one column each.
    The first axis counts the samples."""
    del ray
    if isinstance(ndarrays, dict):
        return _of_columns(ndarrays, "from_numpy")
    several = ndarrays if isinstance(ndarrays, (list, tuple)) else [ndarrays]
    return _of_columns({"data": numpy.concatenate([numpy.asarray(each) for each in several])}, "from_numpy")


def from_pandas(dfs, **ray):
    """Returns the rows of a DataFrame, or of several one after another. Missing texts become empty; missing integers and bools make the column
    floats with NaN. Notes report missing texts and bools. Raises ValueError for equal column names, and for integers above 2**53 in a column with missing ones."""
    del ray
    if isinstance(dfs, (list, tuple)):
        import pandas
        dfs = pandas.concat(dfs, ignore_index=True)
    return _of_columns(dfs, "from_pandas")


def from_torch(dataset, **ray):
    """Returns the samples of a torch Dataset with a length: dicts become columns, tuples the columns `item_0`, `item_1`, ..., other values
    `item`."""
    del ray
    samples = [dataset[number] for number in builtins.range(len(dataset))]
    if samples and isinstance(samples[0], (tuple, list)):
        return _of_columns({f"item_{number}": list(values) for number, values in enumerate(zip(*samples))}, "from_torch")
    return from_items(samples)


def from_huggingface(dataset, **ray):
    """Returns the rows of a datasets.Dataset of numbers, texts and lists of numbers. Raises TypeError for a DatasetDict."""
    del ray
    if not hasattr(dataset, "column_names") or isinstance(dataset.column_names, dict):
        raise TypeError("from_huggingface() takes one datasets.Dataset; choose a split of a DatasetDict: dataset['train']")
    return _of_columns({name: column_of(dataset[name], f"'{name}'") for name in dataset.column_names}, "from_huggingface")
