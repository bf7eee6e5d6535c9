"""Module of Ray Tune that scripts import HyperBandScheduler from."""

from . import HyperBandScheduler

__all__ = ["HyperBandScheduler"]
