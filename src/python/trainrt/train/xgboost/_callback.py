"""RayTrainReportCallback of XGBoost."""

import os

from .._boosting import RoundReports
from ._library import xgboost


def _flat(evals_log):
    """{"train-logloss": the last value}; of xgboost.cv mean and deviation."""
    found = {}
    for data, metrics in evals_log.items():
        for metric, values in metrics.items():
            last = values[-1]
            if isinstance(last, tuple):
                found[f"{data}-{metric}-mean"], found[f"{data}-{metric}-std"] = last
            else:
                found[f"{data}-{metric}"] = last
    return found


class RayTrainReportCallback(xgboost.callback.TrainingCallback):
    """Ray Train's arguments (see RoundReports): metrics are named `train-logloss`; the model is `model.ubj` in the checkpoint."""

    CHECKPOINT_NAME = "model.ubj"

    def __init__(self, metrics=None, filename=CHECKPOINT_NAME, frequency=0, checkpoint_at_end=True, results_postprocessing_fn=None):
        super().__init__()
        self._reports = RoundReports(metrics, filename, frequency, checkpoint_at_end, results_postprocessing_fn)
        self._last = {}

    @classmethod
    def get_model(cls, checkpoint, filename=CHECKPOINT_NAME):
        """The Booster in a checkpoint that this callback has reported."""
        with checkpoint.as_directory() as folder:
            model = xgboost.Booster()
            model.load_model(os.path.join(folder, filename))
            return model

    def after_iteration(self, model, epoch, evals_log):
        self._last = _flat(evals_log)
        self._reports.round_done(_rounds(model) - 1, self._last, model.save_model)
        return False

    def after_training(self, model):
        self._reports.all_done(_rounds(model) - 1, self._last, model.save_model)
        return model


def _rounds(model):
    """Of all attempts. A model of xgboost.cv is several, with as many each."""
    models = getattr(model, "cvfolds", None)
    return (models[0].bst if models else model).num_boosted_rounds()
