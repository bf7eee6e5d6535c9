"""Module of Ray Tune that scripts import TrialScheduler from."""

from . import FIFOScheduler, TrialScheduler

__all__ = ["FIFOScheduler", "TrialScheduler"]
