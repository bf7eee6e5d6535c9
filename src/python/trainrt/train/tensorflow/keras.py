"""Module of Ray Train that scripts import ReportCheckpointCallback from. The class is that of trainrt.train.keras, for Keras on any backend."""

from ..keras import ReportCheckpointCallback
from ._library import tensorflow

__all__ = ["ReportCheckpointCallback", "tensorflow"]
