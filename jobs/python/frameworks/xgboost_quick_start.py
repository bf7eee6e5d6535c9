"""Ray Train's guide for XGBoost: a train function that calls XGBoost on its worker's rows. Saves the model every 5 rounds.

    python3 xgboost_quick_start.py                      # starts the workers
    srun trainrt -- python3 xgboost_quick_start.py      # runs on the workers of srun
"""
import numpy as np
import xgboost

import trainrt
from trainrt import train
from trainrt.train import CheckpointConfig, RunConfig, ScalingConfig
from trainrt.train.xgboost import RayTrainReportCallback, XGBoostTrainer

ROUNDS = 40


def table(count):
    values = np.random.default_rng(1).normal(size=(count, 4)).astype("float32")
    return {**{f"x{i}": values[:, i] for i in range(4)}, "y": values[:, 0] * values[:, 1]}


def train_func():
    columns = train.get_dataset_shard("train").materialize().take_batch(10**9)
    labels = columns.pop("y")
    rows = xgboost.DMatrix(np.column_stack(list(columns.values())), label=labels)
    # XGBoost sums over all workers; each worker starts with the trees of the last checkpoint.
    checkpoint = train.get_checkpoint()
    before = RayTrainReportCallback.get_model(checkpoint) if checkpoint else None
    rounds = ROUNDS - (before.num_boosted_rounds() if before else 0)
    params = {"objective": "reg:squarederror", "tree_method": "hist", "max_depth": 4, "nthread": 1}
    xgboost.train(params, rows, rounds, evals=[(rows, "train")], xgb_model=before, verbose_eval=False,
                  callbacks=[RayTrainReportCallback(metrics={"loss": "train-rmse"}, frequency=5)])


if __name__ == "__main__":
    result = XGBoostTrainer(train_func, datasets={"train": trainrt.data.from_numpy(table(2000))}, scaling_config=ScalingConfig(num_workers=2),
                            run_config=RunConfig(name="xgboost_quick_start", checkpoint_config=CheckpointConfig(num_to_keep=2))).fit()
    print("last report:", result.metrics)
