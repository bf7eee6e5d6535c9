"""LightGBMCheckpoint: a checkpoint with one booster."""

import os
from typing import Any, Union

from .._results._checkpoint import Checkpoint
from .._results._model_checkpoint import ModelCheckpoint
from ._callback import RayTrainReportCallback
from ._library import lightgbm


class LightGBMCheckpoint(ModelCheckpoint):
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

    MODEL_FILENAME = RayTrainReportCallback.CHECKPOINT_NAME

    @classmethod
    def from_model(cls, booster: "lightgbm.Booster", *, preprocessor: Any = None,
                   path: Union[str, "os.PathLike[str]", None] = None) -> "LightGBMCheckpoint":
        """Returns a checkpoint with a booster.

        Parameters
        ----------
        booster : lightgbm.Booster
        preprocessor : Preprocessor, optional
            Fitted preprocessor that is stored with the model.
        path : str or path-like, optional
            Directory of the checkpoint. By default, it is temporary and removed with the returned object.
        """
        return cls._written(lambda folder: booster.save_model(os.path.join(folder, cls.MODEL_FILENAME)), preprocessor, path)

    def get_model(self) -> "lightgbm.Booster":
        """Returns the booster. Raises FileNotFoundError if the checkpoint has no file of a booster."""
        with self._file(self.MODEL_FILENAME) as path:
            return RayTrainReportCallback.get_model(Checkpoint(os.path.dirname(path)))
