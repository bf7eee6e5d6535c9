"""Module of Ray Tune that scripts import Trial from."""

from ._trial import Trial

__all__ = ["Trial"]
