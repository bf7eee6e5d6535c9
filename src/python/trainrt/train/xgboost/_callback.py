"""RayTrainReportCallback of XGBoost."""

import os
from typing import Any

from .._boosting._reports import Metrics, Postprocess, RoundReports
from .._results._checkpoint import Checkpoint
from ._library import xgboost


class RayTrainReportCallback(xgboost.callback.TrainingCallback):
    """Reports each round: metrics such as `train-logloss`, and the model as a checkpoint with the file `model.ubj`.

    Parameters
    ----------
    metrics : str, list of str or dict, optional
        XGBoost's names of the metrics to report, or {reported name: XGBoost's name}. Default: all.
    filename : str, default 'model.ubj'
        Name of the model's file.
    frequency : int, default 0
        Rounds per checkpoint; 0 saves no checkpoint before the last round.
    checkpoint_at_end : bool, default True
        Whether the last round has a checkpoint.
    results_postprocessing_fn : callable, optional
        Returns the metrics to report, given the chosen ones.

    Raises
    ------
    ValueError
        If `frequency` or `filename` is invalid.

    Examples
    --------
    >>> import numpy, xgboost
    >>> from trainrt import train
    >>> from trainrt.train.xgboost import RayTrainReportCallback
    >>> rows = xgboost.DMatrix(numpy.arange(8.0).reshape(8, 1), label=numpy.arange(8.0))
    >>> _ = xgboost.train({}, rows, 2, callbacks=[RayTrainReportCallback()])
    >>> RayTrainReportCallback.get_model(train.get_checkpoint()).num_boosted_rounds()
    2
    """

    CHECKPOINT_NAME = "model.ubj"

    def __init__(self, metrics: Metrics = None, filename: str = CHECKPOINT_NAME, frequency: int = 0, checkpoint_at_end: bool = True,
                 results_postprocessing_fn: Postprocess = None):
        super().__init__()
        self._reports = RoundReports(metrics, filename, frequency, checkpoint_at_end, results_postprocessing_fn)
        self._last: dict[str, Any] = {}

    @classmethod
    def get_model(cls, checkpoint: Checkpoint, filename: str = CHECKPOINT_NAME) -> "xgboost.Booster":
        """Returns the model in a checkpoint that this callback reported."""
        with checkpoint.as_directory() as folder:
            model = xgboost.Booster()
            model.load_model(os.path.join(folder, filename))
            return model

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        self._last = _flat(evals_log)
        self._reports.round_done(_rounds(model) - 1, self._last, model.save_model)
        return False

    def after_training(self, model: Any) -> Any:
        self._reports.all_done(_rounds(model) - 1, self._last, model.save_model)
        return model


def _flat(evals_log):
    """Returns the metrics as {name: last value}, with names such as 'train-logloss'. With xgboost.cv(), the names are 'train-logloss-mean' and
    'train-logloss-std'."""
    found = {}
    for data, metrics in evals_log.items():
        for metric, values in metrics.items():
            last = values[-1]
            if isinstance(last, tuple):
                found[f"{data}-{metric}-mean"], found[f"{data}-{metric}-std"] = last
            else:
                found[f"{data}-{metric}"] = last
    return found


def _rounds(model):
    """Returns the number of boosting rounds of `model` over all attempts. The `model` of xgboost.cv() contains several models with equal numbers of
    rounds."""
    models = getattr(model, "cvfolds", None)
    return (models[0].bst if models else model).num_boosted_rounds()
