"""RayTrainReportCallback of LightGBM."""

import os
from typing import Any

from .._boosting._reports import Metrics, Postprocess, RoundReports
from .._results._checkpoint import Checkpoint
from ._library import lightgbm


class RayTrainReportCallback:
    """Reports each round: metrics such as `train-binary_logloss`, and the model as a checkpoint with the file `model.txt`.

    Parameters
    ----------
    metrics : str, list of str or dict, optional
        Names of the metrics to report, or {reported name: LightGBM's name}. Default: all.
    filename : str, default 'model.txt'
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
    >>> import lightgbm, numpy
    >>> from trainrt import train
    >>> from trainrt.train.lightgbm import RayTrainReportCallback
    >>> rows = lightgbm.Dataset(numpy.arange(100.0).reshape(100, 1), numpy.arange(100.0))
    >>> _ = lightgbm.train({"verbosity": -1}, rows, 2, callbacks=[RayTrainReportCallback()])
    >>> RayTrainReportCallback.get_model(train.get_checkpoint()).current_iteration()
    2
    """

    CHECKPOINT_NAME = "model.txt"
    order = 30  # LightGBM calls callbacks by their order: after those that may stop the training

    def __init__(self, metrics: Metrics = None, filename: str = CHECKPOINT_NAME, frequency: int = 0, checkpoint_at_end: bool = True,
                 results_postprocessing_fn: Postprocess = None):
        self._reports = RoundReports(metrics, filename, frequency, checkpoint_at_end, results_postprocessing_fn)

    @classmethod
    def get_model(cls, checkpoint: Checkpoint, filename: str = CHECKPOINT_NAME) -> "lightgbm.Booster":
        """Returns the model in a checkpoint that this callback reported."""
        with checkpoint.as_directory() as folder:
            return lightgbm.Booster(model_file=os.path.join(folder, filename))

    def __call__(self, env: Any) -> None:
        found, number = _flat(env.evaluation_result_list), env.iteration
        self._reports.round_done(number, found, env.model.save_model)
        if number == env.end_iteration - 1:
            self._reports.all_done(number, found, env.model.save_model)


def _flat(results):
    """Returns the metrics as {name: value}, with names such as 'train-binary_logloss'. With lightgbm.cv(), the names also end in '-mean' or '-stdv'.

    `results`: tuples (data, metric, value, whether higher is better[, deviation]), or `None`.
    """
    found = {}
    for data, metric, value, _, *deviation in results or ():
        if deviation:
            found[f"{data}-{metric}-mean"], found[f"{data}-{metric}-stdv"] = value, deviation[0]
        else:
            found[f"{data}-{metric}"] = value
    return found
