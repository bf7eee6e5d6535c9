"""ReportCheckpointCallback under its older module name."""

from ...train.tensorflow.keras import ReportCheckpointCallback

__all__ = ["ReportCheckpointCallback"]
