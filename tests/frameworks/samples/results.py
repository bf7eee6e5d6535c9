# limit: 60; make test
"""Each rank reports a file of the same name, as in the first PyTorch sample; the metrics of the Result are those of Ray."""
import os
import tempfile

import torch
from trainrt import train
from trainrt.train import Checkpoint, RunConfig, ScalingConfig
from trainrt.train.torch import TorchTrainer

NAMES = ("config", "date", "done", "hostname", "iterations_since_restore", "node_ip", "pid", "should_checkpoint", "time_since_restore",
         "time_this_iter_s", "time_total_s", "timestamp", "training_iteration", "trial_id", "warmup_time")


def train_func(config):
    for epoch in range(2):
        with tempfile.TemporaryDirectory() as folder:
            torch.save({"rank": torch.tensor(train.get_context().get_world_rank())}, os.path.join(folder, "model.pt"))
            train.report({"loss": config["lr"] / (epoch + 1)}, checkpoint=Checkpoint.from_directory(folder))


result = TorchTrainer(train_func, train_loop_config={"lr": 0.5}, scaling_config=ScalingConfig(num_workers=2), run_config=RunConfig(name="results")).fit()
missing = [name for name in NAMES if name not in result.metrics]
assert not missing, f"metrics that the result lacks: {missing}"
assert result.metrics["config"] == {"lr": 0.5} and result.metrics["training_iteration"] == 2, result.metrics
with result.checkpoint.as_directory() as folder:
    assert int(torch.load(os.path.join(folder, "model.pt"))["rank"]) == 0
print("ok")
