"""Module of Ray Tune that scripts import Searcher from."""

from . import Searcher

__all__ = ["Searcher"]
