"""Preprocessor, the base class of preprocessors, which are fitted to datasets and transform datasets and batches."""

from __future__ import annotations

import enum
import json
import warnings
from collections.abc import Sequence
from typing import Any

from ..._client.values import kind_of
from .._values._columns import columns_of
from .._values._numpy import numpy

VERSION = 1  # version of the JSON form of a preprocessor
KINDS: dict[str, Any] = {}  # {name: class} for from_dict()


class PreprocessorNotFittedException(RuntimeError):
    """Raised if a preprocessor that must be fitted is used before fit().

    Examples
    --------
    >>> from trainrt.data.preprocessors import PreprocessorNotFittedException, StandardScaler
    >>> try:
    ...     StandardScaler(columns=["x"]).transform_batch({"x": [1.0]})
    ... except PreprocessorNotFittedException:
    ...     print("not fitted")
    not fitted
    """


class UnknownPreprocessorError(ValueError):
    """Raised by from_dict() and deserialize() for a name that is no preprocessor. `preprocessor_type` is the name.

    Examples
    --------
    >>> from trainrt.data.preprocessors import Preprocessor, UnknownPreprocessorError
    >>> try:
    ...     Preprocessor.from_dict({"preprocessor": "Unknown", "version": 1, "parameters": {}})
    ... except UnknownPreprocessorError as error:
    ...     print(error.preprocessor_type)
    Unknown
    """

    def __init__(self, preprocessor_type: Any) -> None:
        super().__init__(f"Unknown preprocessor type: {preprocessor_type}; valid names: {', '.join(sorted(KINDS))}")
        self.preprocessor_type = preprocessor_type


class NoColumnError(KeyError, ValueError):
    """Raised if a batch lacks a column that a preprocessor transforms."""

    def __str__(self) -> str:
        return str(self.args[0])


