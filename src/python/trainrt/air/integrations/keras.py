"""ReportCheckpointCallback, at its older place."""

from ...train.tensorflow.keras import ReportCheckpointCallback

__all__ = ["ReportCheckpointCallback"]
