"""Module of Ray Tune that scripts import PopulationBasedTraining from."""

from . import PopulationBasedTraining

__all__ = ["PopulationBasedTraining"]
