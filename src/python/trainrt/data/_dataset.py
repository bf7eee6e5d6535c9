"""Dataset: which samples, in which order, with which operations. Samples are read when a method needs them."""

import itertools
import random

from . import _files, _write
from ._arguments import OF_CLUSTERS, check_ignored
from ._columns import concatenated
from ._iterator import DataIterator
from ._numpy import numpy
from ._operations import AddColumn, Call, Drop, Map, MapBatches, Rename, Select, keeps
from ._samples import Reshape, ReshapeMethods
from ._sources import MemorySource, checked_keys, local_folder
from ._whole_number import whole_number

_BATCH = 1024  # samples per batch when this process reads all of them
_MAX_SHUFFLED = 1 << 25  # rows of a shuffled list, which takes about 1 GB
_SET_BY_METHODS = {"source", "format", "subset", "subset_after", "every", "shuffle", "shuffle_seed", "split", "where", "explode", "sequence", "pack", "draw_by_weight"}


class Schema:
    """Names and types of the columns of a batch: `names` and `types`, two lists of str. A type is a NumPy dtype, with the shape of a sample if
    it has axes ("float32[28, 28]"), "string", or "list" (samples of different lengths)."""

    def __init__(self, batch):
        self.names = list(batch)
        self.types = [self._type(column) for column in batch.values()]

    @staticmethod
    def _type(column):
        if column.dtype == object:
            return "string" if len(column) and isinstance(column[0], str) else "list"
        return f"{column.dtype}{list(column.shape[1:]) if column.ndim > 1 else ''}"

    def __repr__(self):
        return "\n".join(f"{name}: {kind}" for name, kind in zip(self.names, self.types))


