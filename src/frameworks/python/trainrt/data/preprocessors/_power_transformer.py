"""PowerTransformer: numbers that are more like normal ones, by a power."""

import math

from .._numpy import numpy
from ._preprocessor import Columnwise, as_real, numbers_of


class PowerTransformer(Columnwise):
    """Ray Data's: the transform of Yeo and Johnson, or of Box and Cox, with this power. Computed number by number by the C library, as in C++:
    NumPy's own power() may differ in the last bit."""

    def __init__(self, columns, power, method="yeo-johnson", *, output_columns=None):
        if method not in ("yeo-johnson", "box-cox"):
            raise ValueError(f"PowerTransformer(method={method!r}): it must be 'yeo-johnson' or 'box-cox'")
        super().__init__(columns, output_columns, power=float(power), method=method)

    def convert(self, name, column):
        values, power = numbers_of("PowerTransformer", name, column), self.parameters["power"]
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
    """As C's, where Python raises."""
    try:
        return math.pow(value, power)
    except OverflowError:
        return -math.inf if value < 0 and power % 2 == 1 else math.inf
    except ValueError:
        return math.inf if value == 0 else math.nan
