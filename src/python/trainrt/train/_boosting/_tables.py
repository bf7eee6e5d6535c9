"""Dataset shards as tables of numbers."""

from .._sessions import _report


def table_of(name, label_column):
    """Returns this rank's shard of dataset `name` as {column: array}, and the labels. A restart returns the same samples. Raises KeyError or
    ValueError if the dataset or the column is missing."""
    shard = _report.get_dataset_shard(name)
    if shard is None:
        raise KeyError(f"dataset '{name}' not found")
    columns = shard.columns_at_once()
    if label_column not in columns:
        raise ValueError(f"label_column={label_column!r}: there is no such column; the dataset '{name}' has the columns {', '.join(columns)}")
    return columns, columns.pop(label_column)


def features_of(columns, name):
    """Returns the features and their names, as matrix_of() does; if a column has categories, a DataFrame and `None`. All ranks use the same codes."""
    if not any(hasattr(values, "to_pandas") for values in columns.values()):
        return matrix_of(columns, name)
    import pandas
    parts = []
    for column, values in columns.items():
        if hasattr(values, "to_pandas"):  # a column of categories
            parts.append(pandas.DataFrame({column: values.to_pandas()}))
        else:
            matrix, names = matrix_of({column: values}, name)
            parts.append(pandas.DataFrame(matrix, columns=names))
    return pandas.concat(parts, axis=1), None


def matrix_of(columns, name):
    """Returns an array of shape (rows, features), and the names of the features. A column of vectors becomes several features. Raises ValueError
    for a column of strings, or if there is no column."""
    import numpy
    names, parts = [], []
    for column, values in columns.items():
        if values.dtype == object:
            raise ValueError(f"the dataset '{name}' has strings in column '{column}'; leave it out with drop_columns(['{column}']), or convert it to "
                             f"numbers with map_batches()")
        values = values.reshape(len(values), -1) if len(values) else values.reshape(0, int(numpy.prod(values.shape[1:], dtype=int)))
        names += [column] if values.shape[1] == 1 else [f"{column}_{number}" for number in range(values.shape[1])]
        parts.append(values)
    if not parts:
        raise ValueError(f"the dataset '{name}' has no column except the labels; it needs at least one feature")
    return numpy.concatenate(parts, axis=1), names