class Dataset(ReshapeMethods):
    """Samples with named columns, from read_*() or from_*(). A Dataset is immutable: each operation returns a new one. A Trainer gets it by
    datasets={"train": dataset}.

    Arguments of Ray Data that only place tasks on a cluster (num_cpus, compute, ...) are ignored. Methods raise TypeError for unknown arguments
    and for functions that are not callable. Methods that need the samples read them in this process, and raise RuntimeError or ValueError if
    that fails."""

    def __init__(self, source, rows=None, operations=(), keys=None, encoding="utf-8", reshape=None):
        self._source = source
        self._rows = rows  # None: all; else a sequence of their numbers, or a function that returns it
        self._reshape = reshape or Reshape()  # `rows` are numbers of the samples that these operations make
        self._operations = tuple(operations)
        self._keys = dict(keys or {})
        self._encoding = encoding  # of texts

    def _with(self, **changes):
        return Dataset(**{"source": self._source, "rows": self._rows, "operations": self._operations, "keys": self._keys,
                          "encoding": self._encoding, "reshape": self._reshape, **changes})

    def _and_then(self, operation):
        return self._with(operations=(*self._operations, operation))

    # ---- changes of samples ----

    def map(self, fn, *, fn_args=None, fn_kwargs=None, fn_constructor_args=None, fn_constructor_kwargs=None, concurrency=None, random=False,
            **resources):
        """Replaces each sample by `fn(row, *fn_args, **fn_kwargs)`, where `row` and the result are dicts, {column: value}. If `fn` is a class, it
        is instantiated once per process with the constructor arguments, and the object is called.

        concurrency: number of processes per rank that call `fn` and all other operations, ahead of the train function; default: the process
        that takes the batches calls them.
        random: True calls fn(row, rng, ...) with a numpy.random.Generator that depends only on run.seed, the dataset's name, the epoch and the
        sample: the result is the same on any number of ranks and processes, and after a restart.

        Taking a batch raises TypeError if `fn` does not return a dict, ValueError if the dicts have different keys."""
        check_ignored("map", resources)
        call = Call("map", fn, fn_args, fn_kwargs, fn_constructor_args, fn_constructor_kwargs)
        return self._and_then(Map(call, _workers_of("map", concurrency), random))

    def map_batches(self, fn, *, batch_size="default", batch_format="default", fn_args=None, fn_kwargs=None, fn_constructor_args=None,
                    fn_constructor_kwargs=None, zero_copy_batch=True, concurrency=None, random=False, **resources):
        """Replaces each batch by `fn(batch)`: {name: array}, or a DataFrame, with any columns and the same number of samples. `fn` gets the batches
        that the train function takes, so batch_size is ignored, as is zero_copy_batch. Other arguments as of map().

        batch_format: type of the argument: "numpy" (default), {name: array}, or "pandas", a DataFrame.
        random: True calls fn(batch, rng, ...) with the generator of the batch's first sample; the result then depends on the batches."""
        del batch_size, zero_copy_batch
        check_ignored("map_batches", resources, OF_CLUSTERS | {"udf_modifying_row_count"})
        call = Call("map_batches", fn, fn_args, fn_kwargs, fn_constructor_args, fn_constructor_kwargs)
        return self._and_then(MapBatches(call, batch_format, _workers_of("map_batches", concurrency), random))

    def add_column(self, col, fn, **resources):
        """Adds the column `col`, or replaces it, with the values that `fn(DataFrame)` returns: a Series, an array or a list."""
        check_ignored("add_column", resources)
        return self._and_then(AddColumn(col, Call("add_column", fn)))

    def select_columns(self, cols, **resources):
        """Keeps the columns `cols`, a name or a list of names, in this order. Taking a batch raises KeyError for an unknown name."""
        check_ignored("select_columns", resources)
        return self._and_then(Select(cols))

    def drop_columns(self, cols, **resources):
        """Removes the columns `cols`, a name or a list of names. Taking a batch raises KeyError for an unknown name."""
        check_ignored("drop_columns", resources)
        return self._and_then(Drop(cols))

    def rename_columns(self, names, **resources):
        """Renames columns by `names`, {old: new}. Taking a batch raises KeyError for an unknown name, ValueError if two get the same name."""
        check_ignored("rename_columns", resources)
        return self._and_then(Rename(names))

    def options(self, **keys):
        """Sets keys of [data.NAME] of the config by their names: options(cast="x: f32", normalize="image: 0.28 0.35", block=1024,
        memory="4 GiB"). Raises ValueError for keys that methods set; reading raises ValueError for unknown keys and invalid values."""
        others = sorted(_SET_BY_METHODS & set(keys))
        if others:
            raise ValueError(f"options({others[0]}=...): use the methods for it: read_...(), filter(), filter(expr=...), limit(), split(), random_shuffle(), "
                             f"explode(), window(), pack(), draw_by_weight(), and DataConfig(datasets_to_split=...)")
        return self._with(keys={**self._keys, **checked_keys(keys)})

    # ---- choice and order of samples ----

    def filter(self, fn=None, expr=None, *, fn_args=None, fn_kwargs=None, **resources):
        """Keeps the samples for which `fn(row, *fn_args, **fn_kwargs)` returns true, or those that meet the condition `expr`, such as
        "x > 0 and (city == 'Bern' or not sold)".

        fn: called once per sample, in this process, before the first sample is used; all samples must be readable.
        expr: str, evaluated by the ranks of a run without Python (key `where` of [data.NAME]). It compares numbers, texts, columns and
        elements of columns (x[3]) by == != < <= > >=, and combines comparisons and bool columns by `and`, `or`, `not` and parentheses.

        Raises TypeError unless exactly one of them is given, ValueError after draw_by_weight() and, with `fn`, after
        options(on_error="skip"). Reading raises ValueError for an invalid condition, and for one that no sample meets."""
        check_ignored("filter", resources)
        self._require_not_drawn("filter()")
        if (fn is None) == (expr is None):
            raise TypeError("filter() needs either a function or expr=CONDITION")
        if expr is not None:
            return self._keep_where(expr)
        if self._keys.get("on_error") == "skip":
            raise ValueError("filter() after options(on_error='skip') is not possible: it selects samples by number, and each sample that is left out "
                             "changes the numbers after it. Write the readable samples to files first (write_parquet(folder)), and filter those")
        call, before = Call("filter", fn, fn_args, fn_kwargs), self
        return self._with(rows=_Once(lambda: before._rows_where(keeps(call))))

    def _rows_where(self, kept):
        found, at = [], 0
        for batch in self._with(keys=_without_shuffle(self._keys))._local_batches(_BATCH):
            is_kept = kept(batch)
            found.append(at + numpy.flatnonzero(is_kept))
            at += len(is_kept)
        rows = self._row_numbers()
        numbers = numpy.concatenate(found) if found else numpy.empty(0, "i8")
        return numbers if rows is None else numpy.asarray(rows)[numbers]

    def random_shuffle(self, *, seed=None, **resources):
        """Uses the samples in a new random order in each epoch. The order depends on run.seed, the dataset's name, the epoch, and `seed` (int,
        default 0)."""
        check_ignored("random_shuffle", resources)
        return self._with(keys={**self._keys, "shuffle": "true", **({"shuffle_seed": str(int(seed))} if seed else {})})

    randomize_block_order = random_shuffle

    def repartition(self, num_blocks=None, **others):
        """Returns this dataset: its samples are not stored in blocks."""
        del num_blocks, others
        return self

    def limit(self, limit):
        """Keeps the first `limit` samples; of a shuffled dataset, random ones, the same at each call. Raises TypeError if `limit` is not an
        integer, ValueError if it is negative."""
        return self._part(0, whole_number("limit()", limit, 0))

    def _part(self, first, end):
        return self._with(rows=self._rows_in_order()[first:end])

    def _rows_in_order(self):
        """Returns the row numbers in the order by which parts are chosen: random, but always the same, if the dataset is shuffled."""
        self._require_not_drawn("a choice of samples")
        rows = self._row_numbers()
        rows = range(self._all()) if rows is None else rows
        return _shuffled(rows, int(self._keys.get("shuffle_seed", 0))) if "shuffle" in self._keys else rows

    def split_at_indices(self, indices):
        """Returns len(indices) + 1 datasets: the samples before the first index, those from it to the second, and so on. Raises ValueError if the
        indices are not ascending."""
        ends = [0, *indices, None]
        if any(a > b for a, b in zip(ends, ends[1:-1])):
            raise ValueError(f"split_at_indices({list(indices)}): the indices must be ascending")
        return [self._part(first, end) for first, end in zip(ends, ends[1:])]

    def split(self, n, *, equal=False, locality_hints=None):
        """Returns `n` datasets of consecutive samples, whose sizes differ by at most one; equal=True leaves out samples to make them equal.
        Raises ValueError if `n` is below 1."""
        del locality_hints
        if n < 1:
            raise ValueError(f"split({n}): it must be 1 or more")
        count = self.count()
        each, more = divmod(count, n)
        ends = list(itertools.accumulate(each + (number < more and not equal) for number in range(n)))
        return [self._part(first, end) for first, end in zip([0, *ends], ends)]

    def split_proportionately(self, proportions):
        """Returns datasets with these fractions of the samples, and one with the rest. Raises ValueError unless the fractions are above 0 and
        their sum is below 1."""
        if not proportions or any(each <= 0 for each in proportions) or sum(proportions) >= 1:
            raise ValueError(f"split_proportionately({list(proportions)}): each must be above 0, and their sum below 1")
        count = self.count()
        return self.split_at_indices([int(count * sum(proportions[:number + 1])) for number in range(len(proportions))])

    def train_test_split(self, test_size, *, shuffle=False, seed=None, stratify=None):
        """Returns two datasets, (train, test).

        test_size: fraction (float) or number (int) of the test samples.
        shuffle: True chooses them at random by `seed` (int, default 0); otherwise the last samples are the test.

        Raises ValueError if a part would be empty, and for `stratify`, which is not supported."""
        if stratify is not None:
            raise ValueError("train_test_split(stratify=...) is not supported: choose the samples by filter()")
        count = self.count()
        size = int(count * test_size) if isinstance(test_size, float) else test_size
        if not 0 < size < count:
            raise ValueError(f"train_test_split({test_size}): {count} samples give a test of {size}; both parts need one at least")
        chosen = self
        if shuffle:
            chosen = self._with(rows=_shuffled(self._rows_in_order(), 0 if seed is None else seed), keys=_without_shuffle(self._keys))
        return tuple(self._with(rows=part._rows) for part in chosen.split_at_indices([count - size]))

    def _row_numbers(self):
        return _numbers_of(self._rows)

    def _all(self):
        return self._local().count()

    # ---- read samples, in this process alone: outside of a run, and in a train function ----

    def count(self):
        """Returns the number of samples."""
        rows = self._row_numbers()
        return self._all() if rows is None else len(rows)

    def schema(self):
        """Returns the Schema of the first sample; of an empty dataset, that of the samples it would have, or None if it is unknown."""
        first = next(iter(self._local_batches(1)), None)
        if first is None:
            first = self._empty_batch()
        return Schema(first) if first else None

    def columns(self):
        """Returns the names of the columns, or None if they are unknown, as for from_items([])."""
        schema = self.schema()
        return None if schema is None else schema.names

    def take(self, limit=20):
        """Returns the first `limit` samples as a list of dicts."""
        return list(itertools.islice(self.iter_rows(), whole_number("take()", limit, 0)))

    def take_all(self, limit=None):
        """Returns all samples as a list of dicts. Raises ValueError if there are more than `limit`."""
        rows = self.take((limit or self.count()) + 1)
        if limit is not None and len(rows) > limit:
            raise ValueError(f"take_all(limit={limit}): the dataset has {self.count()} samples")
        return rows

    def take_batch(self, batch_size=20, *, batch_format="default"):
        """Returns the first batch, as of iter_batches(). Raises ValueError if there is no sample."""
        for batch in self.iter_batches(batch_size=batch_size, batch_format=batch_format):
            return batch
        raise ValueError("take_batch(): the dataset is empty")

    def show(self, limit=20):
        """Prints the first `limit` samples."""
        for row in self.take(limit):
            print(row)

    def iterator(self):
        """Returns a DataIterator over all samples."""
        return self._local()

    def iter_rows(self):
        """Returns an iterable over the samples as dicts."""
        return self._local().iter_rows()

    def iter_batches(self, **arguments):
        """Returns an iterable over batches, {name: array}; arguments as of DataIterator.iter_batches()."""
        return self._local().iter_batches(**arguments)

    def iter_torch_batches(self, **arguments):
        """Returns an iterable over batches, {name: tensor}; arguments as of DataIterator.iter_torch_batches()."""
        return self._local().iter_torch_batches(**arguments)

    def to_pandas(self, limit=None):
        """Returns the samples as a DataFrame. Raises ValueError if there are more than `limit`."""
        import pandas
        rows = self.take_all(limit)
        return pandas.DataFrame(rows, columns=None if rows else self.columns())

    def materialize(self):
        """Reads all samples, applies the operations once, and returns a MaterializedDataset of the results in memory."""
        batches = [{name: column.copy() for name, column in batch.items()} for batch in self._local_batches(_BATCH)]
        return MaterializedDataset(MemorySource(concatenated(batches) if batches else self._empty_batch()))

    # ---- write files, in this process ----

    def write_parquet(self, path, *, mode="append", max_rows_per_file=None, **others):
        """Writes the samples after all operations as Parquet files into the folder `path`, which is created if necessary. Needs pyarrow
        (ImportError without it). Arrays of several axes become fixed-size lists.

        mode: "append" (default) adds files, "overwrite" replaces the files of this kind, "error" raises FileExistsError if the folder has
        files, "ignore" writes nothing then.
        max_rows_per_file: int; default: one file.
        others: arguments of pyarrow.parquet.ParquetWriter, such as compression="zstd"."""
        ours = {key: others.pop(key) for key in list(others) if key in (*_write.IGNORED, "filesystem", "filename_provider")}
        _write.write_parquet(self, path, mode, max_rows_per_file, others, ours)

    def write_csv(self, path, *, mode="append", max_rows_per_file=None, delimiter=",", **others):
        """Writes the samples as CSV files with a header; arguments as of write_parquet(). NaN becomes an empty value; other numbers have the same
        bits when they are read again. Raises ValueError for columns of arrays."""
        _write.write_csv(self, path, mode, max_rows_per_file, {"delimiter": delimiter}, others)

    def write_numpy(self, path, *, column, mode="append", max_rows_per_file=None, **others):
        """Writes one column as .npy files; arguments as of write_parquet(). Raises ValueError for an unknown column and for samples of different
        lengths."""
        _write.write_numpy(self, path, column, mode, max_rows_per_file, others)

    def stats(self):
        """Returns repr() of the dataset."""
        return repr(self)

    def _local(self):
        columns = self._empty_columns()
        return DataIterator.local(self) if columns is None else DataIterator.without_samples(self, columns)

    def is_empty(self):
        """Returns whether the dataset is known to have no samples, without reading files."""
        rows = (self._row_numbers(), _numbers_of(self._reshape.rows))
        return self._source.empty_columns() is not None or any(each is not None and not len(each) for each in rows)

    def _empty_columns(self):
        """Returns the columns before the operations, {name: array}, if there are no samples; else None."""
        if not self.is_empty():
            return None
        columns = self._source.empty_columns()
        if columns is not None:
            return columns
        return self._with(rows=None, operations=(), reshape=Reshape(self._reshape.keys))._local()._empty_batch()

    def _empty_batch(self):
        """Returns the columns of an empty dataset after the operations. They are applied to the first sample that was not chosen, if there is
        one, since users' functions seldom expect empty batches."""
        if self._source.empty_columns() is None:
            for batch in self._with(rows=None, reshape=Reshape(self._reshape.keys))._local_batches(1):
                return {name: column[:0] for name, column in batch.items()}
        return self._local()._empty_batch()

    def _local_batches(self, batch_size):
        return self._local().iter_batches(batch_size=batch_size)

    def __repr__(self):
        rows = "" if self._rows is None else ", of rows" if callable(self._rows) else f", {len(self._rows)} rows"
        made = "".join(f", {name}" for name in self._reshape.keys)
        return f"Dataset({self._source}{made}{rows}{f', {len(self._operations)} operations' if self._operations else ''})"

    # ---- keys for a run ----

    def _config(self, folder):
        """The keys of [data.NAME]. Values in memory are written into `folder`, which all nodes must see."""
        keys = {**self._source.keys(folder), **self._keys, **self._reshape.keys}
        chosen = {"subset": _numbers_of(self._reshape.rows), "subset_after": self._row_numbers()} if self._reshape.keys else {"subset": self._row_numbers()}
        for key, rows in chosen.items():
            if rows is None:
                continue
            if not len(rows):
                raise ValueError(f"{self!r} has no samples")
            text = text_of_rows(rows)
            keys[key] = text if len(text) <= 200 else "@" + _files.put_text(folder, text.encode(), "rows")
        return keys

    def _open_at(self, server, with_more=dict):
        """Opens the dataset in the server and returns its name there. `with_more(keys)` returns the keys of [data.NAME] to open it with."""
        return server.open(with_more(self._config(local_folder())), 0, self._source.reading)

    def __getstate__(self):
        """Evaluates filter() here, in the script's process."""
        reshape = Reshape(self._reshape.keys, _numbers_of(self._reshape.rows))
        return {**self.__dict__, "_rows": self._row_numbers(), "_reshape": reshape}


