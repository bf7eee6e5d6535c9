"""XGBoostCheckpoint: a checkpoint with one booster."""

import os
from typing import Any, Union

from .._results._checkpoint import Checkpoint
from .._results._model_checkpoint import ModelCheckpoint
from ._callback import RayTrainReportCallback
from ._library import xgboost


class XGBoostCheckpoint(ModelCheckpoint):
    """A checkpoint with a booster in the file `model.ubj`, as RayTrainReportCallback reports it.

    Examples
    --------
    >>> import numpy, xgboost
    >>> from trainrt.train.xgboost import XGBoostCheckpoint
    >>> booster = xgboost.train({}, xgboost.DMatrix(numpy.arange(8.0).reshape(8, 1), label=numpy.arange(8.0)), 2)
    >>> XGBoostCheckpoint.from_model(booster).get_model().num_boosted_rounds()
    2
    """

    MODEL_FILENAME = RayTrainReportCallback.CHECKPOINT_NAME

    @classmethod
    def from_model(cls, booster: "xgboost.Booster", *, preprocessor: Any = None,
                   path: Union[str, "os.PathLike[str]", None] = None) -> "XGBoostCheckpoint":
        """Returns a checkpoint with a booster.

        Parameters
        ----------
        booster : xgboost.Booster
        preprocessor : Preprocessor, optional
            Fitted preprocessor that is stored with the model.
        path : str or path-like, optional
            Directory of the checkpoint. By default, it is temporary and removed with the returned object.
        """
        return cls._written(lambda folder: booster.save_model(os.path.join(folder, cls.MODEL_FILENAME)), preprocessor, path)

    def get_model(self) -> "xgboost.Booster":
        """Returns the booster. Raises FileNotFoundError if the checkpoint has no file `model.ubj`."""
        with self._file(self.MODEL_FILENAME) as path:
            return RayTrainReportCallback.get_model(Checkpoint(os.path.dirname(path)))
