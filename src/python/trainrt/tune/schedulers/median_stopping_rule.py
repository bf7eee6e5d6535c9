"""Module of Ray Tune that scripts import MedianStoppingRule from."""

from . import MedianStoppingRule

__all__ = ["MedianStoppingRule"]
