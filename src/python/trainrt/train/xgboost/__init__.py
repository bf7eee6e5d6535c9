"""Ray Train's names for XGBoost: the histograms of all ranks become one tree.

    def train_func():
        rows = xgboost.DMatrix(...)                                        # this rank's
        model, done = None, 0
        if train.get_checkpoint():                                         # after a restart
            model = RayTrainReportCallback.get_model(train.get_checkpoint())
            done = model.num_boosted_rounds()
        xgboost.train({"tree_method": "hist"}, rows, 100 - done, xgb_model=model, callbacks=[RayTrainReportCallback(frequency=10)])

    XGBoostTrainer(train_func, scaling_config=ScalingConfig(num_workers=2)).fit()

What was boosted since the last checkpoint is boosted again after a restart, to the same trees; but with
subsample, colsample and the like: XGBoost draws anew after a restart. The trainer's older form makes the same trees in any case, since it
begins anew at each checkpoint, stopped or not. Needs XGBoost 1.7 or later.
"""

from ._callback import RayTrainReportCallback
from ._trainer import XGBoostConfig, XGBoostTrainer

__all__ = ["RayTrainReportCallback", "XGBoostConfig", "XGBoostTrainer"]
