"""NumPy implementations of the preprocessors of numbers, for use without the runtime. The classes of the module _generated derive from these classes. Results
are bit-identical to those of the C++ implementation, except that discretizers give NaN, and not -1, for missing values and numbers outside all bins."""

import math

from .._values._categories import Categorical, Categories
from .._values._numpy import numpy
from ._columnwise import Columnwise, with_nan
from ._fit import columns_here
from ._learn import exact_mean, most_frequent
from ._parameters import checked_bins
from ._preprocessor import taken
from ._values import as_real, edges_of, numbers_of


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
        spread = self._stat("high_quantile", name) - self._stat("low_quantile", name)
        return self._stat("median", name), spread if spread != 0 else math.inf  # an infinite divisor makes all results 0


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

    needs_fit = True

    def _prepare(self):
        self.needs_fit = self._is_fittable = self.parameters["strategy"] != "constant"
        if self.needs_fit:
            self.parameters["fill_value"] = None
        elif self.parameters["fill_value"] is None:
            raise ValueError('`fill_value` must be set when using "constant" strategy. SimpleImputer: fill_value is None')

    def _fit(self, ds):
        """Fit as Ray does: if all values of a column are missing, only the transformation is an error. The runtime refuses such a fit; this process then
        computes the statistics."""
        try:
            super()._fit(ds)
        except ValueError as error:
            if "has no fill value" not in str(error):
                raise
            self._take_stats(self._learn(columns_here(ds, self.columns)))

    def _learn(self, columns):
        if self.parameters["strategy"] == "mean":
            return {f"mean({name})": exact_mean(numbers_of(self._kind, name, column)) for name, column in columns.items()}
        return {f"most_frequent({name})": most_frequent(column) for name, column in columns.items()}

    def _taken(self, name, columns):
        if name in columns or not columns:
            return taken(self._kind, name, columns)
        fill = self._fill_of(name)  # a missing column is filled
        return numpy.full(len(next(iter(columns.values()))), None if isinstance(fill, str) else math.nan)

    def _fill_of(self, name):
        fill = self._stats[f"{self.parameters['strategy']}({name})"] if self.needs_fit else self.parameters["fill_value"]
        if fill is None:
            raise ValueError(f"Column {name} has no fill value. Check the data used to fit the SimpleImputer: all values were missing")
        return fill

    def convert(self, name, column):
        fill = self._fill_of(name)
        if isinstance(column, Categorical):
            filled = numpy.array([fill if value is None or value != value else value for value in column], column.dtype)
            return Categorical.of(filled, column.known._replace(values=list(dict.fromkeys([*column.known.values, fill]))))
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


class Binning(Columnwise):
    """Base class of discretizers, which return the number of a value's bin, like pandas.cut(labels=False). NaN and values outside all bins get NaN."""

    _edges: dict

    def convert(self, name, column):
        values, edges = self.numbers_of(name, column), self._edges[name]
        numbers = numpy.searchsorted(edges, values, "left" if self.parameters["right"] else "right")
        if self.parameters["include_lowest"]:
            numbers[values == edges[0]] = 1
        numbers[numpy.isnan(values) | (numbers == len(edges))] = 0
        labels = getattr((self.dtypes or {}).get(name), "categories", None)
        if labels is not None:
            return Categorical.of(numbers.astype("i8") - 1, Categories(labels.tolist(), bool(self.dtypes[name].ordered), are_codes=True))
        return with_nan(numbers.astype("i8") - 1)

    def _increasing(self, edges):
        edges = numpy.asarray(edges, "f8")
        if self.parameters["duplicates"] == "drop":
            edges = edges[numpy.append(True, edges[1:] != edges[:-1])]
        if edges.ndim != 1 or len(edges) < 2 or not (numpy.diff(edges) > 0).all():
            raise ValueError(f"{self._kind}: bins must increase monotonically: the edges must be two or more strictly increasing numbers; "
                             f"duplicates='drop' removes equal ones")
        return edges

    def _bins_of(self, name):
        bins = self.parameters["bins"]
        if isinstance(bins, dict) and name not in bins:
            raise ValueError(f"If `bins` is a dictionary, all elements of `columns` must be present in it. {self._kind}: bins has no value for the column "
                             f"'{name}'")
        return bins[name] if isinstance(bins, dict) else bins


class UniformKBinsDiscretizer(Binning):
    needs_fit = True

    def _for_json(self, given):
        return {**given, "bins": given["bins"] if checked_bins(given["bins"]) else 1}

    def _check_fit(self):
        if not checked_bins(self._given["bins"]):
            raise TypeError(f"`bins` must be an integer or a dict of integers, got {self._given['bins']}")
        for name in self.columns:
            self._bins_of(name)

    def _shown_stats(self):
        """Returns {COLUMN: edges of the bins}."""
        return {name: edges.copy() for name, edges in self._edges.items()}

    def _use_stats(self):
        self._edges = {name: self._increasing(self._stats[name]) for name in self.columns}


class CustomKBinsDiscretizer(Binning):
    def _for_json(self, given):
        """Return the arguments with the edges of a pandas.IntervalIndex as a list."""
        bins = given["bins"]
        return {**given, "bins": {name: edges_of(each) for name, each in bins.items()} if isinstance(bins, dict) else edges_of(bins)}

    def _prepare(self):
        edges = {name: self._bins_of(name) for name in self.columns}
        self._edges = {name: self._increasing([float(edge) for edge in (each.split(",") if isinstance(each, str) else each)])
                       for name, each in edges.items()}
