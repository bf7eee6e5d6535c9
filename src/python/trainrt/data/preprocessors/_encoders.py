"""NumPy implementations of the encoders and vectorizers, for use without the runtime. The classes of the module _generated derive from these classes. Results
are bit-identical to those of the C++ implementation, with these exceptions:

- Encoders, except Categorizer, raise ValueError for missing values outside of lists. In C++, a missing value is an unknown category.
- OrdinalEncoder and LabelEncoder give NaN for unknown categories. In C++, the first gives -1, and the second throws an error.
- HashingVectorizer and CountVectorizer give `None` for a missing text. In C++, no text is missing.
"""

from collections import Counter

from .._values._categories import Categorical, Categories
from .._values._numpy import numpy
from ._columnwise import UNKNOWN, Columnwise, hashed_feature, with_nan
from ._fit import first_sample
from ._learn import categories_learned, is_of_lists, tokens_counted
from ._preprocessor import require_values
from ._runtime import RuntimePreprocessor
from ._values import element


class Encoding(Columnwise):
    """Base class of encoders, which number the categories of each column in the order of the stats. 1, 1.0 and True are one category."""

    needs_fit = True
    explodes = True  # True: each element of a list is a category; False: the complete list is a category
    skips_missing = False

    def _check_fit(self):
        for name in self.parameters.get("max_categories") or ():
            if name not in self.columns:
                raise ValueError(f"You set `max_categories` for {name}, which is not present in {self.columns}.")

    def _learn(self, columns):
        limits = self.parameters.get("max_categories") or {}
        return {f"unique_values({name})": categories_learned(column, self.explodes, self.skips_missing, limits.get(name))
                for name, column in columns.items()}

    def _is_learned_here(self, ds):
        return super()._is_learned_here(ds) or any(is_of_lists(column) for name, column in first_sample(ds).items() if name in self.columns)

    def _use_stats(self):
        self._numbers = {name: {element(value): number for number, value in enumerate(self._stats[f"unique_values({name})"])} for name in self.columns}

    def _shown_stats(self):
        """Returns {'unique_values(COLUMN)': {value: number}}."""
        return {f"unique_values({name})": dict(numbers) for name, numbers in self._numbers.items()}

    def transform_columns(self, columns):
        if not self.skips_missing:
            require_values(self.columns, columns)
        return super().transform_columns(columns)

    def numbers(self, name, column):
        """Return the number of each value's category, as i64. Missing values and values that did not occur in fit() get UNKNOWN."""
        numbers = self._numbers[name]
        return numpy.fromiter((numbers.get(element(value), UNKNOWN) for value in column.tolist()), "i8", len(column))

    def convert(self, name, column):
        """Return the number of each value's category, as i64. If a value did not occur in fit(), return f64 with NaN for it, as Ray does."""
        return with_nan(self.numbers(name, column))


class OrdinalEncoder(Encoding):
    def _prepare(self):
        self.explodes = self.parameters["encode_lists"]

    def convert(self, name, column):
        if not self.explodes or not is_of_lists(column):
            return super().convert(name, column)
        lists = numpy.empty(len(column), object)
        for row, values in enumerate(column):
            lists[row] = with_nan(self.numbers(name, numpy.array(values, object if len(values) else "i8")))
        return lists


class Categorizer(Encoding):
    skips_missing = True

    def _prepare(self):
        self._given["dtypes"] = self._given["dtypes"] or {}

    def _learn(self, columns):
        learned = super()._learn({name: column for name, column in columns.items() if name not in self.dtypes})
        return {**learned, **{f"unique_values({name})": dtype.categories.tolist() for name, dtype in self.dtypes.items()}}

    def _shown_stats(self):
        """Returns {COLUMN: pandas.CategoricalDtype}."""
        import pandas
        return {name: self.dtypes.get(name, pandas.CategoricalDtype(list(self._numbers[name]))) for name in self.columns}

    def convert(self, name, column):
        is_ordered = bool(getattr(self.dtypes.get(name), "ordered", False))
        return Categorical.of(self.numbers(name, column), Categories(list(self._numbers[name]), is_ordered, are_codes=True))


