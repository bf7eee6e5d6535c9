"""XGBoostCheckpoint: a checkpoint with one booster."""

from .._boosting._checkpoint import BoosterCheckpoint
from ._callback import RayTrainReportCallback


class XGBoostCheckpoint(BoosterCheckpoint):
    """A checkpoint with a booster in the file `model.ubj`, as RayTrainReportCallback reports it.

    Examples
    --------
    >>> import numpy, xgboost
    >>> from trainrt.train.xgboost import XGBoostCheckpoint
    >>> booster = xgboost.train({}, xgboost.DMatrix(numpy.arange(8.0).reshape(8, 1), label=numpy.arange(8.0)), 2)
    >>> XGBoostCheckpoint.from_model(booster).get_model().num_boosted_rounds()
    2
    """

    _callback = RayTrainReportCallback
    MODEL_FILENAME = RayTrainReportCallback.CHECKPOINT_NAME