def _numbers_of(rows):
    return rows() if callable(rows) else rows


def _without_shuffle(keys):
    return {key: text for key, text in keys.items() if key not in ("shuffle", "shuffle_seed")}


def _shuffled(rows, seed):
    """Returns the rows in the order of Python's random.shuffle(), which is the same in all versions."""
    if len(rows) > _MAX_SHUFFLED:
        raise ValueError(f"parts of {len(rows)} samples in random order need a list of all samples; the maximum is {_MAX_SHUFFLED}: take the parts "
                         f"first, and then random_shuffle() them")
    rows = list(rows)
    random.Random(seed).shuffle(rows)
    return numpy.asarray(rows)


class MaterializedDataset(Dataset):
    """A Dataset in memory, as materialize() and from_*() return it."""


class _Once:
    """Calls a function once, when its result is first needed."""

    def __init__(self, function):
        self._function = function
        self._result = None

    def __call__(self):
        if self._result is None:
            self._result = self._function()
        return self._result


def text_of_rows(rows):
    """Returns the row numbers as the key `subset` has them: consecutive ones as FIRST:END."""
    if isinstance(rows, range):
        return f"{rows.start}:{rows.stop}"
    rows = numpy.asarray(rows)
    firsts = numpy.flatnonzero(numpy.diff(rows, prepend=rows[0] - 2) != 1)
    ends = [*firsts[1:], len(rows)]
    return "\n".join(f"{rows[first]}:{rows[first] + end - first}" if end - first > 1 else str(rows[first]) for first, end in zip(firsts, ends))


def _workers_of(method, concurrency):
    """Returns the number of processes for Ray's forms of `concurrency`: a number, (minimum, maximum), or (minimum, maximum, initial)."""
    workers = concurrency[1] if isinstance(concurrency, (tuple, list)) and len(concurrency) in (2, 3) else concurrency
    if workers is None:
        return 0
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise ValueError(f"{method}(concurrency={concurrency!r}): it must be a number of processes, 1 or more")
    return workers
