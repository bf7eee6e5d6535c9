"""MaxAbsScaler: numbers by the largest absolute one."""

from ._preprocessor import Scaling


class MaxAbsScaler(Scaling):
    """Ray Data's: x / max |x|. stats_: abs_max(COLUMN)."""

    def __init__(self, columns, output_columns=None):
        super().__init__(columns, output_columns)

    def scale(self, name):
        return 0.0, self._stat("abs_max", name)
