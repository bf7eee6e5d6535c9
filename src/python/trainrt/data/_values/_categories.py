"""Columns of categories: the values of the samples, and a list of all categories."""

from __future__ import annotations

from typing import Any, NamedTuple

from ._numpy import numpy


class Categories(NamedTuple):
    """The possible values of a column, and whether their order has a meaning. `are_codes`: the column contains the positions of its values in this list,
    and -1 for a missing value, in place of the values."""
    values: list[Any]
    ordered: bool = False
    are_codes: bool = False


class Categorical(numpy.ndarray):
    """An array of one axis that knows its Categories. Missing values are `None` or NaN. Parts of the array have the same Categories."""

    known: Categories = Categories([])

    def __array_finalize__(self, source: Any) -> None:
        self.known = getattr(source, "known", Categories([]))

    @staticmethod
    def of(values: Any, known: Categories) -> Any:
        """Returns the array `values` as a column with the Categories `known`."""
        found = numpy.asarray(values).view(Categorical)
        found.known = known
        return found

    @staticmethod
    def of_series(series: Any) -> Any:
        """Returns the values of a pandas Series of the dtype `category`."""
        dtype = series.dtype
        return Categorical.of(_values_of(series), Categories(dtype.categories.tolist(), bool(dtype.ordered)))

    @staticmethod
    def joined(parts: list[Any]) -> Any:
        """Returns a new column with the values of all parts, in order. The categories are those of the first part, and further ones of later parts."""
        first = parts[0].known
        values = [*first.values, *(each for part in parts[1:] for each in getattr(part, "known", first).values)]
        return Categorical.of(numpy.concatenate([numpy.asarray(part) for part in parts]), first._replace(values=list(dict.fromkeys(values))))

    def to_pandas(self) -> Any:
        """Returns the column as a pandas.Categorical. Values that are no category become missing values."""
        import pandas
        if self.known.are_codes:
            return pandas.Categorical.from_codes(numpy.asarray(self), self.known.values, self.known.ordered)
        return pandas.Categorical(numpy.asarray(self), self.known.values, self.known.ordered)


def _values_of(series: Any) -> Any:
    codes = series.cat.codes.to_numpy()
    values = numpy.asarray(series.cat.categories.tolist())
    if values.dtype.kind not in "fi":
        values = values.astype(object)
    if (codes < 0).any():
        values = numpy.append(values, numpy.array([None if values.dtype == object else numpy.nan]))
    return values[codes] if len(values) else numpy.empty(len(codes), object)


def categories_in(columns: dict[str, Any]) -> dict[str, Categories]:
    """Returns {name: Categories} of the columns, {name: array}, that have them."""
    return {name: column.known for name, column in columns.items() if isinstance(column, Categorical)}


def with_categories(batch: dict[str, Any], categories: dict[str, Categories]) -> dict[str, Any]:
    """Returns the batch, {name: array}, with the known Categories of its columns."""
    return {name: Categorical.of(column, categories[name]) if name in categories else column for name, column in batch.items()}


def plain(batch: dict[str, Any]) -> dict[str, Any]:
    """Returns the batch with each Categorical column as an ordinary array."""
    return {name: column.view(numpy.ndarray) if isinstance(column, Categorical) else column for name, column in batch.items()}
