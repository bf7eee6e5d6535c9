"""Callback of LightGBM for trials."""

from ...train.lightgbm import RayTrainReportCallback
from ._deprecated import removed

__all__ = ["TuneReportCallback", "TuneReportCheckpointCallback"]


class TuneReportCheckpointCallback(RayTrainReportCallback):
    """Reports each round: its metrics, and the model as a checkpoint with the file `model.txt`. Its arguments are those of
    `trainrt.train.lightgbm.RayTrainReportCallback`.

    Examples
    --------
    >>> import lightgbm, numpy
    >>> from trainrt import train
    >>> from trainrt.tune.integration.lightgbm import TuneReportCheckpointCallback
    >>> rows = lightgbm.Dataset(numpy.arange(100.0).reshape(100, 1), numpy.arange(100.0))
    >>> _ = lightgbm.train({"verbosity": -1}, rows, 2, callbacks=[TuneReportCheckpointCallback(frequency=1)])
    >>> TuneReportCheckpointCallback.get_model(train.get_checkpoint()).current_iteration()
    2
    """


TuneReportCallback = removed("TuneReportCallback", "trainrt.tune.integration.lightgbm.TuneReportCheckpointCallback")
