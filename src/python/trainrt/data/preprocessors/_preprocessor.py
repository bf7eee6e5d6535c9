"""Base classes of preprocessors, which are fitted to datasets, transform datasets and batches, and are saved as JSON."""

import json
import math
from typing import Any

from .._columns import columns_of
from .._numpy import numpy
from ._fit import stats_learned_from
from ._parameters import checked_parameters

_VERSION = 1
_KINDS = {}  # {name: class} for from_dict()


class PreprocessorNotFittedException(RuntimeError):
    """Raised if a preprocessor that must be fitted is used before fit()."""


class Preprocessor:
    """Base class of preprocessors, which transform columns.

    A user's subclass defines one of transform_columns(), _transform_numpy() and _transform_pandas(), and _fit() if the transformation needs
    statistics of a dataset. The methods with underscores are those of Ray's class: _transform_numpy() takes and returns {name: array},
    _transform_pandas() a DataFrame.
    """

    def transform_columns(self, columns):
        """Return all columns after the transformation. `columns` is {name: array} of some samples. If transform_batch() calls, missing strings are
        `None`."""
        if hasattr(self, "_transform_numpy"):
            return self._transform_numpy(dict(columns))
        if hasattr(self, "_transform_pandas"):
            import pandas
            frame = pandas.DataFrame({name: column if column.ndim == 1 else list(column) for name, column in columns.items()})
            return columns_of(self._transform_pandas(frame), f"{type(self).__name__}._transform_pandas()", "returned", has_missing=True)
        raise NotImplementedError(f"{type(self).__name__} does not define transform_columns(), _transform_numpy() or _transform_pandas()")

    def fit(self, ds):
        """Compute the statistics of the dataset that the transformation needs, and return self. Call _fit() if a user's subclass defines it."""
        if hasattr(self, "_fit"):
            self._fit(ds)
        return self

    def fit_transform(self, ds):
        """Fit to the dataset and return the transformed dataset."""
        return self.fit(ds).transform(ds)

    def transform(self, ds, **others):
        """Return a Dataset that transforms its batches when they are read. `others` are arguments of map_batches(), such as concurrency."""
        if not hasattr(ds, "map_batches"):
            raise TypeError(f"{type(self).__name__}.transform() takes a dataset of trainrt.data, not {type(ds).__name__}; transform_batch() takes a "
                            f"batch")
        self._require_fitted()
        return ds.map_batches(self.transform_columns, batch_format="numpy", **others)

    def transform_batch(self, data):
        """Return a transformed batch. The result is {name: array} for a dict, and a DataFrame with the same index for a DataFrame. Values may be missing
        (`None`, NaN): SimpleImputer replaces missing values, and columns that are not transformed keep missing values."""
        self._require_fitted()
        changed = self.transform_columns(columns_of(data, f"{type(self).__name__}.transform_batch()", "was given", has_missing=True))
        return changed if isinstance(data, dict) else self._frame_of(type(data), changed, data.index)

    def _frame_of(self, kind, columns, index):
        frame = kind({name: column if column.ndim == 1 else list(column) for name, column in columns.items()}, index=index)
        self._finish_frame(frame, columns)
        return frame

    def _finish_frame(self, frame, columns):
        """Convert columns of the DataFrame `frame` to types that only pandas has, such as categories."""

    def _require_fitted(self):
        pass

    @staticmethod
    def from_dict(given):
        """Create a preprocessor from `given`, a result of to_dict() or of the C++ class in trainrt/preprocessor.hpp."""
        if not isinstance(given, dict) or not isinstance(given.get("parameters"), dict) or given.get("version") != _VERSION:
            raise ValueError(f"{str(given)[:80]!r} is not the JSON of a preprocessor: it must be an object with \"preprocessor\", \"version\": "
                             f"{_VERSION} and \"parameters\"")
        name = given.get("preprocessor")
        if name == "Tokenizer":
            Tokenizer()
        if name not in _KINDS:
            raise ValueError(f"no such preprocessor: {name!r}; valid names: {', '.join(sorted(_KINDS))}")
        return _KINDS[name]._from(given["parameters"], given.get("stats"))

    @staticmethod
    def from_json(text):
        """Create a preprocessor from the result of to_json()."""
        return Preprocessor.from_dict(json.loads(text))

    deserialize = from_json


