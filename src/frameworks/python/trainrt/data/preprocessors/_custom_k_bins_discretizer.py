"""CustomKBinsDiscretizer: the number of a bin, between given edges."""

from ._binning import Binning


class CustomKBinsDiscretizer(Binning):
    """Ray Data's. bins: a list of edges, or {column: edges}."""

    def __init__(self, columns, bins, *, right=True, include_lowest=False, duplicates="raise", dtypes=None, output_columns=None):
        plain = {name: _floats(edges) for name, edges in bins.items()} if isinstance(bins, dict) else _floats(bins)
        super().__init__(columns, plain, right, include_lowest, duplicates, dtypes, output_columns)
        self._edges = {name: self._growing(self._of_column(plain, name)) for name in self.columns}

    def edges(self, name):
        return self._edges[name]


def _floats(edges):
    return [float(edge) for edge in edges]
