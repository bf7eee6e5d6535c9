"""Ray Train's guide for LightGBM: a train function that calls LightGBM on its worker's rows. Saves the model every 5 rounds.

    python3 lightgbm_quick_start.py                      # starts the workers
    srun trainrt -- python3 lightgbm_quick_start.py      # runs on the workers of srun
"""
import lightgbm
import numpy as np

import trainrt
from trainrt import train
from trainrt.train import CheckpointConfig, RunConfig, ScalingConfig
from trainrt.train.lightgbm import LightGBMTrainer, RayTrainReportCallback, get_network_params

ROUNDS = 40


def table(count):
    values = np.random.default_rng(1).normal(size=(count, 4)).astype("float32")
    return {**{f"x{i}": values[:, i] for i in range(4)}, "y": values[:, 0] * values[:, 1]}


def train_func():
    columns = train.get_dataset_shard("train").materialize().take_batch(10**9)
    labels = columns.pop("y")
    rows = lightgbm.Dataset(np.column_stack(list(columns.values())), labels)
    # With get_network_params(), LightGBM sums over all workers by the run's collectives. Training starts with the trees of the last checkpoint.
    checkpoint = train.get_checkpoint()
    before = RayTrainReportCallback.get_model(checkpoint) if checkpoint else None
    rounds = ROUNDS - (before.current_iteration() if before else 0)
    params = {"objective": "regression", "metric": "rmse", "tree_learner": "data_parallel", "num_threads": 1, "verbosity": -1, **get_network_params()}
    lightgbm.train(params, rows, rounds, valid_sets=[rows], valid_names=["train"], init_model=before,
                   callbacks=[RayTrainReportCallback(metrics={"loss": "train-rmse"}, frequency=5)])


if __name__ == "__main__":
    result = LightGBMTrainer(train_func, datasets={"train": trainrt.data.from_numpy(table(2000))}, scaling_config=ScalingConfig(num_workers=2),
                            run_config=RunConfig(name="lightgbm_quick_start", checkpoint_config=CheckpointConfig(num_to_keep=2))).fit()
    print("last report:", result.metrics)
