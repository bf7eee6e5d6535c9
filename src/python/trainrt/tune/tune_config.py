"""Module of Ray Tune that scripts import TuneConfig from."""

from ._tune_config import TuneConfig

__all__ = ["TuneConfig"]
