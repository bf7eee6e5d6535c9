"""Module of Ray Tune that scripts import ASHAScheduler from."""

from . import ASHAScheduler, AsyncHyperBandScheduler

__all__ = ["ASHAScheduler", "AsyncHyperBandScheduler"]
