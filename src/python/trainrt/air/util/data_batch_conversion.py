"""Conversions between the types of a batch: DataFrame, array, dict of arrays and pyarrow.Table."""

from __future__ import annotations

import enum
import warnings
from typing import Any

from ...data._values._numpy import numpy

TENSOR_COLUMN_NAME = "__value__"  # column of a batch that is a single array


class BatchFormat(str, enum.Enum):
    """Type of a batch."""

    PANDAS = "pandas"
    ARROW = "arrow"
    NUMPY = "numpy"


class BlockFormat(str, enum.Enum):
    """Type of a block of Ray Data."""

    PANDAS = "pandas"
    ARROW = "arrow"
    SIMPLE = "simple"


def _is_table(data: Any) -> bool:
    return hasattr(data, "column_names") and hasattr(data, "to_pandas")


def _require_arrays(data: dict[str, Any]) -> None:
    for name, column in data.items():
        if not isinstance(column, numpy.ndarray):
            raise ValueError(f"All values in the provided dict must be of type np.ndarray. Found type {type(column)} for key {name} instead.")


def _column_of(array: Any) -> Any:
    return array if array.ndim == 1 else list(array)


def _convert_batch_type_to_pandas(data: Any, cast_tensor_columns: bool = False) -> Any:
    """Returns `data` as a DataFrame. An array becomes the column `__value__`. Raises ValueError for another type."""
    import pandas
    del cast_tensor_columns  # columns of arrays are always columns of objects
    if isinstance(data, numpy.ndarray):
        return pandas.DataFrame({TENSOR_COLUMN_NAME: _column_of(data)})
    if isinstance(data, dict):
        _require_arrays(data)
        return pandas.DataFrame({name: _column_of(column) for name, column in data.items()})
    if _is_table(data):
        return data.to_pandas()
    if not isinstance(data, pandas.DataFrame):
        raise ValueError(f"Received data of type: {type(data)}, but expected it to be one of: DataFrame, np.ndarray, dict of np.ndarray, pyarrow.Table")
    return data


def _convert_pandas_to_batch_type(data: Any, type: BatchFormat, cast_tensor_columns: bool = False) -> Any:
    """Returns a DataFrame as a batch of this BatchFormat. A DataFrame of one column becomes a single array. Raises ValueError for another format."""
    del cast_tensor_columns
    if type == BatchFormat.PANDAS:
        return data
    if type == BatchFormat.NUMPY:
        arrays = {name: data[name].to_numpy() for name in data}
        return next(iter(arrays.values())) if len(arrays) == 1 else arrays
    if type == BatchFormat.ARROW:
        import pyarrow
        return pyarrow.Table.from_pandas(data)
    raise ValueError(f"Received type {type}, but expected it to be one of: {', '.join(each.value for each in BatchFormat)}")


def _convert_batch_type_to_numpy(data: Any) -> Any:
    """Returns `data` as an array or a dict of arrays. Raises ValueError for another type."""
    if isinstance(data, dict):
        _require_arrays(data)
    if isinstance(data, (dict, numpy.ndarray)):
        return data
    if _is_table(data):
        arrays = {name: numpy.asarray(column.to_pylist()) for name, column in zip(data.column_names, data.columns)}
        return arrays[TENSOR_COLUMN_NAME] if list(arrays) == [TENSOR_COLUMN_NAME] else arrays
    return _convert_pandas_to_batch_type(_convert_batch_type_to_pandas(data), BatchFormat.NUMPY)


def convert_batch_type_to_pandas(data: Any, cast_tensor_columns: bool = False) -> Any:
    """Returns `data` as a DataFrame, with a DeprecationWarning.

    Examples
    --------
    >>> import numpy
    >>> from trainrt.air.util.data_batch_conversion import convert_batch_type_to_pandas
    >>> convert_batch_type_to_pandas({"x": numpy.arange(2)})["x"].tolist()
    [0, 1]
    """
    warnings.warn("`convert_batch_type_to_pandas` is deprecated as a developer API", DeprecationWarning, stacklevel=2)
    return _convert_batch_type_to_pandas(data, cast_tensor_columns)


def convert_pandas_to_batch_type(data: Any, type: BatchFormat, cast_tensor_columns: bool = False) -> Any:
    """Returns a DataFrame as a batch of this BatchFormat, with a DeprecationWarning.

    Examples
    --------
    >>> import pandas
    >>> from trainrt.air.util.data_batch_conversion import BatchFormat, convert_pandas_to_batch_type
    >>> convert_pandas_to_batch_type(pandas.DataFrame({"x": [0, 1]}), BatchFormat.NUMPY).tolist()
    [0, 1]
    """
    warnings.warn("`convert_pandas_to_batch_type` is deprecated as a developer API", DeprecationWarning, stacklevel=2)
    return _convert_pandas_to_batch_type(data, type, cast_tensor_columns)
