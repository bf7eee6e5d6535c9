"""NumPy implementations of the preprocessors, for use without the runtime. The classes of the module _generated derive from these classes. Results
are bit-identical to those of the C++ implementation."""

import functools
import hashlib
import math

from .._numpy import numpy
from ._parameters import ELEMENT_TYPES
from ._preprocessor import RuntimePreprocessor, taken
from ._values import as_real, numbers_of, require_range

UNKNOWN = -1


class Columnwise(RuntimePreprocessor):
    """Base class of preprocessors that transform each column independently."""

    fills_missing = False  # whether convert() accepts missing strings (`None`)

    @property
    def output_columns(self):
        return self.parameters["output_columns"]

    def transform_columns(self, columns):
        own = {name: taken(self._kind, name, columns, self.fills_missing) for name in self.columns}
        made = {output: self.convert(name, own[name]) for name, output in zip(self.columns, self.output_columns)}
        return {**columns, **made}

    def convert(self, name, column):
        """Return the transformed values of `column`, the column of this name."""
        raise NotImplementedError

    def numbers_of(self, name, column):
        """Return the column as f64. Raise TypeError unless the column contains one number per sample."""
        return numbers_of(self._kind, name, column)

    def words_of(self, name, column):
        """Yield, for each string of the column, the list of its words. Words are separated by single spaces."""
        for text in column.tolist():
            if not isinstance(text, str):
                raise TypeError(f"{self._kind}: column '{name}' contains numbers; it must contain texts")
            yield text.split(" ")


class Scaling(Columnwise):
    """Base class of scalers, which compute (x - offset) / divisor in f64. An f32 column stays f32. A divisor of 0 is replaced by 1."""

    needs_fit = True

    def scale(self, name):
        """Return (offset, divisor)."""
        raise NotImplementedError

    def _use_stats(self):
        self._scales = {name: (offset, divisor if divisor != 0 else 1.0) for name in self.columns for offset, divisor in (self.scale(name),)}

    def convert(self, name, column):
        offset, divisor = self._scales[name]
        return as_real((self.numbers_of(name, column) - offset) / divisor, column)


class StandardScaler(Scaling):
    def scale(self, name):
        return self._stat("mean", name), _one_if_negligible(self._stat("std", name))


class MinMaxScaler(Scaling):
    def scale(self, name):
        return self._stat("min", name), _one_if_negligible(self._stat("max", name) - self._stat("min", name))


def _one_if_negligible(divisor):
    """Return the divisor, or 1 if the column is nearly constant, as in C++."""
    return 1.0 if divisor < 1e-8 else divisor


class MaxAbsScaler(Scaling):
    def scale(self, name):
        return 0.0, self._stat("abs_max", name)


class RobustScaler(Scaling):
    def _prepare(self):
        found = self.parameters["quantile_range"]
        if len(found) != 2 or not 0 <= found[0] < found[1] <= 1:
            raise ValueError(f"RobustScaler(quantile_range={found!r}) is invalid: it must be two increasing numbers from 0 to 1")

    def scale(self, name):
        return self._stat("median", name), self._stat("high_quantile", name) - self._stat("low_quantile", name)


class Normalizer(Columnwise):
    def transform_columns(self, columns):
        own = [taken(self._kind, name, columns) for name in self.columns]
        values = [self.numbers_of(name, column) for name, column in zip(self.columns, own)]
        norms, norm = numpy.zeros(len(values[0])), self.parameters["norm"]
        for each in values:  # in the order of the columns, like C++, for bit-identical sums
            if norm == "max":
                norms = numpy.maximum(norms, numpy.abs(each))
            else:
                norms += each * each if norm == "l2" else numpy.abs(each)
        if norm == "l2":
            norms = numpy.sqrt(norms)
        norms[norms == 0] = 1
        return {**columns, **{output: as_real(each / norms, column) for output, each, column in zip(self.output_columns, values, own)}}