class LabelEncoder(Encoding):
    @property
    def columns(self):
        return _listed(self.parameters["label_column"])

    @property
    def output_columns(self):
        return _listed(self.parameters["output_column"])

    def inverse_transform_batch(self, data):
        """Replace numbers by labels in `data`, a result of transform_batch(). NaN becomes `None`. Return a dict for a dict, a DataFrame for a
        DataFrame."""
        self._require_fitted("inverse_transform")
        output, labels = self.output_columns[0], list(self._numbers[self.columns[0]])
        found = [None if number != number else labels[int(number)] for number in data[output]]
        return {**data, self.columns[0]: found} if isinstance(data, dict) else data.assign(**{self.columns[0]: found})

    def inverse_transform(self, ds):
        """Return the dataset with labels in place of numbers. `ds` is a result of transform(), or has predicted numbers in the output column."""
        self._require_fitted("inverse_transform")
        return ds.map_batches(self.inverse_transform_batch)

    _inverse_transform_pandas = inverse_transform_batch


def _listed(names):
    return [names] if isinstance(names, str) else names


class OneHotEncoder(Encoding):
    explodes = False

    def convert(self, name, column):
        return (self.numbers(name, column)[:, None] == numpy.arange(len(self._numbers[name]))).astype("u1")


class MultiHotEncoder(Encoding):
    skips_missing = True

    def _is_learned_here(self, ds):
        """Return whether the samples are strings or numbers and not lists. This process then fits, and each sample counts as a list of one element."""
        return RuntimePreprocessor._is_learned_here(self, ds) or any(not is_of_lists(column) for name, column in first_sample(ds).items()
                                                                     if name in self.columns)

    def transform_columns(self, columns):
        require_values(self.columns, columns)
        return super().transform_columns(columns)

    def convert(self, name, column):
        lists = (values if isinstance(values, (list, tuple)) else numpy.ravel(values).tolist() for values in column)
        return _counts(lists, self._numbers[name], len(column))


class CountVectorizer(Columnwise):
    needs_fit = True

    def _use_stats(self):
        self._places = {name: {word: place for place, (word, _) in enumerate(self._stats[f"token_counts({name})"])} for name in self.columns}

    def _learn(self, columns):
        limit = self.parameters["max_features"]
        return {f"token_counts({name})": tokens_counted(column, self.tokenization_fn, limit) for name, column in columns.items()}

    def _shown_stats(self):
        """Returns {'token_counts(COLUMN)': Counter}, with the most frequent word first."""
        return {key: Counter(dict(map(tuple, counts))) for key, counts in self._stats.items()}

    def convert(self, name, column):
        return _counts(self.words_of(name, column), self._places[name], len(column))


def _counts(lists, places, rows):
    """Return an i64 array of shape [rows, len(places)]: for each list of words, the count of each word in `places`."""
    counts, missing = numpy.zeros((rows, len(places)), "i8"), []
    for number, values in enumerate(lists):
        if values is None:
            missing.append(number)
        for value in values or ():
            if value in places:
                counts[number, places[value]] += 1
    return _without(counts, missing)


def _without(counts, missing):
    """Return the counts. If there are rows `missing`, return an array of objects with one array per row, and `None` for these rows."""
    if not missing:
        return counts
    found = numpy.empty(len(counts), object)
    for row, each in enumerate(counts):
        found[row] = each
    found[missing] = None
    return found


class HashingVectorizer(Columnwise):
    def convert(self, name, column):
        width = self.parameters["num_features"]
        lists = (None if words is None else [hashed_feature(word, width) for word in words] for words in self.words_of(name, column))
        return _counts(lists, range(width), len(column))
