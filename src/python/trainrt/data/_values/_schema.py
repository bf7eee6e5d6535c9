"""Schema, the names and types of the columns of a dataset."""

from __future__ import annotations

from typing import Any

from ._numpy import numpy


class Schema:
    """Names and types of the columns of a batch.

    Attributes
    ----------
    names : list of str
    types : list of str
        Type of each column: a NumPy dtype and, for arrays, the shape of a sample ("float32[28, 28]"); "datetime64[ns]" or "timedelta64[ns]" for
        times of pandas; "string"; or "list" for arrays of different lengths.

    Examples
    --------
    >>> import trainrt
    >>> schema = trainrt.data.from_items([{"city": "Bern", "price": 1.5}]).schema()
    >>> schema.names, schema.types
    (['city', 'price'], ['string', 'float64'])
    """

    def __init__(self, batch: dict[str, Any]) -> None:
        self.names = list(batch)
        self.types = [self._type(column) for column in batch.values()]

    @staticmethod
    def _type(column: Any) -> str:
        if column.dtype == object:
            first = next((each for each in column if each is not None), None)
            for convert in ("to_datetime64", "to_timedelta64"):  # methods of pandas.Timestamp and pandas.Timedelta
                first = getattr(first, convert, lambda kept=first: kept)()
            if isinstance(first, (numpy.datetime64, numpy.timedelta64)):
                return str(first.dtype)
            return "string" if isinstance(first, str) else "list"
        return f"{column.dtype}{list(column.shape[1:]) if column.ndim > 1 else ''}"

    def __repr__(self) -> str:
        return "\n".join(f"{name}: {kind}" for name, kind in zip(self.names, self.types))
