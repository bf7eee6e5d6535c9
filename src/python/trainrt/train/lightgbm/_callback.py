"""RayTrainReportCallback of LightGBM."""

import os

from .._boosting import RoundReports
from ._library import lightgbm


def _flat(results):
    """{"train-binary_logloss": value}; of lightgbm.cv mean and deviation. `results`: (data, metric, value, is better higher[, deviation])."""
    found = {}
    for data, metric, value, _, *deviation in results or ():
        if deviation:
            found[f"{data}-{metric}-mean"], found[f"{data}-{metric}-stdv"] = value, deviation[0]
        else:
            found[f"{data}-{metric}"] = value
    return found


class RayTrainReportCallback:
    """Ray Train's arguments (see RoundReports): metrics are named `train-binary_logloss`; the model is `model.txt` in the checkpoint."""

    CHECKPOINT_NAME = "model.txt"
    order = 30  # behind those that may end the training

    def __init__(self, metrics=None, filename=CHECKPOINT_NAME, frequency=0, checkpoint_at_end=True, results_postprocessing_fn=None):
        self._reports = RoundReports(metrics, filename, frequency, checkpoint_at_end, results_postprocessing_fn)

    @classmethod
    def get_model(cls, checkpoint, filename=CHECKPOINT_NAME):
        """The Booster in a checkpoint that this callback has reported."""
        with checkpoint.as_directory() as folder:
            return lightgbm.Booster(model_file=os.path.join(folder, filename))

    def __call__(self, env):
        found, number = _flat(env.evaluation_result_list), env.iteration
        self._reports.round_done(number, found, env.model.save_model)
        if number == env.end_iteration - 1:
            self._reports.all_done(number, found, env.model.save_model)
