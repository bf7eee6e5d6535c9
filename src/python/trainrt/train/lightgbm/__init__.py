"""LightGBM on the ranks of a run: the collectives of the run sum the histograms of all ranks. With Ray Train's names. Needs LightGBM 4.0 or later.

    def train_func():
        rows = lightgbm.Dataset(...)                                       # rows of this rank
        found = train.get_checkpoint()                                     # after a restart
        model = RayTrainReportCallback.get_model(found) if found else None
        done = model.current_iteration() if model else 0
        lightgbm.train({"tree_learner": "data_parallel", **get_network_params()}, rows, 100 - done, init_model=model,
                       callbacks=[RayTrainReportCallback(frequency=10)])

    LightGBMTrainer(train_func, scaling_config=ScalingConfig(num_workers=2)).fit()

After a restart, the rounds since the last checkpoint are computed again. The trees have the same quality as those of a run without a restart, and not the
same bits: LightGBM starts from the sum of the saved model's predictions, in another order, and draws new random numbers for bagging and features. The
trainer's older form, with `params` and `datasets`, computes the same trees in any case. Metrics are those of rank 0's rows. No port is opened.
"""

from ..._ray_names import names_of
from ._callback import RayTrainReportCallback
from ._checkpoint import LightGBMCheckpoint
from ._network import get_network_params
from ._trainer import LightGBMConfig, LightGBMTrainer

__all__ = ["LightGBMCheckpoint", "LightGBMConfig", "LightGBMTrainer", "RayTrainReportCallback", "get_network_params"]
__getattr__ = names_of(__name__)
