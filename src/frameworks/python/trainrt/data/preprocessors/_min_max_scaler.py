"""MinMaxScaler: numbers from 0 to 1."""

from ._preprocessor import Scaling


class MinMaxScaler(Scaling):
    """Ray Data's: (x - min) / (max - min). stats_: min(COLUMN), max(COLUMN)."""

    def __init__(self, columns, output_columns=None):
        super().__init__(columns, output_columns)

    def scale(self, name):
        return self._stat("min", name), self._stat("max", name) - self._stat("min", name)
