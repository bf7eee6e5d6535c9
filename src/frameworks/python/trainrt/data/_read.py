"""read_*() and from_*(): datasets out of files, and out of what a script has in memory."""

import builtins

from ._columns import column_of, columns_of, stacked
from ._dataset import Dataset, MaterializedDataset
from ._numpy import numpy
from ._sources import FileSource, MemorySource, paths_of

_CHANGE_NOTHING = {"parallelism", "override_num_blocks", "concurrency", "ray_remote_args", "num_cpus", "num_gpus", "memory", "meta_provider",
                   "ignore_missing_paths", "file_extensions", "filesystem", "partitioning", "partition_filter"}


def _of_files(function, files, ray, /, **keys):
    shuffle = ray.pop("shuffle", None)
    unknown = sorted(set(ray) - _CHANGE_NOTHING)
    if unknown:
        raise TypeError(f"{function}() got an unexpected argument: {', '.join(unknown)}; keys of [data.NAME] go by options(...)")
    if ray.get("filesystem") is not None or ray.get("partitioning") is not None:
        raise ValueError(f"{function}(): filesystem and partitioning are not offered: files lie in a file system that all nodes see")
    dataset = Dataset(FileSource(source=paths_of(files), **keys))
    return dataset.random_shuffle() if shuffle else dataset


def _names(names):
    return None if names is None else names if isinstance(names, str) else ", ".join(names)


def read_csv(paths, *, columns=None, types=None, delimiter=None, header=None, quotes=None, na=None, vector=None, **ray):
    """Tables; types: {"price": "f32"}. A file or folder, a pattern, or a list of them, as for all read functions."""
    return _of_files("read_csv", paths, ray, format="csv", columns=_names(columns), types=_pairs(types), delimiter=delimiter, header=header,
                     quotes=quotes, na=_names(na), vector=vector)


def _pairs(types):
    return ", ".join(f"{name}:{kind}" for name, kind in types.items()) if isinstance(types, dict) else types


def read_parquet(paths, *, columns=None, types=None, vector=None, **ray):
    """Parquet files, if trainrt was built with Apache Arrow (the key ARROW_ROOT of its build)."""
    return _of_files("read_parquet", paths, ray, format="parquet", columns=_names(columns), types=_pairs(types), vector=vector)


def read_sql(sql, database, *, types=None, vector=None, **ray):
    """What a SELECT ... ORDER BY gives of an SQLite database, by its path. As for Ray, `database` may be a function that connects to it."""
    if callable(database):
        connection = database()
        if not hasattr(connection, "execute") or type(connection).__module__ != "sqlite3":
            raise ValueError(f"read_sql(): {type(connection).__module__} is not offered: give the path of an SQLite database")
        path = connection.execute("PRAGMA database_list").fetchone()[2]
        connection.close()
        if not path:
            raise ValueError("read_sql(): a database in memory cannot be read by other processes: give the path of a file")
        database = path
    return _of_files("read_sql", database, ray, format="sqlite", query=" ".join(sql.split()), types=_pairs(types), vector=vector)


def read_json(paths, *, columns=None, types=None, lines=True, **ray):
    """JSON lines: an object a line."""
    if not lines:
        raise ValueError("read_json(lines=False): JSON lines are read, an object a line")
    return _of_files("read_json", paths, ray, format="jsonl", columns=_names(columns), types=_pairs(types))


def read_text(paths, *, encoding="utf-8", drop_empty_lines=True, **ray):
    """A sample a line, in the column `text`."""
    return _of_files("read_text", paths, ray, format="text", drop_empty_lines=drop_empty_lines)._with(encoding=encoding)


def read_numpy(paths, *, labels=None, fields=None, **ray):
    """.npy files (the column `data`, and `labels` from files of them), or .npz files, an array a column."""
    return _of_files("read_numpy", paths, ray, labels=paths_of(labels) if labels is not None else None, fields=_names(fields))


def read_hdf5(paths, *, group=None, fields=None, **ray):
    """The datasets of HDF5 files, a column each; the first axis counts the samples."""
    return _of_files("read_hdf5", paths, ray, format="hdf5", group=group, fields=_names(fields))


def read_idx(paths, *, labels=None, **ray):
    """IDX files, as of MNIST: the column `images`, and `labels`."""
    return _of_files("read_idx", paths, ray, format="idx", labels=paths_of(labels) if labels is not None else None)


def read_tokens(paths, *, length, dtype=None, stride=None, header=None, document_end=None, pad=None, next_token=None, **ray):
    """Windows of token ids, in the column `tokens`."""
    return _of_files("read_tokens", paths, ray, format="tokens", length=length, dtype=dtype, stride=stride, header=header, document_end=document_end,
                     pad=pad, next_token=next_token)


_CHANNELS = {None: None, "L": 1, "RGB": 3, "RGBA": 4}


