"""XGBoost on the ranks of a run: the histograms of all ranks are summed for each tree. With Ray Train's names. Needs XGBoost 1.7 or later.

    def train_func():
        rows = xgboost.DMatrix(...)                                        # rows of this rank
        model, done = None, 0
        if train.get_checkpoint():                                         # after a restart
            model = RayTrainReportCallback.get_model(train.get_checkpoint())
            done = model.num_boosted_rounds()
        xgboost.train({"tree_method": "hist"}, rows, 100 - done, xgb_model=model, callbacks=[RayTrainReportCallback(frequency=10)])

    XGBoostTrainer(train_func, scaling_config=ScalingConfig(num_workers=2)).fit()

After a restart, the rounds since the last checkpoint are computed again, with the same trees. With `subsample`, `colsample` and similar parameters a
train function gets other trees after a restart, since XGBoost draws new random numbers. The trainer's older form, with `params` and `datasets`,
computes the same trees in any case.
"""

from ..._ray_names import names_of
from ._callback import RayTrainReportCallback
from ._checkpoint import XGBoostCheckpoint
from ._trainer import XGBoostConfig, XGBoostTrainer

__all__ = ["RayTrainReportCallback", "XGBoostCheckpoint", "XGBoostConfig", "XGBoostTrainer"]
__getattr__ = names_of(__name__)