class PowerTransformer(Columnwise):
    """Transforms numbers with the C library's pow(), like C++. NumPy's power() is not used, since its last bit may differ."""

    def convert(self, name, column):
        values, power = self.numbers_of(name, column), self.parameters["power"]
        if self.parameters["method"] == "box-cox":
            return as_real(_of_power(values, power), column)
        is_negative = ~(values >= 0)
        made = numpy.empty_like(values)
        made[~is_negative] = _of_power(values[~is_negative] + 1, power)
        made[is_negative] = -_of_power(1 - values[is_negative], 2 - power)
        return as_real(made, column)


def _of_power(values, power):
    if power == 0:
        return numpy.fromiter(map(_log, values.tolist()), "f8", len(values))
    return (numpy.fromiter((_pow(value, power) for value in values.tolist()), "f8", len(values)) - 1) / power


def _log(value):
    return math.log(value) if value > 0 else -math.inf if value == 0 else math.nan


def _pow(value, power):
    """Returns the result of C's pow(), also for arguments for which Python's math.pow() raises an exception."""
    try:
        return math.pow(value, power)
    except OverflowError:
        return -math.inf if value < 0 and power % 2 == 1 else math.inf
    except ValueError:
        return math.inf if value == 0 else math.nan


class SimpleImputer(Columnwise):
    """Replaces missing values. In transform_batch(), missing values are `None` and NaN; in datasets, NaN and empty strings."""

    fills_missing = True

    def _prepare(self):
        self.needs_fit = self.parameters["strategy"] != "constant"
        if self.needs_fit != (self.parameters["fill_value"] is None):
            raise ValueError("SimpleImputer: fill_value is only valid with strategy='constant', which needs it")

    def convert(self, name, column):
        fill = self._stats[f"{self.parameters['strategy']}({name})"] if self.needs_fit else self.parameters["fill_value"]
        if fill is None:
            raise ValueError(f"SimpleImputer: column '{name}' has no fill value: all values in fit() were missing")
        column, fill = _of_one_kind(column, fill)
        if isinstance(fill, str) != (column.dtype == object) or column.ndim != 1:
            raise TypeError(f"SimpleImputer: column '{name}' contains {'texts' if column.dtype == object else 'numbers'}, but the fill value is "
                            f"{fill!r}")
        if column.dtype == object:
            return numpy.array([text or fill for text in column], object)
        if column.dtype.kind != "f":
            return column
        values = column.astype("f8")
        return as_real(numpy.where(numpy.isnan(values), float(fill), values), column)


def _of_one_kind(column, fill):
    """Return column and fill value, both as numbers or both as strings. In config files, the fill value is always a string. A column with only
    missing values is converted to the type of the fill value."""
    if isinstance(fill, str) and column.dtype != object:
        number = _number_in(fill)
        fill = fill if number is None else number
    if isinstance(fill, str) != (column.dtype == object) and len(column) and _are_missing(column):
        column = numpy.full(len(column), None, object) if isinstance(fill, str) else numpy.full(len(column), math.nan)
    return column, fill


def _are_missing(column):
    if column.dtype == object:
        return all(value is None for value in column)
    return column.ndim == 1 and column.dtype.kind == "f" and bool(numpy.isnan(column).all())


def _number_in(text):
    """Return the number that the string `text` contains, or `None`. Accepts the same strings as parse_real() of C++."""
    try:
        number = float(text) if text.strip() == text and "_" not in text else math.nan
    except ValueError:
        return None
    return None if math.isnan(number) else number


class Encoding(Columnwise):
    """Base class of encoders, which number the categories of each column in the order of the stats. 1, 1.0 and True are one category."""

    needs_fit = True

    def _prepare(self):
        for name in self.parameters.get("max_categories") or ():
            if name not in self.columns:
                raise ValueError(f"{self._kind}: max_categories names '{name}', which is not one of the columns: {', '.join(self.columns)}")

    def _use_stats(self):
        self._numbers = {name: {value: number for number, value in enumerate(self._stats[f"unique_values({name})"])} for name in self.columns}

    @property
    def stats_(self):
        """Returns {'unique_values(COLUMN)': {value: number}}."""
        self._require_fitted()
        return {f"unique_values({name})": dict(numbers) for name, numbers in self._numbers.items()}

    def convert(self, name, column):
        """Return the number of each value's category, as i64. NaN and values that did not occur in fit() get UNKNOWN."""
        if column.ndim != 1 or (column.dtype == object and any(not isinstance(value, str) for value in column)):
            raise TypeError(f"{self._kind}: column '{name}' contains arrays; it must contain one number or text per sample")
        numbers = self._numbers[name]
        return numpy.fromiter((numbers.get(value, UNKNOWN) for value in column.tolist()), "i8", len(column))


