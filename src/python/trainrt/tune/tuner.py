"""Module of Ray Tune that scripts import Tuner from."""

from ._tuner import Tuner

__all__ = ["Tuner"]
