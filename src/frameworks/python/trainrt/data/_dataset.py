"""Dataset: which samples, in which order, and what is made of them. Nothing is read before somebody asks."""

import itertools
import random

from . import _files, _write
from ._columns import concatenated, rows_of
from ._iterator import DataIterator
from ._numpy import numpy
from ._operations import AddColumn, Call, Drop, Map, MapBatches, Rename, Select, keeps
from ._samples import MakesSamples, Made
from ._sources import MemorySource, checked_keys, local_folder
from ._whole_number import whole_number

_BATCH = 1024  # samples, where nobody says
_MOST_SHUFFLED = 1 << 25  # rows in a list, which takes a GB


class Schema:
    """Names and types of the columns."""

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


class Dataset(MakesSamples):
    """Each method that changes something returns a new Dataset. A Trainer gets it by datasets={"train": dataset}."""

    def __init__(self, source, rows=None, operations=(), keys=None, encoding="utf-8", made=None):
        self._source = source
        self._rows = rows  # None: all; else a sequence of their numbers, or a function that finds them
        self._made = made or Made()  # what makes other samples of the source's; the rows are numbers of those
        self._operations = tuple(operations)
        self._keys = dict(keys or {})
        self._encoding = encoding  # of texts

    def _with(self, **changes):
        return Dataset(**{"source": self._source, "rows": self._rows, "operations": self._operations, "keys": self._keys,
                          "encoding": self._encoding, "made": self._made, **changes})

    def _and_then(self, operation):
        return self._with(operations=(*self._operations, operation))

    # ---- what is made of the samples ----

    def map(self, fn, *, fn_args=None, fn_kwargs=None, fn_constructor_args=None, fn_constructor_kwargs=None, concurrency=None, random=False,
            **resources):
        """fn(row) -> row, each a dict.

        concurrency: so many processes, for each rank, call fn and all that else is made of the batches, ahead of the train function. None:
        the process that takes the batches does.

        random=True: fn(row, rng), with a numpy.random.Generator for this sample: it hangs on run.seed, the dataset's name, the epoch and the
        sample, so neither on the number of ranks and processes nor on restarts.
        """
        _check_resources("map", resources)
        call = Call("map", fn, fn_args, fn_kwargs, fn_constructor_args, fn_constructor_kwargs)
        return self._and_then(Map(call, _workers_of("map", concurrency), random))

    def map_batches(self, fn, *, batch_size="default", batch_format="default", fn_args=None, fn_kwargs=None, fn_constructor_args=None,
                    fn_constructor_kwargs=None, zero_copy_batch=True, concurrency=None, random=False, **resources):
        """fn(batch) -> batch, {name: array} or a DataFrame, with as many samples: of each batch as the train function takes it, so that
        batch_size changes nothing. concurrency: as of map(). random=True: fn(batch, rng), where rng is the one of the batch's first sample,
        so that it hangs on how the samples are cut into batches."""
        del batch_size, zero_copy_batch
        _check_resources("map_batches", resources)
        call = Call("map_batches", fn, fn_args, fn_kwargs, fn_constructor_args, fn_constructor_kwargs)
        return self._and_then(MapBatches(call, batch_format, _workers_of("map_batches", concurrency), random))

    def add_column(self, col, fn, **resources):
        """fn(DataFrame) -> the new column."""
        _check_resources("add_column", resources)
        return self._and_then(AddColumn(col, Call("add_column", fn)))

    def select_columns(self, cols, **resources):
        _check_resources("select_columns", resources)
        return self._and_then(Select([cols] if isinstance(cols, str) else list(cols)))

    def drop_columns(self, cols, **resources):
        _check_resources("drop_columns", resources)
        return self._and_then(Drop([cols] if isinstance(cols, str) else list(cols)))

    def rename_columns(self, names, **resources):
        _check_resources("rename_columns", resources)
        return self._and_then(Rename(dict(names)))

    def options(self, **keys):
        """Keys of [data.NAME] of the config, by their names there: options(cast="x: f32", normalize="image: 0.28 0.35", block=1024,
        memory="4 GiB")."""
        others = sorted({"source", "format", "subset", "subset_after", "shuffle", "shuffle_seed", "split", "explode", "sequence", "pack", "draw_by_weight"}
                        & set(keys))
        if others:
            raise ValueError(f"options({others[0]}=...): there are methods for it: read_...(), filter(), limit(), split(), random_shuffle(), explode(), "
                             f"window(), pack(), draw_by_weight(), and DataConfig(datasets_to_split=...)")
        return self._with(keys={**self._keys, **checked_keys(keys)})

    # ---- which samples, in which order ----

    def filter(self, fn, *, fn_args=None, fn_kwargs=None, **resources):
        """The samples for which fn(row) is true. All are looked at once, before the first of them is used, and all must be readable."""
        _check_resources("filter", resources)
        self._require_not_drawn("filter()")
        if self._keys.get("on_error") == "skip":
            raise ValueError("filter() after options(on_error='skip'): it chooses samples by their places, and those behind one that is left out "
                             "would be taken for others. Write what can be read to files first, write_parquet(folder), and filter those")
        call, before = Call("filter", fn, fn_args, fn_kwargs), self
        return self._with(rows=_Once(lambda: before._rows_where(keeps(call))))

    def _rows_where(self, kept):
        found, at = [], 0
        for batch in self._with(keys=_without_shuffle(self._keys))._local_batches(_BATCH):
            is_kept = kept(batch)
            found.append(at + numpy.flatnonzero(is_kept))
            at += len(is_kept)
        rows = self._row_numbers()
        places = numpy.concatenate(found) if found else numpy.empty(0, "i8")
        return places if rows is None else numpy.asarray(rows)[places]

    def random_shuffle(self, *, seed=None, **resources):
        """Another order in each epoch, over all samples: a function of run.seed, the dataset's name, the epoch, and `seed`."""
        _check_resources("random_shuffle", resources)
        return self._with(keys={**self._keys, "shuffle": "true", **({"shuffle_seed": str(int(seed))} if seed else {})})

    randomize_block_order = random_shuffle

    def repartition(self, num_blocks=None, **others):
        """The same: samples are not kept in blocks that somebody would have to move."""
        del num_blocks, others
        return self

    def limit(self, limit):
        """The first `limit` samples."""
        return self._part(0, whole_number("limit()", limit, 0))

    def _part(self, first, end):
        return self._with(rows=self._rows_in_order()[first:end])

    def _rows_in_order(self):
        """Of a shuffled dataset those that one order has: parts of it are chosen at random, and the same each time."""
        self._require_not_drawn("a choice of samples")
        rows = self._row_numbers()
        rows = range(self._all()) if rows is None else rows
        return _shuffled(rows, int(self._keys.get("shuffle_seed", 0))) if "shuffle" in self._keys else rows

    def split_at_indices(self, indices):
        """The samples before the first index, from there to the second, and so on."""
        places = [0, *indices, None]
        if any(a > b for a, b in zip(places, places[1:-1])):
            raise ValueError(f"split_at_indices({list(indices)}): they must grow")
        return [self._part(first, end) for first, end in zip(places, places[1:])]

    def split(self, n, *, equal=False, locality_hints=None):
        """n datasets of neighbours, whose sizes differ by one at most; equal=True: not at all, and what is left over is left out."""
        del locality_hints
        if n < 1:
            raise ValueError(f"split({n}): it must be 1 or more")
        count = self.count()
        each, more = divmod(count, n)
        ends = list(itertools.accumulate(each + (number < more and not equal) for number in range(n)))
        return [self._part(first, end) for first, end in zip([0, *ends], ends)]

    def split_proportionately(self, proportions):
        """Datasets with these fractions of the samples, and one with the rest."""
        if not proportions or any(each <= 0 for each in proportions) or sum(proportions) >= 1:
            raise ValueError(f"split_proportionately({list(proportions)}): they must be above 0, and less than 1 together")
        count = self.count()
        return self.split_at_indices([int(count * sum(proportions[:number + 1])) for number in range(len(proportions))])

    def train_test_split(self, test_size, *, shuffle=False, seed=None, stratify=None):
        """(train, test). test_size: a fraction, or a number of samples. shuffle=True chooses at random, by `seed`; else the last ones are
        the test."""
        if stratify is not None:
            raise ValueError("train_test_split(stratify=...) is not offered: choose the rows by filter()")
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

    # ---- looking at it: outside of a run, and in a train function ----

    def count(self):
        rows = self._row_numbers()
        return self._all() if rows is None else len(rows)

    def schema(self):
        """Of the first sample; of a dataset without samples, of what it would have. None if that is not known."""
        first = next(iter(self._local_batches(1)), None)
        if first is None:
            first = self._empty_batch()
        return Schema(first) if first else None

    def columns(self):
        """Their names; None if they are not known, as of from_items([])."""
        schema = self.schema()
        return None if schema is None else schema.names

    def take(self, limit=20):
        """The first samples, as dicts."""
        return list(itertools.islice(self.iter_rows(), whole_number("take()", limit, 0)))

    def take_all(self, limit=None):
        rows = self.take((limit or self.count()) + 1)
        if limit is not None and len(rows) > limit:
            raise ValueError(f"take_all(limit={limit}): there are more samples, {self.count()}")
        return rows

    def take_batch(self, batch_size=20, *, batch_format="default"):
        for batch in self.iter_batches(batch_size=batch_size, batch_format=batch_format):
            return batch
        raise ValueError("take_batch(): the dataset is empty")

    def show(self, limit=20):
        for row in self.take(limit):
            print(row)

    def iterator(self):
        """All samples, for this process alone."""
        return self._local()

    def iter_rows(self):
        return self._local().iter_rows()

    def iter_batches(self, **arguments):
        return self._local().iter_batches(**arguments)

    def iter_torch_batches(self, **arguments):
        return self._local().iter_torch_batches(**arguments)

    def to_pandas(self, limit=None):
        import pandas
        rows = self.take_all(limit)
        return pandas.DataFrame(rows, columns=None if rows else self.columns())

    def materialize(self):
        """The samples as they are now, in memory: what is done to them is done once."""
        batches = [{name: column.copy() for name, column in batch.items()} for batch in self._local_batches(_BATCH)]
        return MaterializedDataset(MemorySource(concatenated(batches) if batches else self._empty_batch()))

    # ---- as files: written by this process, with all that is made of the samples, each file of up to rows_per_file rows ----

    def write_parquet(self, path, *, mode="append", max_rows_per_file=None, **others):
        """Into the folder `path`, by pyarrow, which gets the arguments that ParquetWriter has (compression="zstd"). Arrays of a shape are
        lists of a fixed size. mode: "append" adds files, "overwrite" takes the place of others of their kind, "error" refuses a folder that
        holds files, "ignore" leaves it as it is."""
        ours = {key: others.pop(key) for key in list(others) if key in _write._CHANGE_NOTHING}
        _write.write_parquet(self, path, mode, max_rows_per_file, others, ours)

    def write_csv(self, path, *, mode="append", max_rows_per_file=None, delimiter=",", **others):
        """Into the folder `path`: tables with a header. A NaN is an empty value; what is read again has the same bits."""
        _write.write_csv(self, path, mode, max_rows_per_file, {"delimiter": delimiter}, others)

    def write_numpy(self, path, *, column, mode="append", max_rows_per_file=None, **others):
        """One column, into .npy files in the folder `path`."""
        _write.write_numpy(self, path, column, mode, max_rows_per_file, others)

    def stats(self):
        return repr(self)

    def _local(self):
        columns = self._empty_columns()
        return DataIterator.local(self) if columns is None else DataIterator.without_samples(self, columns)

    def is_empty(self):
        """Whether it is known to have no samples. Files count as having some until they are read."""
        rows = (self._row_numbers(), _numbers_of(self._made.rows))
        return self._source.empty_columns() is not None or any(each is not None and not len(each) for each in rows)

    def _empty_columns(self):
        """{name: array} before the operations, if there are no samples; else None."""
        if not self.is_empty():
            return None
        columns = self._source.empty_columns()
        if columns is not None:
            return columns
        return self._with(rows=None, operations=(), made=Made(self._made.keys))._local()._empty_batch()

    def _empty_batch(self):
        """The columns of a dataset without samples, with what the operations make of them: that of the first sample that was not chosen, if there
        is one, since functions are seldom made for no sample."""
        if self._source.empty_columns() is None:
            for batch in self._with(rows=None, made=Made(self._made.keys))._local_batches(1):
                return {name: column[:0] for name, column in batch.items()}
        return self._local()._empty_batch()

    def _local_batches(self, batch_size):
        return self._local().iter_batches(batch_size=batch_size)

    def __repr__(self):
        rows = "" if self._rows is None else ", of rows" if callable(self._rows) else f", {len(self._rows)} rows"
        made = "".join(f", {name}" for name in self._made.keys)
        return f"Dataset({self._source}{made}{rows}{f', {len(self._operations)} operations' if self._operations else ''})"

    # ---- what a run needs to know ----

    def _config(self, folder):
        """The keys of [data.NAME]. Values in memory are written into `folder`, which all nodes must see."""
        keys = {**self._source.keys(folder), **self._keys, **self._made.keys}
        chosen = {"subset": _numbers_of(self._made.rows), "subset_after": self._row_numbers()} if self._made.keys else {"subset": self._row_numbers()}
        for key, rows in chosen.items():
            if rows is None:
                continue
            if not len(rows):
                raise ValueError(f"{self!r} has no samples")
            text = text_of_rows(rows)
            keys[key] = text if len(text) <= 200 else "@" + _files.put_rows(folder, text)
        return keys

    def _open_at(self, server, with_more=dict):
        """Its name there. with_more(keys): those that it is opened with."""
        return server.open(with_more(self._config(local_folder())), 0, self._source.reading)

    def __getstate__(self):
        """What filter() chooses is chosen where the script runs."""
        made = Made(self._made.keys, _numbers_of(self._made.rows))
        return {**self.__dict__, "_rows": self._row_numbers(), "_made": made}


