"""Methods of Dataset that sort, combine, group or aggregate samples. This process computes them, with all samples in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ._operations import formatted
from ._parts import DatasetParts
from ._sources import MadeSource
from ._values._arguments import names_of
from ._values._columns import columns_of, concatenated
from ._values._numpy import numpy
from .aggregate import AggregateFn, Count, Max, Mean, Min, Std, Sum, Unique, aggregated

if TYPE_CHECKING:
    from ._dataset import Dataset


class CombineMethods(DatasetParts):
    """Base class of Dataset with methods that need all samples at once. Results that are datasets are computed when their samples are first needed."""

    def _columns_at_once(self) -> dict[str, Any]:
        raise NotImplementedError  # ReadMethods overrides it

    def _of_all(self, method: str, make: Callable[[dict[str, Any]], dict[str, Any]]) -> Dataset:
        """Returns a Dataset of the columns that make(all columns of this dataset) returns."""
        self._require_not_drawn(method)
        before: Any = self._unshuffled()
        return self._of_source(MadeSource(lambda: make(before._columns_at_once()), f"{method} of {before!r}"))

    def sort(self, key: str | Sequence[str], descending: bool | Sequence[bool] = False, boundaries: Any = None) -> Dataset:
        """Sorts the samples by the column `key`, or by several. `descending` is one bool for all columns or one for each; missing values come last.
        `boundaries` is ignored. Reading the samples raises ValueError for an unknown column."""
        del boundaries
        keys = names_of(key)
        orders = list(descending) if isinstance(descending, (list, tuple)) else [bool(descending)] * len(keys)
        if not keys or len(orders) != len(keys):
            raise ValueError(f"sort(key={key!r}, descending={descending!r}): it takes one or more columns, and as many values of descending")
        return self._of_all("sort()", lambda columns: _sorted(columns, keys, orders))

    def union(self, *other: Dataset) -> Dataset:
        """Returns the samples of this dataset and of all others, one dataset after another. Reading the samples raises ValueError for different columns."""
        others: list[Any] = [each._unshuffled() for each in other]
        return self._of_all("union()", lambda columns: _joined([columns, *(each._columns_at_once() for each in others)]))

    def zip(self, *other: Dataset) -> Dataset:
        """Adds the columns of other datasets, which must have the same number of samples as this one. A column whose name exists already gets the suffix
        "_1", "_2" and so on. Reading the samples raises ValueError for different numbers of samples."""
        others: list[Any] = [each._unshuffled() for each in other]
        return self._of_all("zip()", lambda columns: _side_by_side([columns, *(each._columns_at_once() for each in others)]))

    def random_sample(self, fraction: float, *, seed: int | None = None) -> Dataset:
        """Keeps each sample with the probability `fraction`, the same samples for the same `seed` (default 0). Raises ValueError unless 0 <= fraction <= 1."""
        if not 0 <= fraction <= 1:
            raise ValueError(f"Fraction must be between 0 and 1. random_sample(fraction={fraction!r})")

        def chosen(columns: dict[str, Any]) -> dict[str, Any]:
            kept = numpy.random.default_rng(seed or 0).random(_count(columns)) < fraction
            return {name: column[kept] for name, column in columns.items()}

        return self._of_all("random_sample()", chosen)

    def groupby(self, key: str | Sequence[str] | None, num_partitions: int | None = None) -> GroupedData:
        """Groups the samples by the values of the column `key`, or of several. `num_partitions` is ignored."""
        del num_partitions
        return GroupedData(self, [] if key is None else names_of(key))

    def aggregate(self, *aggs: AggregateFn) -> dict[str, Any]:
        """Returns the results of aggregations of trainrt.data.aggregate: {"mean(x)": 0.5}."""
        return aggregated(aggs, self._columns_at_once())

    def unique(self, column: str, ignore_nulls: bool = False) -> list[Any]:
        """Returns the different values of a column, in the order of their first samples. Missing values are one `None`, or left out."""
        columns = self._columns_at_once()
        found = Unique(column).of(columns) or []
        has_missing = not ignore_nulls and Count(column, True).of(columns) < _count(columns)
        return [*found, None] if has_missing else found

    def sum(self, on: str | Sequence[str] | None = None, ignore_nulls: bool = True) -> Any:
        """Returns the sum of a column; for several columns or `None` (all), a dict {"sum(x)": 3}. The sum of a column without values is `None`."""
        return self._aggregated(Sum, on, ignore_nulls)

    def min(self, on: str | Sequence[str] | None = None, ignore_nulls: bool = True) -> Any:
        """Returns the minimum of a column. Arguments and result have the form of sum()."""
        return self._aggregated(Min, on, ignore_nulls)

    def max(self, on: str | Sequence[str] | None = None, ignore_nulls: bool = True) -> Any:
        """Returns the maximum of a column. Arguments and result have the form of sum()."""
        return self._aggregated(Max, on, ignore_nulls)

    def mean(self, on: str | Sequence[str] | None = None, ignore_nulls: bool = True) -> Any:
        """Returns the mean of a column. Arguments and result have the form of sum()."""
        return self._aggregated(Mean, on, ignore_nulls)

    def std(self, on: str | Sequence[str] | None = None, ddof: int = 1, ignore_nulls: bool = True) -> Any:
        """Returns the standard deviation of a column, with the divisor n - `ddof`. Arguments and result have the form of sum()."""
        return self._aggregated(lambda name, ignore_nulls: Std(name, ddof, ignore_nulls), on, ignore_nulls)

    def _aggregated(self, kind: Any, on: str | Sequence[str] | None, ignore_nulls: bool) -> Any:
        columns = self._columns_at_once()
        found = aggregated([kind(name, ignore_nulls=ignore_nulls) for name in (list(columns) if on is None else names_of(on))], columns)
        return next(iter(found.values())) if isinstance(on, str) else found


class GroupedData:
    """Samples in groups, as Dataset.groupby() returns. The results are datasets with one sample per group, sorted by the key.

    Examples
    --------
    >>> import trainrt
    >>> trainrt.data.from_items([{"a": 1, "x": 2}, {"a": 0, "x": 3}, {"a": 1, "x": 5}]).groupby("a").sum("x").take_all()
    [{'a': 0, 'sum(x)': 3}, {'a': 1, 'sum(x)': 7}]
    """

    def __init__(self, dataset: CombineMethods, keys: list[str]) -> None:
        self._dataset, self._keys = dataset, keys

    def aggregate(self, *aggs: AggregateFn) -> Dataset:
        """Applies aggregations of trainrt.data.aggregate to each group. Returns a Dataset of the results, with one sample per group."""
        def results(columns: dict[str, Any]) -> dict[str, Any]:
            rows = [{**{name: group[name][0] for name in self._keys}, **aggregated(aggs, group)} for group in _groups(columns, self._keys)]
            return columns_of({name: [row[name] for row in rows] for name in rows[0]}, "groupby()") if rows else {}

        return self._dataset._of_all("groupby()", results)

    def map_groups(self, fn: Callable[..., Any], *, batch_format: str | None = "default", fn_args: Sequence[Any] | None = None,
                   fn_kwargs: dict[str, Any] | None = None, **resources: Any) -> Dataset:
        """Replaces each group by `fn(group)`: {name: array} or a DataFrame, with any number of samples. `batch_format` "pandas" passes DataFrames."""
        del resources
        kind = "pandas" if batch_format == "pandas" else "numpy"

        def results(columns: dict[str, Any]) -> dict[str, Any]:
            return _joined([columns_of(fn(formatted(group, kind), *(fn_args or ()), **(fn_kwargs or {})), "map_groups()")
                            for group in _groups(columns, self._keys)])

        return self._dataset._of_all("map_groups()", results)

    def count(self) -> Dataset:
        """Returns the number of samples of each group, in the column `count()`."""
        return self.aggregate(Count())

    def sum(self, on: str | Sequence[str], ignore_nulls: bool = True) -> Dataset:
        """Returns the sum of the columns `on` for each group, in the columns `sum(x)`."""
        return self.aggregate(*(Sum(name, ignore_nulls) for name in names_of(on)))

    def min(self, on: str | Sequence[str], ignore_nulls: bool = True) -> Dataset:
        """Returns the minimum for each group."""
        return self.aggregate(*(Min(name, ignore_nulls) for name in names_of(on)))

    def max(self, on: str | Sequence[str], ignore_nulls: bool = True) -> Dataset:
        """Returns the maximum for each group."""
        return self.aggregate(*(Max(name, ignore_nulls) for name in names_of(on)))

    def mean(self, on: str | Sequence[str], ignore_nulls: bool = True) -> Dataset:
        """Returns the mean for each group."""
        return self.aggregate(*(Mean(name, ignore_nulls) for name in names_of(on)))

    def std(self, on: str | Sequence[str], ddof: int = 1, ignore_nulls: bool = True) -> Dataset:
        """Returns the standard deviation for each group."""
        return self.aggregate(*(Std(name, ddof, ignore_nulls) for name in names_of(on)))


def _count(columns: dict[str, Any]) -> int:
    return len(next(iter(columns.values()), ()))


def _require(columns: dict[str, Any], names: Sequence[str]) -> None:
    for name in names:
        if name not in columns:
            raise ValueError(f"You specified the column '{name}', but there's no such column in the dataset. The dataset has columns: {list(columns)}")


def _order(columns: dict[str, Any], keys: Sequence[str], orders: Sequence[bool]) -> Any:
    """Returns the row numbers in sorted order. Rows with equal keys keep their order; missing values come last."""
    rows = list(range(_count(columns)))
    for name, is_descending in reversed(list(zip(keys, orders))):
        values = columns[name].tolist()
        missing = [row for row in rows if values[row] is None or values[row] != values[row]]
        others = sorted((row for row in rows if values[row] is not None and values[row] == values[row]), key=values.__getitem__, reverse=is_descending)
        rows = others + missing
    return numpy.asarray(rows, "i8")


def _sorted(columns: dict[str, Any], keys: Sequence[str], orders: Sequence[bool]) -> dict[str, Any]:
    _require(columns, keys)
    rows = _order(columns, keys, orders)
    return {name: column[rows] for name, column in columns.items()}


def _joined(parts: list[dict[str, Any]]) -> dict[str, Any]:
    filled = [part for part in parts if _count(part)]
    for part in filled[1:]:
        if part.keys() != filled[0].keys():
            raise ValueError(f"the datasets have different columns: {', '.join(filled[0])}; and {', '.join(part)}. Make them equal with select_columns() or "
                             f"rename_columns()")
    return concatenated(filled) if filled else (parts[0] if parts else {})


def _side_by_side(parts: list[dict[str, Any]]) -> dict[str, Any]:
    counts = [_count(part) for part in parts]
    if len(set(counts)) > 1:
        raise ValueError(f"Cannot zip datasets of different number of rows: {', '.join(map(str, counts))}. Make the numbers equal, for example with limit()")
    found: dict[str, Any] = {}
    for part in parts:
        for name, column in part.items():
            suffixes = (f"_{number}" for number in range(1, len(parts) + 1))
            found[name if name not in found else next(name + suffix for suffix in suffixes if name + suffix not in found)] = column
    return found


def _groups(columns: dict[str, Any], keys: Sequence[str]) -> list[dict[str, Any]]:
    """Returns the samples of each group, sorted by the keys."""
    _require(columns, keys)
    ordered = _sorted(columns, keys, [False] * len(keys))
    if not keys or not _count(ordered):
        return [ordered] if _count(ordered) else []
    values = list(zip(*(ordered[name].tolist() for name in keys)))
    firsts = [row for row in range(len(values)) if row == 0 or values[row] != values[row - 1]]
    return [{name: column[first:end] for name, column in ordered.items()} for first, end in zip(firsts, [*firsts[1:], len(values)])]