def _image_keys(function, size, mode, resize_mode, layout, dtype, decode, max_pixels):
    if mode not in _CHANNELS:
        raise ValueError(f"{function}(mode={mode!r}): the modes are L, RGB and RGBA")
    if size is not None:
        try:
            height, width = (int(extent) for extent in size)
        except (TypeError, ValueError):
            raise ValueError(f"{function}(size={size!r}): a size is (height, width)") from None
        size = f"{height}x{width}"
    return {"size": size, "channels": _CHANNELS[mode], "resize_mode": resize_mode, "layout": layout, "type": dtype, "decode": decode,
            "max_pixels": max_pixels}


def read_images(paths, *, size=None, mode=None, include_paths=False, labels=None, classes=None, resize_mode=None, layout=None, dtype=None,
                decode=None, max_pixels=None, **ray):
    """JPEG, PNG and WebP images, a file each, in the column `image`: u8 [height, width, channels]. size: (height, width); without it all have the
    same. mode: "L", "RGB" (as without it) or "RGBA". In folders of their classes, or in a list of path,label, they have the column `label` too: the position of
    the class in `classes`; without it in the sorted names of the folders, or of those of the dataset "train" of the same Trainer."""
    return _of_files("read_images", paths, ray, format="images", labels=labels, classes=_names(classes), paths=include_paths or None,
                     **_image_keys("read_images", size, mode, resize_mode, layout, dtype, decode, max_pixels))


def read_webdataset(paths, *, fields=None, size=None, mode=None, resize_mode=None, layout=None, dtype=None, decode=None, max_pixels=None, **ray):
    """Tar archives of samples, a column an extension: jpg, png and webp as images, cls as i64, npy as arrays, txt and json as texts, others as
    bytes. fields: those that are read, ["jpg", "cls", "__key__"], or {"image": "jpg;png", "label": "cls"}. Images as read_images() has them."""
    if isinstance(fields, dict):
        fields = [f"{name}={extensions}" for name, extensions in fields.items()]
    unknown = sorted(name for name in ("decoder", "fileselect", "filerename", "suffixes", "expand_json", "verbose_open") if ray.pop(name, None))
    if unknown:
        raise ValueError(f"read_webdataset(): {', '.join(unknown)} is not offered; fields and decode say what is read")
    return _of_files("read_webdataset", paths, ray, format="tar", fields=_names(fields),
                     **_image_keys("read_webdataset", size, mode, resize_mode, layout, dtype, decode, max_pixels))


def range(n, **ray):
    """The numbers 0 to n-1, in the column `id`."""
    del ray
    return Dataset(FileSource(format="range", samples=int(n)))


class _Filled:
    """Arrays of one shape, all of whose elements are the sample's number."""

    def __init__(self, shape):
        self.shape = tuple(shape)

    def __call__(self, batch):
        ids = batch["id"]
        return {"data": numpy.broadcast_to(ids.reshape(-1, *(1 for _ in self.shape)), (len(ids), *self.shape)).copy()}


def range_tensor(n, *, shape=(1,), **ray):
    """range(n) as arrays of one shape, in the column `data`."""
    return range(n, **ray).map_batches(_Filled(shape))


# ---- out of memory -----------------------------------------------------------------------------------------------------------


def _of_columns(columns, what):
    return MaterializedDataset(MemorySource(columns_of(columns, what, "was given")))


def from_items(items, **ray):
    """A sample an item: dicts of the same keys, or values, which are the column `item`."""
    del ray
    items = list(items)
    if not items:
        return _of_columns({}, "from_items")
    if isinstance(items[0], dict):
        return _of_columns(stacked(items, "from_items", "was given"), "from_items")
    return _of_columns({"item": items}, "from_items")


def from_numpy(ndarrays, **ray):
    """An array, or several that follow one another, in the column `data`; a dict of arrays gives a column each."""
    del ray
    if isinstance(ndarrays, dict):
        return _of_columns(ndarrays, "from_numpy")
    several = ndarrays if isinstance(ndarrays, (list, tuple)) else [ndarrays]
    return _of_columns({"data": numpy.concatenate([numpy.asarray(each) for each in several])}, "from_numpy")


def from_pandas(dfs, **ray):
    """A DataFrame, or several that follow one another."""
    del ray
    if isinstance(dfs, (list, tuple)):
        import pandas
        dfs = pandas.concat(dfs, ignore_index=True)
    return _of_columns(dfs, "from_pandas")


def from_torch(dataset, **ray):
    """A torch Dataset with a length: dicts give their keys as columns, tuples `item_0`, `item_1`, ..., all else `item`."""
    del ray
    samples = [dataset[number] for number in builtins.range(len(dataset))]
    if samples and isinstance(samples[0], (tuple, list)):
        return _of_columns({f"item_{place}": list(values) for place, values in enumerate(zip(*samples))}, "from_torch")
    return from_items(samples)


def from_huggingface(dataset, **ray):
    """A datasets.Dataset, of numbers, texts, and lists of numbers."""
    del ray
    if not hasattr(dataset, "column_names") or isinstance(dataset.column_names, dict):
        raise TypeError("from_huggingface() takes one datasets.Dataset; of a DatasetDict take a split: dataset['train']")
    return _of_columns({name: column_of(dataset[name], f"'{name}'") for name in dataset.column_names}, "from_huggingface")
