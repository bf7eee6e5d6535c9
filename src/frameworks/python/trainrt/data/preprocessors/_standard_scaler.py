"""StandardScaler: numbers of mean 0 and deviation 1."""

from ._preprocessor import Scaling


class StandardScaler(Scaling):
    """Ray Data's: (x - mean) / deviation, of the whole data; NaN count in neither. stats_: mean(COLUMN), std(COLUMN)."""

    def __init__(self, columns, output_columns=None):
        super().__init__(columns, output_columns)

    def scale(self, name):
        return self._stat("mean", name), self._stat("std", name)
