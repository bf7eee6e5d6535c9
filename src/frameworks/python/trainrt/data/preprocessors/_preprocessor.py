"""What all preprocessors have: transform() of a dataset and of a batch."""

from .._columns import columns_of


class Preprocessor:
    """A change of columns. A class of one's own has transform_columns(columns) -> columns, of {name: array of the samples}."""

    def transform_columns(self, columns):
        raise NotImplementedError(f"{type(self).__name__} has no transform_columns()")

    def fit(self, ds):
        """Changes nothing: this one has nothing to learn from the data. Returns itself."""
        return self

    def fit_transform(self, ds):
        return self.fit(ds).transform(ds)

    def transform(self, ds, **others):
        """The dataset whose batches are changed as they are taken. others: of map_batches(), as concurrency."""
        if not hasattr(ds, "map_batches"):
            raise TypeError(f"{type(self).__name__}.transform() takes a dataset of trainrt.data, and {type(ds).__name__} is none: "
                            f"transform_batch() takes a batch")
        return ds.map_batches(self.transform_columns, batch_format="numpy", **others)

    def transform_batch(self, data):
        """The same of one batch, {name: array} or a DataFrame: returned as it came."""
        changed = self.transform_columns(columns_of(data, f"what {type(self).__name__}.transform_batch() was given"))
        return changed if isinstance(data, dict) else type(data)({name: list(column) for name, column in changed.items()}, index=data.index)
