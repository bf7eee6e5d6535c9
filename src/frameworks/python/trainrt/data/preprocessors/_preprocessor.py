"""What all preprocessors have: transform() of a dataset and of a batch, and those that the runtime knows also fit() and JSON."""

import json
import math

from .._columns import columns_of
from .._numpy import numpy
from ._fit import stats_learned_from

_VERSION = 1
_KINDS = {}  # those of the runtime, by their names


class PreprocessorNotFittedException(RuntimeError):
    """transform() before fit(), of one that has to learn something of the data."""


class Preprocessor:
    """A change of columns. A class of one's own has transform_columns(columns) -> columns, of {name: array of the samples}. In a batch that
    transform_batch() is given a text may be missing: it is None."""

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
        self._require_fitted()
        return ds.map_batches(self.transform_columns, batch_format="numpy", **others)

    def transform_batch(self, data):
        """The same of one batch, {name: array} or a DataFrame: returned as it came. Values may be missing (None, NaN): SimpleImputer fills them in, and
        columns that nothing changes keep them."""
        self._require_fitted()
        changed = self.transform_columns(columns_of(data, f"{type(self).__name__}.transform_batch()", "was given", has_missing=True))
        return changed if isinstance(data, dict) else self._frame_of(type(data), changed, data.index)

    def _frame_of(self, kind, columns, index):
        frame = kind({name: column if column.ndim == 1 else list(column) for name, column in columns.items()}, index=index)
        self._finish_frame(frame, columns)
        return frame

    def _finish_frame(self, frame, columns):
        """What a DataFrame has of its own."""

    def _require_fitted(self):
        pass

    @staticmethod
    def from_dict(given):
        """What to_dict() gave, here or in C++ (trainrt/preprocessor.hpp)."""
        if not isinstance(given, dict) or not isinstance(given.get("parameters"), dict) or given.get("version") != _VERSION:
            raise ValueError(f"{str(given)[:80]!r} is no preprocessor: an object with \"preprocessor\", \"version\": {_VERSION} and \"parameters\" is")
        kind = _KINDS.get(given.get("preprocessor"))
        if kind is None:
            raise ValueError(f"there is no preprocessor {given.get('preprocessor')!r}; there are: {', '.join(sorted(_KINDS))}")
        return kind._from(given["parameters"], given.get("stats"))

    @staticmethod
    def from_json(text):
        return Preprocessor.from_dict(json.loads(text))

    deserialize = from_json


class RuntimePreprocessor(Preprocessor):
    """One that the runtime knows too: it fits it, and reads and writes the same JSON. Its class has `parameters`, a dict for JSON."""

    learns = False

    def __init_subclass__(cls, **others):
        super().__init_subclass__(**others)
        if not cls.__name__.startswith("_"):
            _KINDS[cls.__name__] = cls

    def __init__(self, **parameters):
        self.parameters, self._stats = parameters, None

    # ---- what it learns ----

    def fit(self, ds):
        """Learns from all samples: of a dataset in this process; of a shard (get_dataset_shard()) by all ranks together, each of which reads its
        part. Returns itself."""
        if self.learns:
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
        """Makes of the stats, as JSON has them, what transform_columns() needs."""

    @property
    def stats_(self):
        """What was learned, by Ray's names."""
        self._require_fitted()
        return dict(self._stats or {})

    def _require_fitted(self):
        if self.learns and self._stats is None:
            raise PreprocessorNotFittedException(f"{type(self).__name__} has learned nothing yet: call fit(dataset) first")

    def _stat(self, what, column):
        """A number of the stats; NaN if all values were."""
        value = self._stats[f"{what}({column})"]
        return math.nan if value is None else value

    # ---- JSON ----

    def _description(self):
        return {"preprocessor": type(self).__name__, "version": _VERSION, "parameters": self.parameters}

    def to_dict(self):
        """For json.dumps(), and the metadata of a Trainer or a checkpoint."""
        return {**self._description(), **({"stats": self._stats} if self._stats is not None else {})}

    def to_json(self):
        return json.dumps(self.to_dict(), sort_keys=True, allow_nan=False)

    serialize = to_json

    @classmethod
    def _from(cls, parameters, stats):
        try:
            made = cls(**parameters)
        except TypeError as error:
            raise ValueError(f"{cls.__name__}: {error}") from None
        if stats is not None:
            if not isinstance(stats, dict):
                raise ValueError(f"{cls.__name__}: \"stats\" must be an object")
            try:
                made._take_stats(stats)
            except (KeyError, TypeError) as error:
                raise ValueError(f"{cls.__name__}: the stats lack what it needs: {error}") from None
        return made

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.parameters.items())})"


class Columnwise(RuntimePreprocessor):
    """One that makes a column of each of its columns: in its place, or under the name that output_columns has for it."""

    fills_missing = False  # whether convert() takes a missing text

    def __init__(self, columns, output_columns=None, **parameters):
        names = names_of(type(self).__name__, "columns", columns)
        outputs = names if output_columns is None else names_of(type(self).__name__, "output_columns", output_columns)
        if len(outputs) != len(names):
            raise ValueError(f"{type(self).__name__}: output_columns has {len(outputs)} names, and there are {len(names)} columns")
        super().__init__(columns=names, output_columns=outputs, **parameters)

    @property
    def output_columns(self):
        return self.parameters["output_columns"]

    def transform_columns(self, columns):
        own = {name: taken(type(self).__name__, name, columns, self.fills_missing) for name in self.columns}
        made = {output: self.convert(name, own[name]) for name, output in zip(self.columns, self.output_columns)}
        return {**columns, **made}

    def convert(self, name, column):
        """What the column of that name becomes."""
        raise NotImplementedError


class Scaling(Columnwise):
    """(x - offset) / divisor: f32 of f32, else f64; computed in f64, as in C++. A divisor of 0 counts as 1."""

    learns = True

    def scale(self, name):
        """(offset, divisor)"""
        raise NotImplementedError

    def _use_stats(self):
        self._scales = {name: (offset, divisor if divisor != 0 else 1.0) for name in self.columns for offset, divisor in (self.scale(name),)}

    def convert(self, name, column):
        offset, divisor = self._scales[name]
        return as_real((numbers_of(type(self).__name__, name, column) - offset) / divisor, column)


def names_of(of, parameter, names):
    if isinstance(names, str) or not names or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise ValueError(f"{of}({parameter}={names!r}): it must be a list of names of columns, none twice")
    return list(names)


def taken(of, name, columns, has_missing=False):
    """The column of that name. has_missing: texts of it may be None."""
    if name not in columns:
        raise ValueError(f"{of}: there is no column '{name}'; there are: {', '.join(columns)}")
    column = numpy.asarray(columns[name])
    if not has_missing and column.dtype == object and any(value is None for value in column):
        raise ValueError(f"{of}: column '{name}' has a sample without a value (None): SimpleImputer gives it one")
    return column


def numbers_of(of, name, column):
    """A number a sample, as f64."""
    if column.dtype == object:
        raise TypeError(f"{of}: column '{name}' holds texts or arrays of several lengths; it must hold numbers")
    if column.ndim != 1:
        raise TypeError(f"{of}: column '{name}' holds arrays of the shape {column.shape[1:]}; it must hold a number a sample")
    return column.astype("f8")


def as_real(values, column):
    """f64 rounded once to what the column becomes."""
    return values.astype("f4") if column.dtype == "f4" else values
