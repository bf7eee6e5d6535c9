"""The discretizers: the number of the bin in which a number lies, as pandas.cut(labels=False)."""

from .._numpy import numpy
from ._preprocessor import Columnwise, numbers_of


class Binning(Columnwise):
    """i64; -1 for NaN, and what lies in no bin (Ray gives NaN)."""

    def __init__(self, columns, bins, right=True, include_lowest=False, duplicates="raise", dtypes=None, output_columns=None):
        if dtypes:
            raise ValueError(f"{type(self).__name__}(dtypes=...) is not offered: the bins' numbers are i64")
        if duplicates not in ("raise", "drop"):
            raise ValueError(f"{type(self).__name__}(duplicates={duplicates!r}): it must be 'raise' or 'drop'")
        super().__init__(columns, output_columns, bins=bins, right=right, include_lowest=include_lowest, duplicates=duplicates)

    def edges(self, name):
        raise NotImplementedError

    def convert(self, name, column):
        values, edges = numbers_of(type(self).__name__, name, column), self.edges(name)
        numbers = numpy.searchsorted(edges, values, "left" if self.parameters["right"] else "right")
        if self.parameters["include_lowest"]:
            numbers[values == edges[0]] = 1
        numbers[numpy.isnan(values) | (numbers == len(edges))] = 0
        return numbers.astype("i8") - 1

    def _growing(self, edges):
        edges = numpy.asarray(edges, "f8")
        if self.parameters["duplicates"] == "drop":
            edges = edges[numpy.append(True, edges[1:] != edges[:-1])]
        if edges.ndim != 1 or len(edges) < 2 or not (numpy.diff(edges) > 0).all():
            raise ValueError(f"{type(self).__name__}: the edges of bins must be two at least, and grow; duplicates='drop' leaves equal ones out")
        return edges

    def _of_column(self, bins, name):
        if isinstance(bins, dict) and name not in bins:
            raise ValueError(f"{type(self).__name__}: bins has nothing for the column '{name}'")
        return bins[name] if isinstance(bins, dict) else bins
