"""Module of Ray Tune that scripts import ConcurrencyLimiter from."""

from . import ConcurrencyLimiter

__all__ = ["ConcurrencyLimiter"]
