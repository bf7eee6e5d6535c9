"""Trials and experiments of Ray Tune."""

from ..._ray_names import names_of
from .._experiment import Experiment
from .._trial import Trial

__getattr__ = names_of(__name__)
__all__ = ["Experiment", "Trial"]