class RuntimePreprocessor(Preprocessor):
    """Base class of preprocessors that the C++ runtime fits and that are saved as JSON. The build generates the subclasses from the C++ table of
    preprocessors. `_parameters` contains the table's rows, and `parameters` the arguments as a dict for JSON."""

    _kind = ""  # name of the preprocessor in the table
    _parameters: tuple = ()
    _stats: Any
    needs_fit = False

    def __init_subclass__(cls, **others):
        super().__init_subclass__(**others)
        if "_parameters" in cls.__dict__:
            cls._kind = cls.__name__
            _KINDS[cls._kind] = cls

    def __init__(self, **given):
        self.parameters, self._stats = checked_parameters(self._kind, self._parameters, given), None
        self._prepare()

    def _prepare(self):
        """Check the arguments and prepare values for transform_columns(). Subclasses override it; called by __init__()."""

    def transform_columns(self, columns):
        raise NotImplementedError(f"{self._kind} has no NumPy code in trainrt/data/preprocessors/_arithmetic.py: use the key preprocess of the "
                                  f"dataset")

    # ---- fit ----

    def fit(self, ds):
        """Compute the statistics of all samples and return self. For a Dataset, this process reads all samples. For a shard (get_dataset_shard()), each
        rank reads its own samples, and all ranks must call fit()."""
        if self.needs_fit:
            self._take_stats(stats_learned_from(ds, self._description(), self.needed_columns()))
        return self

    def needed_columns(self):
        return self.columns

    @property
    def columns(self):
        return self.parameters["columns"]

    def _take_stats(self, stats):
        self._stats = stats
        self._use_stats()

    def _use_stats(self):
        """Prepare values for transform_columns() from `_stats`. Subclasses override it; called after fit() and loading."""

    @property
    def stats_(self):
        """Returns the statistics that fit() has computed, with Ray's names."""
        self._require_fitted()
        return dict(self._stats or {})

    def _require_fitted(self):
        if self.needs_fit and self._stats is None:
            raise PreprocessorNotFittedException(f"{type(self).__name__} is not fitted; call fit(dataset) first")

    def _stat(self, name, column):
        """Return the statistic `name` of a column, or NaN if all values of the column were NaN in fit()."""
        value = self._stats[f"{name}({column})"]
        return math.nan if value is None else value

    # ---- JSON ----

    def _description(self):
        return {"preprocessor": self._kind, "version": _VERSION, "parameters": self.parameters}

    def to_dict(self):
        """Return a dict for JSON with arguments and statistics, for example for the metadata of a Trainer or a checkpoint."""
        return {**self._description(), **({"stats": self._stats} if self._stats is not None else {})}

    def to_json(self):
        """Return the result of to_dict() as JSON, which Preprocessor.from_json() and C++ can read."""
        return json.dumps(self.to_dict(), sort_keys=True, allow_nan=False)

    serialize = to_json

    @classmethod
    def _from(cls, parameters, stats):
        known = [each.name for each in cls._parameters]
        for name in parameters:
            if name not in known:
                raise ValueError(f"{cls._kind}: unknown parameter {name!r}; the valid ones are: {', '.join(known)}")
        try:
            made = cls(**parameters)
        except TypeError as error:
            raise ValueError(f"{cls._kind}: {error}") from None
        if stats is not None:
            if not isinstance(stats, dict):
                raise ValueError(f"{cls._kind}: \"stats\" must be an object")
            try:
                made._take_stats(stats)
            except (AttributeError, KeyError, TypeError) as error:
                raise ValueError(f"{cls._kind}: invalid stats: {type(error).__name__}: {error}") from None
        return made

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.parameters.items())})"


class Chain(RuntimePreprocessor):
    """A sequence of preprocessors, like Ray Data's Chain. Each preprocessor is fitted to the output of the preceding preprocessors.

    Args:
        preprocessors: one preprocessor or several.
    """

    _parameters = ()

    def __init__(self, *preprocessors):
        if not preprocessors or not all(isinstance(each, Preprocessor) for each in preprocessors):
            raise ValueError(f"Chain{preprocessors!r}: the arguments must be preprocessors, at least one")
        super().__init__()
        self.preprocessors = list(preprocessors)

    def fit(self, ds):
        from ._fit import stages_learned_from
        if all(isinstance(each, RuntimePreprocessor) for each in self.preprocessors):
            for each, stats in zip(self._stages(), stages_learned_from(ds, self._unfitted(), self.needed_columns())):
                if each.needs_fit:
                    each._take_stats(stats)
            return self
        for each in self.preprocessors:
            ds = each.fit_transform(ds)
        return self

    def _stages(self):
        return [stage for each in self.preprocessors for stage in (each._stages() if isinstance(each, Chain) else [each])]

    def needed_columns(self):
        return None  # all columns: a preprocessor may use the output of another preprocessor

    def transform_columns(self, columns):
        for each in self.preprocessors:
            columns = each.transform_columns(columns)
        return columns

    def _finish_frame(self, frame, columns):
        for each in self.preprocessors:
            each._finish_frame(frame, columns)

    @property
    def stats_(self):
        return {key: value for each in self.preprocessors for key, value in each.stats_.items()}

    def _require_fitted(self):
        for each in self.preprocessors:
            each._require_fitted()

    def _described(self, part):
        for each in self.preprocessors:
            if not isinstance(each, RuntimePreprocessor):
                raise TypeError(f"a Chain with the class {type(each).__name__}, which is not of trainrt, cannot be saved as JSON")
        return {"preprocessor": "Chain", "version": _VERSION, "parameters": {"preprocessors": [part(each) for each in self.preprocessors]}}

    def _unfitted(self):
        return self._described(lambda each: each._unfitted() if isinstance(each, Chain) else each._description())

    def to_dict(self):
        return self._described(lambda each: each.to_dict())

    @classmethod
    def _from(cls, parameters, stats):
        stages = parameters.get("preprocessors")
        if not isinstance(stages, list):
            raise ValueError("Chain: \"preprocessors\" must be a list")
        return cls(*map(Preprocessor.from_dict, stages))

    def __repr__(self):
        return f"Chain({', '.join(map(repr, self.preprocessors))})"


class Tokenizer:
    """Raises ValueError: the preprocessor was removed. The message names the replacement."""

    def __init__(self, *_, **__):
        raise ValueError("the preprocessor Tokenizer was removed: make token files once with jobs/python/token_files.py (Hugging Face tokenizers)")


def taken(of, name, columns, has_missing=False):
    """Return the column `name`. Raise ValueError if the column does not exist, or contains `None` and `has_missing` is False."""
    if name not in columns:
        raise ValueError(f"{of}: there is no column '{name}'; the columns are: {', '.join(columns)}")
    column = numpy.asarray(columns[name])
    if not has_missing and column.dtype == object and any(value is None for value in column):
        raise ValueError(f"{of}: column '{name}' has a sample without a value (None); SimpleImputer replaces missing values")
    return column
