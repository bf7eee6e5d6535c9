"""RobustScaler: numbers less the median, by the range between two quantiles."""

from ._preprocessor import Scaling


class RobustScaler(Scaling):
    """Ray Data's: (x - median) / (high quantile - low quantile). The quantiles are exact, and between two values as NumPy's.
    stats_: low_quantile(COLUMN), median(COLUMN), high_quantile(COLUMN)."""

    def __init__(self, columns, quantile_range=(0.25, 0.75), output_columns=None):
        low, high = quantile_range
        if not 0 <= low < high <= 1:
            raise ValueError(f"RobustScaler(quantile_range={quantile_range!r}): two numbers from 0 to 1, of which the first is less")
        super().__init__(columns, output_columns, quantile_range=[float(low), float(high)])

    def scale(self, name):
        return self._stat("median", name), self._stat("high_quantile", name) - self._stat("low_quantile", name)