class OrdinalEncoder(Encoding):
    pass


class Categorizer(Encoding):
    def _finish_frame(self, frame, columns):
        import pandas
        for name, output in zip(self.columns, self.output_columns):
            codes = columns.get(output)
            if codes is not None and codes.ndim == 1 and codes.dtype == "i8":  # otherwise a later preprocessor of a Chain has changed the column
                frame[output] = pandas.Categorical.from_codes(codes, list(self._numbers[name]))


class LabelEncoder(Encoding):
    @property
    def columns(self):
        return _listed(self.parameters["label_column"])

    @property
    def output_columns(self):
        return _listed(self.parameters["output_column"])

    def convert(self, name, column):
        codes = super().convert(name, column)
        if (codes == UNKNOWN).any():
            value = column.tolist()[int((codes == UNKNOWN).argmax())]
            raise ValueError(f"LabelEncoder: column '{name}' contains {value!r}, which did not occur when the encoder was fitted")
        return codes

    def inverse_transform_batch(self, data):
        """Replace numbers by labels in `data`, a result of transform_batch(). Return a dict for a dict, a DataFrame for a DataFrame."""
        self._require_fitted()
        output, labels = self.output_columns[0], list(self._numbers[self.columns[0]])
        found = [labels[int(number)] for number in data[output]]
        return {**data, self.columns[0]: found} if isinstance(data, dict) else data.assign(**{self.columns[0]: found})

    def inverse_transform(self, ds):
        """Return the dataset with labels in place of numbers. `ds` is a result of transform(), or has predicted numbers in the output column."""
        self._require_fitted()
        return ds.map_batches(self.inverse_transform_batch)


def _listed(names):
    return [names] if isinstance(names, str) else names


class OneHotEncoder(Encoding):
    def convert(self, name, column):
        return (super().convert(name, column)[:, None] == numpy.arange(len(self._numbers[name]))).astype("u1")


class MultiHotEncoder(Encoding):
    def convert(self, name, column):
        if column.dtype == object and any(isinstance(values, str) for values in column):
            raise TypeError(f"MultiHotEncoder: column '{name}' contains texts; it must contain lists of numbers")
        return _counts((numpy.ravel(values).tolist() for values in column), self._numbers[name], len(column))


class CountVectorizer(Columnwise):
    needs_fit = True

    def _use_stats(self):
        self._places = {name: {word: place for place, (word, _) in enumerate(self._stats[f"token_counts({name})"])} for name in self.columns}

    @property
    def stats_(self):
        """Returns {'token_counts(COLUMN)': {word: count}}, with the most frequent word first."""
        self._require_fitted()
        return {key: dict(map(tuple, counts)) for key, counts in self._stats.items()}

    def convert(self, name, column):
        return _counts(self.words_of(name, column), self._places[name], len(column))


def _counts(lists, places, rows):
    """Return an i64 array of shape [rows, len(places)]: for each list of words, the count of each word in `places`."""
    counts = numpy.zeros((rows, len(places)), "i8")
    for row, values in zip(counts, lists):
        for value in values:
            if value in places:
                row[places[value]] += 1
    return counts


