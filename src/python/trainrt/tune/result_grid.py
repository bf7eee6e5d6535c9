"""Module of Ray Tune that scripts import ResultGrid from."""

from ._results import ResultGrid

__all__ = ["ResultGrid"]
