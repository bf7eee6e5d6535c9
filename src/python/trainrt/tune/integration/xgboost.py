"""Callback of XGBoost for trials."""

from ...train.xgboost import RayTrainReportCallback
from ._deprecated import removed

__all__ = ["TuneReportCallback", "TuneReportCheckpointCallback"]


class TuneReportCheckpointCallback(RayTrainReportCallback):
    """Reports each round: its metrics, and the model as a checkpoint with the file `model.ubj`. Its arguments are those of
    `trainrt.train.xgboost.RayTrainReportCallback`.

    Examples
    --------
    >>> import numpy, xgboost
    >>> from trainrt import train
    >>> from trainrt.tune.integration.xgboost import TuneReportCheckpointCallback
    >>> rows = xgboost.DMatrix(numpy.arange(8.0).reshape(8, 1), label=numpy.arange(8.0))
    >>> callback = TuneReportCheckpointCallback({"loss": "train-rmse"}, frequency=1)
    >>> _ = xgboost.train({}, rows, 2, evals=[(rows, "train")], verbose_eval=False, callbacks=[callback])
    >>> TuneReportCheckpointCallback.get_model(train.get_checkpoint()).num_boosted_rounds()
    2
    """


TuneReportCallback = removed("TuneReportCallback", "trainrt.tune.integration.xgboost.TuneReportCheckpointCallback")
