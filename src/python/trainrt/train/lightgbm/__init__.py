"""Ray Train's names for LightGBM: the histograms of all ranks become one tree, over the collectives of the run.

    def train_func():
        rows = lightgbm.Dataset(...)                                       # this rank's
        found = train.get_checkpoint()                                     # after a restart
        model = RayTrainReportCallback.get_model(found) if found else None
        done = model.current_iteration() if model else 0
        lightgbm.train({"tree_learner": "data_parallel", **get_network_params()}, rows, 100 - done, init_model=model,
                       callbacks=[RayTrainReportCallback(frequency=10)])

    LightGBMTrainer(train_func, scaling_config=ScalingConfig(num_workers=2)).fit()

What was boosted since the last checkpoint is boosted again after a restart. The trees are as good as those of a run that was never
stopped, and not the same to the bit: LightGBM begins from the predictions of the saved model, which it sums in another order, and draws
bagging and features anew. The trainer's older form makes the same trees in any case, since it begins anew at each checkpoint, stopped or
not. Metrics are those of rank 0's rows. No port is opened. Needs LightGBM 4.0 or later.
"""

from ._callback import RayTrainReportCallback
from ._network import get_network_params
from ._trainer import LightGBMConfig, LightGBMTrainer

__all__ = ["LightGBMConfig", "LightGBMTrainer", "RayTrainReportCallback", "get_network_params"]