def _numbers_of(rows):
    return rows() if callable(rows) else rows


def _without_shuffle(keys):
    return {key: text for key, text in keys.items() if key not in ("shuffle", "shuffle_seed")}


def _shuffled(rows, seed):
    """Python's own, which stays the same from version to version."""
    if len(rows) > _MOST_SHUFFLED:
        raise ValueError(f"parts of {len(rows)} samples in a random order would take a list of all of them; {_MOST_SHUFFLED} is the most: take the "
                         f"parts first, and random_shuffle() them then")
    rows = list(rows)
    random.Random(seed).shuffle(rows)
    return numpy.asarray(rows)


class MaterializedDataset(Dataset):
    """What materialize() returns."""


class _Once:
    """Calls a function when its result is first needed."""

    def __init__(self, function):
        self._function = function
        self._result = None

    def __call__(self):
        if self._result is None:
            self._result = self._function()
        return self._result


def text_of_rows(rows):
    """As the key `subset` has it: neighbours as FIRST:END."""
    if isinstance(rows, range):
        return f"{rows.start}:{rows.stop}"
    rows = numpy.asarray(rows)
    firsts = numpy.flatnonzero(numpy.diff(rows, prepend=rows[0] - 2) != 1)
    ends = [*firsts[1:], len(rows)]
    return "\n".join(f"{rows[first]}:{rows[first] + end - first}" if end - first > 1 else str(rows[first]) for first, end in zip(firsts, ends))


def _workers_of(what, concurrency):
    """Ray's forms: a number, (least, most), or (least, most, at first)."""
    most = concurrency[1] if isinstance(concurrency, (tuple, list)) and len(concurrency) in (2, 3) else concurrency
    if most is None:
        return 0
    if isinstance(most, bool) or not isinstance(most, int) or most < 1:
        raise ValueError(f"{what}(concurrency={concurrency!r}): it must be a number of processes, 1 or more")
    return most


_OF_CLUSTERS = {"concurrency", "compute", "num_cpus", "num_gpus", "memory", "ray_remote_args", "ray_remote_args_fn", "override_num_blocks", "num_blocks",
                "udf_modifying_row_count", "expr"}


def _check_resources(what, given):
    """Those say how Ray's tasks are placed, and there are none."""
    unknown = sorted(set(given) - _OF_CLUSTERS)
    if unknown:
        raise TypeError(f"{what}() got an unexpected argument: {', '.join(unknown)}")
