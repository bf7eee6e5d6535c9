"""Methods of Dataset that choose and order samples."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Callable

from ._operations import Call, keeps
from ._reading import BATCH_OF_SCANS, ReadMethods
from ._samples import ReshapeMethods
from ._values._arguments import check_ignored, checked_integer
from ._values._numpy import numpy

if TYPE_CHECKING:
    from ._dataset import Dataset

_MAX_SHUFFLED = 1 << 25  # maximum number of rows that _shuffled() shuffles; this many need about 1 GB


class ChoiceMethods(ReshapeMethods, ReadMethods):
    """Base class of Dataset with the methods that choose and order samples."""

    def filter(self, fn: Callable[..., Any] | None = None, expr: str | None = None, *, fn_args: Sequence | None = None,
               fn_kwargs: Mapping[str, Any] | None = None, **resources: Any) -> Dataset:
        """Keeps the samples that meet a condition.

        Parameters
        ----------
        fn : function, optional
            Keeps a sample if `fn(row, *fn_args, **fn_kwargs)` returns true. This process calls `fn` once per sample before the first sample is
            used; all samples must be readable.
        expr : str, optional
            A condition such as "x > 0 and (city == 'Bern' or not sold)", which the ranks evaluate without Python (key `where` of [data.NAME]).
            A condition may compare numbers, strings, columns and elements of columns (x[3]) by == != < <= > >=, and combine comparisons and bool
            columns by `and`, `or`, `not` and parentheses.

        Raises
        ------
        TypeError
            Not exactly one of `fn` and `expr` is given.
        ValueError
            filter() was called after draw_by_weight(), or filter(fn) after options(on_error="skip"). Reading the dataset raises ValueError for an
            invalid condition and for a condition that no sample meets.
        """
        check_ignored("filter", resources)
        self._require_not_drawn("filter()")
        if expr is not None and fn is None:
            return self._keep_where(expr)
        if fn is None or expr is not None:
            raise TypeError("filter() needs either a function or expr=CONDITION")
        if self._keys.get("on_error") == "skip":
            raise ValueError("filter() after options(on_error='skip') is not possible: it selects samples by number, and each sample that is left "
                             "out changes the numbers after it. Write the readable samples to files first (write_parquet(folder)), and filter those")
        call = Call("filter", fn, fn_args, fn_kwargs)
        return self._with(rows=_Once(lambda: self._rows_where(keeps(call))))

    def _rows_where(self, kept: Callable[[Any], Any]) -> Any:
        found, at = [], 0
        for batch in self._unshuffled()._local_batches(BATCH_OF_SCANS):
            is_kept = kept(batch)
            found.append(at + numpy.flatnonzero(is_kept))
            at += len(is_kept)
        rows = self._row_numbers()
        numbers = numpy.concatenate(found) if found else numpy.empty(0, "i8")
        return numbers if rows is None else numpy.asarray(rows)[numbers]

    def random_shuffle(self, *, seed: int | None = None, **resources: Any) -> Dataset:
        """Shuffles the samples, in a new random order in each epoch. The order depends on run.seed, the dataset's name, the epoch and `seed`
        (int, default 0)."""
        check_ignored("random_shuffle", resources)
        return self._with(keys={**self._keys, "shuffle": "true", **({"shuffle_seed": str(int(seed))} if seed else {})})

    randomize_block_order = random_shuffle

    def repartition(self, num_blocks: int | None = None, **others: Any) -> Dataset:
        """Returns this dataset unchanged, since samples are not stored in blocks."""
        del num_blocks, others
        return self  # type: ignore[return-value]

    def limit(self, limit: int) -> Dataset:
        """Keeps the first `limit` samples. If the dataset is shuffled, keeps `limit` random samples, the same samples at each call. Raises TypeError
        if `limit` is not an integer, ValueError if `limit` is negative."""
        return self._part(0, checked_integer("limit()", limit, 0))

    def _part(self, first: int | None, end: int | None) -> Dataset:
        return self._with(rows=self._rows_in_order()[first:end])

    def _rows_in_order(self) -> Any:
        """Returns the row numbers in the order that limit() and split() use. For a shuffled dataset, this is a random order that is the same at each call."""
        self._require_not_drawn("a choice of samples")
        rows = self._row_numbers()
        rows = range(self._count_all()) if rows is None else rows
        return _shuffled(rows, int(self._keys.get("shuffle_seed", 0))) if "shuffle" in self._keys else rows

    def split_at_indices(self, indices: Sequence[int]) -> list[Dataset]:
        """Returns len(indices) + 1 datasets of consecutive samples. Dataset i ends before sample indices[i]; the last dataset has all remaining
        samples. Raises ValueError if the indices are not ascending."""
        if not len(indices):
            raise ValueError("indices must be at least of length 1. split_at_indices() takes the numbers of the first samples of parts")
        ends: list[Any] = [0, *indices, None]
        if any(a > b for a, b in zip(ends, ends[1:-1])):
            raise ValueError(f"indices must be sorted. split_at_indices({list(indices)}): they must be ascending, from 0 on")
        return [self._part(first, end) for first, end in zip(ends, ends[1:])]

    def split(self, n: int, *, equal: bool = False, locality_hints: Any = None) -> list[Dataset]:
        """Returns `n` datasets of consecutive samples. The sizes differ by at most one; equal=True leaves out samples to make the sizes equal.
        Raises ValueError if `n` is below 1."""
        del locality_hints
        if n < 1:
            raise ValueError(f"The number of splits {n} is not positive. split() takes 1 or more")
        each, more = divmod(self.count(), n)
        ends = list(itertools.accumulate(each + (number < more and not equal) for number in range(n)))
        return [self._part(first, end) for first, end in zip([0, *ends], ends)]

    def split_proportionately(self, proportions: Sequence[float]) -> list[Dataset]:
        """Returns one dataset per fraction in `proportions`, and a last dataset with the remaining samples. Raises ValueError unless all fractions
        are above 0 and the sum of the fractions is below 1."""
        if not proportions or any(each <= 0 for each in proportions) or sum(proportions) >= 1:
            first = ("proportions must be at least of length 1" if not proportions else "proportions must sum to less than 1" if sum(proportions) >= 1 else
                     "proportions must be bigger than 0")
            raise ValueError(f"{first}. split_proportionately({list(proportions)}): each must be above 0, and their sum below 1")
        count = self.count()
        return self.split_at_indices([int(count * sum(proportions[:number + 1])) for number in range(len(proportions))])

    def train_test_split(self, test_size: int | float, *, shuffle: bool = False, seed: int | None = None,
                         stratify: str | None = None) -> tuple[Dataset, Dataset]:
        """Returns two datasets, (train, test).

        Parameters
        ----------
        test_size : float or int
            Fraction (float) or number (int) of samples in the test dataset.
        shuffle : bool
            True chooses the test samples at random by `seed` (default 0); False uses the last samples.
        stratify
            Not supported: raises ValueError.

        Raises
        ------
        ValueError
            The train or the test dataset would be empty.
        """
        if stratify is not None:
            raise ValueError("train_test_split(stratify=...) is not supported: choose the samples by filter()")
        if isinstance(test_size, bool) or not isinstance(test_size, (int, float)):
            raise TypeError(f"`test_size` must be int or float got {type(test_size)}.")
        if isinstance(test_size, float) and not 0 < test_size < 1:
            raise ValueError(f"If `test_size` is a float, it must be bigger than 0 and smaller than 1. Got {test_size}.")
        count = self.count()
        size = int(count * test_size) if isinstance(test_size, float) else test_size
        if not 0 < size < count:
            first = (f"If `test_size` is an int, it must be bigger than 0 and smaller than the size of the dataset ({count}). Got {test_size}. "
                     if not isinstance(test_size, float) else "")
            raise ValueError(f"{first}train_test_split({test_size}): {size} of {count} samples would be in the test dataset; each dataset needs at least "
                             f"one sample")
        chosen = self._unshuffled()._with(rows=_shuffled(self._rows_in_order(), 0 if seed is None else seed)) if shuffle else self
        train, test = (self._with(rows=part._rows) for part in chosen.split_at_indices([count - size]))
        return train, test


def _shuffled(rows: Any, seed: int) -> Any:
    """Returns the rows in random order. Uses random.shuffle(), which gives the same order in all versions of Python."""
    if len(rows) > _MAX_SHUFFLED:
        raise ValueError(f"the dataset has {len(rows)} samples, but limit() and the split methods can shuffle at most {_MAX_SHUFFLED}: call them on the "
                         f"unshuffled dataset, and then call random_shuffle() on the result")
    rows = list(rows)
    random.Random(seed).shuffle(rows)
    return numpy.asarray(rows)


class _Once:
    """A callable that calls `function` at the first call only, and returns the stored result at later calls."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self._function = function
        self._result: Any = None

    def __call__(self) -> Any:
        if self._result is None:
            self._result = self._function()
        return self._result
