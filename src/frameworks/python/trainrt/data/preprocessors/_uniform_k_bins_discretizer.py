"""UniformKBinsDiscretizer: the number of a bin, of equally wide ones."""

from ._binning import Binning


class UniformKBinsDiscretizer(Binning):
    """Ray Data's. bins: how many, or {column: how many}. stats_: {COLUMN: the edges}."""

    learns = True

    def __init__(self, columns, bins, *, right=True, include_lowest=False, duplicates="raise", dtypes=None, output_columns=None):
        super().__init__(columns, bins, right, include_lowest, duplicates, dtypes, output_columns)
        for name in self.columns:
            count = self._of_column(bins, name)
            if isinstance(count, bool) or not isinstance(count, int) or count < 1:
                raise ValueError(f"UniformKBinsDiscretizer(bins={bins!r}): it must be whole numbers, from 1 on")

    def _use_stats(self):
        self._edges = {name: self._growing(self._stats[name]) for name in self.columns}

    def edges(self, name):
        return self._edges[name]
