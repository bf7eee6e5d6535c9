"""LightGBMCheckpoint: a checkpoint with one booster."""

from .._boosting._checkpoint import BoosterCheckpoint
from ._callback import RayTrainReportCallback


class LightGBMCheckpoint(BoosterCheckpoint):
    """A checkpoint with a booster in LightGBM's text format, as RayTrainReportCallback reports it.

    Examples
    --------
    >>> import lightgbm, numpy
    >>> from trainrt.train.lightgbm import LightGBMCheckpoint
    >>> rows = lightgbm.Dataset(numpy.arange(64.0).reshape(64, 1), label=numpy.arange(64.0))
    >>> booster = lightgbm.train({"verbose": -1, "min_data_in_leaf": 2}, rows, 2)
    >>> LightGBMCheckpoint.from_model(booster).get_model().num_trees()
    2
    """

    _callback = RayTrainReportCallback
    MODEL_FILENAME = RayTrainReportCallback.CHECKPOINT_NAME
