"""Aggregations for Dataset.aggregate() and GroupedData.aggregate(). This process computes them from all values of a column."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ._values._numpy import numpy

__all__ = ["AbsMax", "AggregateFn", "Count", "Max", "Mean", "Min", "Quantile", "Std", "Sum", "Unique"]


def present(column: Any) -> Any:
    """Returns the values of a column that are not missing (`None`, NaN)."""
    if column.dtype == object:
        return column[numpy.fromiter((value is not None for value in column), bool, len(column))]
    return column[~numpy.isnan(column)] if column.dtype.kind == "f" else column


class AggregateFn:
    """Base class of aggregations of one column. `name` is the key of the result, such as "mean(x)". The result is `None` for a column without values. With
    `ignore_nulls=False`, it is also `None` for a column with a missing value.

    Examples
    --------
    >>> from trainrt import data
    >>> from trainrt.data.aggregate import AggregateFn
    >>> class Last(AggregateFn):
    ...     word = "last"
    ...     def _of_values(self, values):
    ...         return values[-1]
    >>> data.from_items([{"x": 3.0}, {"x": -4.0}]).aggregate(Last("x"))
    {'last(x)': -4.0}
    """

    word = ""

    def __init__(self, on: str | None = None, ignore_nulls: bool = True, alias_name: str | None = None) -> None:
        self.on, self.ignore_nulls = on, ignore_nulls
        self.name = alias_name or f"{self.word}({on})"

    def of(self, columns: dict[str, Any]) -> Any:
        """Returns the result for the samples `columns`, {name: array}. Raises ValueError if the column does not exist."""
        if self.on not in columns:
            raise ValueError(f"You specified the column '{self.on}', but there's no such column in the dataset. The dataset has columns: {list(columns)}")
        values = present(columns[self.on])
        if not len(values) or (not self.ignore_nulls and len(values) < len(columns[self.on])):
            return None
        return _plain(self._of_values(values))

    def _of_values(self, values: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} is a base class: use Count, Sum, Min, Max, Mean, Std, AbsMax, Quantile or Unique")


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, numpy.generic) else value


class Count(AggregateFn):
    """Number of samples, or of the values of the column `on` that are not missing. The key of the result is "count()" or "count(x)".

    Examples
    --------
    >>> from trainrt import data
    >>> from trainrt.data.aggregate import Count
    >>> data.from_items([{"x": 3.0}, {"x": -4.0}, {"x": 3.0}]).aggregate(Count())
    {'count()': 3}
    """

    word = "count"

    def __init__(self, on: str | None = None, ignore_nulls: bool = False, alias_name: str | None = None) -> None:
        super().__init__(on, ignore_nulls, alias_name or ("count()" if on is None else None))

    def of(self, columns: dict[str, Any]) -> Any:
        column = next(iter(columns.values()), ()) if self.on is None else columns[self.on]
        return len(present(column)) if self.on is not None and self.ignore_nulls else len(column)


class Sum(AggregateFn):
    """Sum.

    Examples
    --------
    >>> from trainrt import data
    >>> from trainrt.data.aggregate import Sum
    >>> data.from_items([{"x": 3.0}, {"x": -4.0}, {"x": 3.0}]).aggregate(Sum("x"))
    {'sum(x)': 2.0}
    """

    word = "sum"

    def _of_values(self, values: Any) -> Any:
        return math.fsum(values.tolist()) if values.dtype.kind == "f" else sum(values.tolist())


class Min(AggregateFn):
    """Minimum.

    Examples
    --------
    >>> from trainrt import data
    >>> from trainrt.data.aggregate import Min
    >>> data.from_items([{"x": 3.0}, {"x": -4.0}, {"x": 3.0}]).aggregate(Min("x"))
    {'min(x)': -4.0}
    """

    word = "min"

    def _of_values(self, values: Any) -> Any:
        return min(values.tolist())


class Max(AggregateFn):
    """Maximum.

    Examples
    --------
    >>> from trainrt import data
    >>> from trainrt.data.aggregate import Max
    >>> data.from_items([{"x": 3.0}, {"x": -4.0}, {"x": 3.0}]).aggregate(Max("x"))
    {'max(x)': 3.0}
    """

    word = "max"

    def _of_values(self, values: Any) -> Any:
        return max(values.tolist())


class Mean(AggregateFn):
    """Mean.

    Examples
    --------
    >>> from trainrt import data
    >>> from trainrt.data.aggregate import Mean
    >>> data.from_items([{"x": 3.0}, {"x": -4.0}, {"x": 3.0}]).aggregate(Mean("x"))
    {'mean(x)': 0.6666666666666666}
    """

    word = "mean"

    def _of_values(self, values: Any) -> Any:
        return math.fsum(values.tolist()) / len(values)


class Std(AggregateFn):
    """Standard deviation, with `ddof` degrees of freedom subtracted.

    Examples
    --------
    >>> from trainrt import data
    >>> from trainrt.data.aggregate import Std
    >>> data.from_items([{"x": 3.0}, {"x": -4.0}, {"x": 3.0}]).aggregate(Std("x"))["std(x)"] > 4
    True
    """

    word = "std"

    def __init__(self, on: str | None = None, ddof: int = 1, ignore_nulls: bool = True, alias_name: str | None = None) -> None:
        super().__init__(on, ignore_nulls, alias_name)
        self.ddof = ddof

    def _of_values(self, values: Any) -> Any:
        return float(numpy.std(values.astype("f8"), ddof=self.ddof)) if len(values) > self.ddof else math.nan


class AbsMax(AggregateFn):
    """Maximum of the absolute values.

    Examples
    --------
    >>> from trainrt import data
    >>> from trainrt.data.aggregate import AbsMax
    >>> data.from_items([{"x": 3.0}, {"x": -4.0}, {"x": 3.0}]).aggregate(AbsMax("x"))
    {'abs_max(x)': 4.0}
    """

    word = "abs_max"

    def _of_values(self, values: Any) -> Any:
        return max(map(abs, values.tolist()))


class Quantile(AggregateFn):
    """Quantile `q`, from 0 to 1, interpolated linearly.

    Examples
    --------
    >>> from trainrt import data
    >>> from trainrt.data.aggregate import Quantile
    >>> data.from_items([{"x": 3.0}, {"x": -4.0}, {"x": 3.0}]).aggregate(Quantile("x", q=0.5))
    {'quantile(x)': 3.0}
    """

    word = "quantile"

    def __init__(self, on: str | None = None, q: float = 0.5, ignore_nulls: bool = True, alias_name: str | None = None) -> None:
        super().__init__(on, ignore_nulls, alias_name)
        self.q = q

    def _of_values(self, values: Any) -> Any:
        return float(numpy.quantile(values.astype("f8"), self.q))


class Unique(AggregateFn):
    """List of the different values.

    Examples
    --------
    >>> from trainrt import data
    >>> from trainrt.data.aggregate import Unique
    >>> data.from_items([{"x": 3.0}, {"x": -4.0}, {"x": 3.0}]).aggregate(Unique("x"))
    {'unique(x)': [3.0, -4.0]}
    """

    word = "unique"

    def _of_values(self, values: Any) -> Any:
        return list(dict.fromkeys(values.tolist()))


def aggregated(aggregations: Sequence[AggregateFn], columns: dict[str, Any]) -> dict[str, Any]:
    """Returns the results of the aggregations, as {name: result}."""
    return {each.name: each.of(columns) for each in aggregations}
