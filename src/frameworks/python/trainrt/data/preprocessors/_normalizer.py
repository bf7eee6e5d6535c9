"""Normalizer: the numbers of a sample by their norm."""

from .._numpy import numpy
from ._preprocessor import Columnwise, as_real, numbers_of, taken


class Normalizer(Columnwise):
    """Ray Data's, over the columns of a sample: norm = "l1", "l2" or "max". Zeros stay zeros, as scikit-learn's; Ray gives NaN."""

    def __init__(self, columns, norm="l2", *, output_columns=None):
        if norm not in ("l1", "l2", "max"):
            raise ValueError(f"Normalizer(norm={norm!r}): it must be 'l1', 'l2' or 'max'")
        super().__init__(columns, output_columns, norm=norm)

    def transform_columns(self, columns):
        own = [taken("Normalizer", name, columns) for name in self.columns]
        values = [numbers_of("Normalizer", name, column) for name, column in zip(self.columns, own)]
        norms = numpy.zeros(len(values[0]))
        for each in values:  # one after the other: the same bits as in C++
            if self.parameters["norm"] == "l2":
                norms += each * each
            elif self.parameters["norm"] == "l1":
                norms += numpy.abs(each)
            else:
                norms = numpy.maximum(norms, numpy.abs(each))
        if self.parameters["norm"] == "l2":
            norms = numpy.sqrt(norms)
        norms[norms == 0] = 1
        return {**columns, **{output: as_real(each / norms, column) for output, each, column in zip(self.output_columns, values, own)}}
