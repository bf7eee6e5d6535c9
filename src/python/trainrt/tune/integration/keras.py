"""Callback of Keras for trials."""

from ...train.keras import ReportCheckpointCallback
from ._deprecated import removed

__all__ = ["TuneReportCallback", "TuneReportCheckpointCallback"]


class TuneReportCheckpointCallback(ReportCheckpointCallback):
    """Reports the logs of Keras, and the model as a checkpoint. Its arguments are those of
    `trainrt.train.keras.ReportCheckpointCallback`.

    Examples
    --------
    >>> from trainrt.tune.integration.keras import TuneReportCheckpointCallback
    >>> callback = TuneReportCheckpointCallback(metrics={"mean_accuracy": "accuracy"}, checkpoint_on="train_end")
    """


TuneReportCallback = removed("TuneReportCallback", "trainrt.train.keras.ReportCheckpointCallback")
