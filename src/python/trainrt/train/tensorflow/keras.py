"""Ray Train's callback for Keras at its place: trainrt.train.keras has it, for Keras on any backend."""

from ..keras import ReportCheckpointCallback
from ._library import tensorflow

__all__ = ["ReportCheckpointCallback", "tensorflow"]
