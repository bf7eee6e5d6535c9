"""RuntimePreprocessor, the base class of preprocessors that the C++ runtime fits and that are saved as JSON."""

import json
import math
from typing import Any

from .._operations import formatted
from .._values._categories import plain
from .._values._columns import NotStorableError, columns_of
from ._fit import columns_here, stats_learned_from
from ._parameters import checked_parameters, shown_parameters, simple_split_tokenizer
from ._preprocessor import KINDS, VERSION, Preprocessor


class RuntimePreprocessor(Preprocessor):
    """Base class of preprocessors that the C++ runtime fits and that are saved as JSON. The build generates the subclasses from the C++ table of
    preprocessors. `_parameters` contains the table's rows, and `parameters` the arguments as a dict for JSON. Each argument is an attribute, too."""

    _kind = ""  # name of the preprocessor in the table
    _parameters: tuple = ()
    _hidden = ("exclude", "include", "quantile_precision")  # arguments that repr() leaves out
    _stats: Any = None
    needs_fit = False

    def __init_subclass__(cls, **others):
        super().__init_subclass__(**others)
        if "_parameters" in cls.__dict__:
            cls._kind = cls.__name__
            KINDS[cls._kind] = cls
        cls._is_fittable = cls.needs_fit

    def __init__(self, **given):
        self._given = shown_parameters(self._parameters, given)
        self.parameters, self._stats = checked_parameters(self._kind, self._parameters, self._for_json(given)), None
        self._prepare()

    def _for_json(self, given):
        """Return the arguments as values for JSON. A subclass overrides this method if it accepts arguments that JSON cannot hold."""
        return given

    def __getattr__(self, name):
        """Return the argument `name` of the constructor."""
        given = self.__dict__.get("_given", {})
        if name in given:
            return given[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def _prepare(self):
        """Check the arguments and prepare values for transform_columns(). Subclasses override it; called by __init__()."""

    def transform_columns(self, columns):
        raise NotImplementedError(f"{self._kind} has no NumPy code in trainrt/data/preprocessors/_arithmetic.py: use the key preprocess of the "
                                  f"dataset")

    # ---- batches ----

    def transform_batch(self, data):
        """Return a transformed batch. The result is {name: array} for a dict, and a DataFrame with the same index for a DataFrame. Values may be missing
        (`None`, NaN): SimpleImputer replaces missing values, and columns that are not transformed keep missing values."""
        self._require_fitted("transform_batch")
        changed = self.transform_columns(columns_of(data, f"{type(self).__name__}.transform_batch()", "was given", has_missing=True))
        if isinstance(data, dict):
            return plain(changed)
        return formatted(changed, "pandas").set_axis(data.index)

    def _transform_pandas(self, frame):
        return self.transform_batch(frame)

    # ---- fit ----

    def _fit(self, ds):
        """Compute the statistics of all samples. For a Dataset, this process reads all samples. For a shard (get_dataset_shard()), each rank reads its
        own samples, and all ranks must call fit()."""
        self._check_fit()
        learn = getattr(self, "_learn", None)
        if learn is None or not self._is_learned_here(ds):
            try:
                self._take_stats(stats_learned_from(ds, self._description(), self.needed_columns()))
                return
            except NotStorableError:
                if learn is None:
                    raise
        self._take_stats(learn(columns_here(ds, self.needed_columns())))

    def _is_learned_here(self, ds):
        """Return whether this process must compute the statistics with _learn(), {name: array} -> stats, since the runtime cannot."""
        del ds
        return self._is_python_only()

    def _check_fit(self):
        """Raise an error if the arguments cannot be used for a fit. Subclasses override it."""

    def _is_python_only(self):
        """Return whether an argument is a Python object that neither JSON nor the runtime can hold."""
        values = [self._given[each.name] for each in self._parameters if each.type == "python_only"]
        return any((callable(value) and value is not simple_split_tokenizer) or (isinstance(value, dict) and value) for value in values)

    def fit_status(self):
        if not self._is_fittable:
            return Preprocessor.FitStatus.NOT_FITTABLE
        return Preprocessor.FitStatus.NOT_FITTED if self._stats is None else Preprocessor.FitStatus.FITTED

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
        """Returns the statistics that fit() has computed, with Ray's names; {} before fit()."""
        return self._shown_stats() if self._stats is not None else {}

    def _shown_stats(self):
        return dict(self._stats)

    def _stat(self, name, column):
        """Return the statistic `name` of a column, or NaN if all values of the column were NaN in fit()."""
        value = self._stats[f"{name}({column})"]
        return math.nan if value is None else value

    # ---- JSON ----

    def _description(self):
        return {"preprocessor": self._kind, "version": VERSION, "parameters": self.parameters}

    def to_dict(self):
        """Return a dict for JSON with arguments and statistics, for example for the metadata of a Trainer or a checkpoint. Raises TypeError if an argument
        is an object that JSON cannot hold, such as a function."""
        if self._is_python_only():
            raise TypeError(f"{self!r} cannot be saved as JSON, since an argument is a Python object: leave out tokenization_fn and dtypes, or pickle "
                            f"the preprocessor yourself")
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
        shown = {each.name: self._given[each.name] for each in self._parameters if each.name not in self._hidden}
        words = {name: getattr(value, "__name__", repr(value)) if name == "tokenization_fn" else repr(value) for name, value in shown.items()}
        return f"{type(self).__name__}({', '.join(f'{name}={word}' for name, word in words.items())})"