class Preprocessor:
    """Base class of preprocessors, which transform columns.

    A user's subclass defines one of transform_columns(), _transform_numpy() and _transform_pandas(), and _fit() if the transformation needs
    statistics of a dataset. The methods with underscores are those of Ray's class: _transform_numpy() takes and returns {name: array},
    _transform_pandas() a DataFrame. Attributes whose names end with "_" are the results of _fit().

    Examples
    --------
    >>> from trainrt import data
    >>> from trainrt.data.preprocessors import Preprocessor
    >>> class Centred(Preprocessor):
    ...     def _fit(self, dataset):
    ...         self.mean_ = dataset.mean("x")
    ...     def _transform_numpy(self, columns):
    ...         return {"x": columns["x"] - self.mean_}
    >>> Centred().fit_transform(data.from_items([{"x": 1.0}, {"x": 3.0}])).take_all()
    [{'x': -1.0}, {'x': 1.0}]
    """

    class FitStatus(str, enum.Enum):
        """Whether a preprocessor needs a fit, and whether it was fitted."""

        NOT_FITTABLE = "NOT_FITTABLE"
        NOT_FITTED = "NOT_FITTED"
        PARTIALLY_FITTED = "PARTIALLY_FITTED"
        FITTED = "FITTED"

    _is_fittable = True  # False in subclasses that need no statistics
    _fitted = False

    def fit_status(self) -> Preprocessor.FitStatus:
        """Returns the FitStatus of this preprocessor."""
        if not self._is_fittable or not hasattr(self, "_fit"):
            return Preprocessor.FitStatus.NOT_FITTABLE
        has_results = any(name.endswith("_") and bool(value) for name, value in vars(self).items())
        return Preprocessor.FitStatus.FITTED if self._fitted or has_results else Preprocessor.FitStatus.NOT_FITTED

    def has_stats(self) -> bool:
        """Returns whether fit() has computed statistics, which `stats_` holds."""
        return bool(getattr(self, "stats_", None))

    def get_input_columns(self) -> list[str]:
        """Returns the names of the columns that are transformed."""
        return list(getattr(self, "columns", ()))

    def get_output_columns(self) -> list[str]:
        """Returns the names of the columns that hold the results."""
        return list(getattr(self, "output_columns", ()))

    def transform_columns(self, columns: dict[str, Any]) -> dict[str, Any]:
        """Return all columns after the transformation. `columns` is {name: array} of some samples. If transform_batch() calls, missing strings are
        `None`."""
        made = self._transformed_by_user(columns)
        return columns_of(made, f"the transformation of {type(self).__name__}", "returned", has_missing=True)

    def _transformed_by_user(self, data: Any) -> Any:
        """Return the result of the user's _transform_pandas() or _transform_numpy() of `data`, which is a dict, a DataFrame or an array."""
        if hasattr(self, "_transform_numpy") and (not _is_frame(data) or not hasattr(self, "_transform_pandas")):
            return self._transform_numpy(_arrays_of(data) if _is_frame(data) else data)
        if hasattr(self, "_transform_pandas"):
            return self._transform_pandas(_frame_of(data))
        raise NotImplementedError(f"{type(self).__name__} does not define transform_columns(), _transform_numpy() or _transform_pandas()")

    def fit(self, ds: Any) -> Any:
        """Compute the statistics of the dataset that the transformation needs, and return self. Calls _fit() if a user's subclass defines it. Warns if
        the preprocessor was fitted before."""
        status = self.fit_status()
        if status == Preprocessor.FitStatus.NOT_FITTABLE:
            return self
        if status != Preprocessor.FitStatus.NOT_FITTED:
            warnings.warn("`fit` has already been called on the preprocessor (or at least one contained preprocessors if this is a chain). All previously "
                          "fitted state will be overwritten!", stacklevel=2)
        getattr(self, "_fit")(ds)  # noqa: B009
        self._fitted = True
        return self

    def fit_transform(self, ds: Any, *, transform_num_cpus: float | None = None, transform_memory: float | None = None,
                      transform_batch_size: int | None = None, transform_concurrency: int | None = None) -> Any:
        """Fit to the dataset and return the transformed dataset. The other arguments are those of transform()."""
        return self.fit(ds).transform(ds, batch_size=transform_batch_size, num_cpus=transform_num_cpus, memory=transform_memory,
                                      concurrency=transform_concurrency)

    def transform(self, ds: Any, *, batch_size: int | None = None, num_cpus: float | None = None, memory: float | None = None,
                  concurrency: int | None = None) -> Any:
        """Return a Dataset that transforms its batches when they are read. `concurrency` is an argument of map_batches(); the other arguments have no
        effect. Raises PreprocessorNotFittedException before fit()."""
        del batch_size, num_cpus, memory
        if not hasattr(ds, "map_batches"):
            raise TypeError(f"{type(self).__name__}.transform() takes a dataset of trainrt.data, not {type(ds).__name__}; transform_batch() takes a "
                            f"batch")
        self._require_fitted("transform", ", or simply use fit_transform() to run both steps")
        return self._transform(ds, concurrency)

    def _transform(self, ds: Any, concurrency: int | None) -> Any:
        return ds.map_batches(self.transform_columns, batch_format="numpy", concurrency=concurrency)

    def transform_batch(self, data: Any) -> Any:
        """Return a transformed batch. `data` is {name: array} or a DataFrame; if a user's subclass defines _transform_pandas(), the result is a
        DataFrame. Raises PreprocessorNotFittedException before fit()."""
        self._require_fitted("transform_batch")
        if type(self).transform_columns is not Preprocessor.transform_columns:
            return self.transform_columns(columns_of(data, f"{type(self).__name__}.transform_batch()", "was given", has_missing=True))
        if not isinstance(data, (dict, numpy.ndarray)) and not _is_frame(data):
            raise ValueError(f"{type(self).__name__}.transform_batch() was given {kind_of(data)}; it must be a DataFrame, an array, or a dict of "
                             f"arrays")
        return self._transformed_by_user(data)

    def _require_fitted(self, method: str, rest: str = "") -> None:
        if self.fit_status() in (Preprocessor.FitStatus.NOT_FITTED, Preprocessor.FitStatus.PARTIALLY_FITTED):
            raise PreprocessorNotFittedException(f"`fit` must be called before `{method}`{rest}. {type(self).__name__} is not fitted")

    @staticmethod
    def from_dict(given: dict[str, Any]) -> Preprocessor:
        """Create a preprocessor from `given`, a result of to_dict() or of the C++ class in trainrt/preprocessor.hpp."""
        if not isinstance(given, dict) or not isinstance(given.get("parameters"), dict) or given.get("version") != VERSION:
            raise ValueError(f"Failed to deserialize preprocessor. Data preview: {str(given)[:50]}... It is not the JSON of a preprocessor: it must be an "
                             f"object with \"preprocessor\", \"version\": {VERSION} and \"parameters\"")
        name = given.get("preprocessor")
        if name not in KINDS:
            raise UnknownPreprocessorError(name)
        return KINDS[name]._from(given["parameters"], given.get("stats"))

    @staticmethod
    def from_json(text: str | bytes) -> Preprocessor:
        """Create a preprocessor from the result of to_json(). Raises ValueError for any other text. A pickle is never loaded."""
        try:
            given = json.loads(text)
        except (TypeError, ValueError) as error:
            raise ValueError(f"Failed to deserialize preprocessor. Data preview: {str(text)[:50]}... It is not JSON: {error}") from None
        return Preprocessor.from_dict(given)

    deserialize = from_json


def _is_frame(data: Any) -> bool:
    return hasattr(data, "to_dict") and hasattr(data, "columns")


def _arrays_of(frame: Any) -> Any:
    """Returns {name: array} of a DataFrame, or the array of its only column, as Ray does."""
    arrays = {name: frame[name].to_numpy() for name in frame.columns}
    return arrays if len(arrays) != 1 else next(iter(arrays.values()))


def _frame_of(data: Any) -> Any:
    """Returns a DataFrame for a dict of arrays, for an array (as the column `__value__`), or for a DataFrame (as a copy)."""
    import pandas
    if _is_frame(data):
        return data.copy()
    columns = data if isinstance(data, dict) else {"__value__": data}
    return pandas.DataFrame({name: column if numpy.ndim(column) == 1 else list(column) for name, column in columns.items()})


def taken(of: str, name: str, columns: dict[str, Any]) -> Any:
    """Return the column `name`. Raise NoColumnError if the column does not exist."""
    if name not in columns:
        raise NoColumnError(f"{of}: there is no column '{name}'; the columns are: {', '.join(columns)}")
    return numpy.asanyarray(columns[name])


def require_values(names: Sequence[str], columns: dict[str, Any]) -> None:
    """Raise ValueError if one of the columns `names` has a missing value."""
    without = [name for name in names if _has_missing(columns.get(name))]
    if without:
        raise ValueError(f"Unable to transform columns {without} because they contain null values. Consider imputing missing values first, with "
                         f"SimpleImputer")


def _has_missing(column: Any) -> bool:
    if column is None:
        return False
    if column.dtype == object:
        return any(each is None for each in column)
    return column.ndim == 1 and column.dtype.kind == "f" and bool(numpy.isnan(column).any())