@functools.lru_cache(1 << 16)
def _hashed_feature(text, features):
    """Return Ray's hash of a word: the SHA-256 as a number, modulo `features`."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest(), "big") % features


class HashingVectorizer(Columnwise):
    def convert(self, name, column):
        width = self.parameters["num_features"]
        counts = numpy.zeros((len(column), width), "i8")
        for row, words in zip(counts, self.words_of(name, column)):
            for word in words:
                row[_hashed_feature(word, width)] += 1
        return counts


class FeatureHasher(RuntimePreprocessor):
    def transform_columns(self, columns):
        width = self.parameters["num_features"]
        own = [numbers_of(self._kind, name, taken(self._kind, name, columns)) for name in self.columns]
        sums = numpy.zeros((len(own[0]), width))
        for name, values in zip(self.columns, own):
            sums[:, _hashed_feature(name, width)] += values
        return {**columns, self.parameters["output_column"]: sums}


class Binning(Columnwise):
    """Base class of discretizers, which return the number of a value's bin, like pandas.cut(labels=False). NaN and values outside all bins get -1."""

    _edges: dict

    def convert(self, name, column):
        values, edges = self.numbers_of(name, column), self._edges[name]
        numbers = numpy.searchsorted(edges, values, "left" if self.parameters["right"] else "right")
        if self.parameters["include_lowest"]:
            numbers[values == edges[0]] = 1
        numbers[numpy.isnan(values) | (numbers == len(edges))] = 0
        return numbers.astype("i8") - 1

    def _increasing(self, edges):
        edges = numpy.asarray(edges, "f8")
        if self.parameters["duplicates"] == "drop":
            edges = edges[numpy.append(True, edges[1:] != edges[:-1])]
        if edges.ndim != 1 or len(edges) < 2 or not (numpy.diff(edges) > 0).all():
            raise ValueError(f"{self._kind}: the edges of bins must be two or more strictly increasing numbers; duplicates='drop' removes equal ones")
        return edges

    def _bins_of(self, name):
        bins = self.parameters["bins"]
        if isinstance(bins, dict) and name not in bins:
            raise ValueError(f"{self._kind}: bins has no value for the column '{name}'")
        return bins[name] if isinstance(bins, dict) else bins


class UniformKBinsDiscretizer(Binning):
    needs_fit = True

    def _prepare(self):
        for name in self.columns:
            self._bins_of(name)

    def _use_stats(self):
        self._edges = {name: self._increasing(self._stats[name]) for name in self.columns}


class CustomKBinsDiscretizer(Binning):
    def _prepare(self):
        edges = {name: self._bins_of(name) for name in self.columns}
        self._edges = {name: self._increasing([float(edge) for edge in (each.split(",") if isinstance(each, str) else each)])
                       for name, each in edges.items()}


class Concatenator(RuntimePreprocessor):
    def _prepare(self):
        given = [self.parameters[key] for key in ("columns", "include") if self.parameters.get(key) is not None]
        if len(given) > 1:
            raise ValueError("Concatenator: columns and include are two names of one argument; only one may be given")
        self._excluded = self.parameters.get("exclude") or []
        self._chosen = [name for name in given[0] if name not in self._excluded] if given else None
        if self._chosen == []:
            raise ValueError(f"Concatenator: exclude names all columns: {', '.join(self._excluded)}")

    def _own(self, columns):
        own = [name for name in columns if name not in self._excluded] if self._chosen is None else self._chosen
        if not own:
            raise ValueError(f"Concatenator: exclude names all columns of the data: {', '.join(self._excluded)}")
        return own

    def transform_columns(self, columns):
        own, name, dtype = self._own(columns), self.parameters["output_column_name"], self.parameters["dtype"]
        parts = [self._part(each, columns) for each in own]
        rest = {each: column for each, column in columns.items() if each not in (*own, name)}
        return {**rest, name: numpy.concatenate(parts, axis=1, dtype=dtype and ELEMENT_TYPES[dtype], casting="unsafe" if dtype else "same_kind")}

    def _part(self, name, columns):
        column = taken(self._kind, name, columns)
        if column.dtype == object:
            raise TypeError(f"Concatenator: column '{name}' contains texts or arrays of different lengths; it must contain numbers")
        if column.ndim > 1 and not self.parameters["flatten"]:
            raise ValueError(f"Concatenator: column '{name}' contains arrays of shape {column.shape[1:]}; flatten=True accepts arrays")
        if self.parameters["dtype"] is not None:
            require_range(name, column, self.parameters["dtype"])
        return column.reshape(len(column), math.prod(column.shape[1:]))
