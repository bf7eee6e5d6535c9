"""Module of Ray Tune that scripts import ExperimentAnalysis from."""

from .._analysis import ExperimentAnalysis

__all__ = ["ExperimentAnalysis"]
