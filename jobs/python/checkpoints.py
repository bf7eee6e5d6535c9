"""Rank 0 saves a checkpoint after each epoch. A restart after a failure, a requeue or a stop continues from the newest one.

    python3 checkpoints.py                           # starts 2 ranks here, or by srun in an allocation
    srun -n2 trainrt -- python3 checkpoints.py       # or: one copy of the script on every rank
"""

import os
import tempfile

import torch
from torch import nn

import trainrt.train.torch
from trainrt import train
from trainrt.train import Checkpoint, CheckpointConfig, FailureConfig, RunConfig, ScalingConfig
from trainrt.train.torch import TorchTrainer


def train_func(config):
    torch.manual_seed(0)
    data, target = torch.randn(256, 10), torch.randn(256, 1)
    model = trainrt.train.torch.prepare_model(nn.Linear(10, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=config["lr"])

    start_epoch = 0
    checkpoint = train.get_checkpoint()
    if checkpoint:
        with checkpoint.as_directory() as folder:  # the folder in the run directory, without a copy
            saved = torch.load(os.path.join(folder, "checkpoint.pt"))
        getattr(model, "module", model).load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        start_epoch = saved["epoch"] + 1

    for epoch in range(start_epoch, config["epochs"]):
        loss = nn.functional.mse_loss(model(data), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with tempfile.TemporaryDirectory() as folder:
            checkpoint = None
            if train.get_context().get_world_rank() == 0:
                state = {"model": getattr(model, "module", model).state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}
                torch.save(state, os.path.join(folder, "checkpoint.pt"))
                checkpoint = Checkpoint.from_directory(folder)
            train.report({"loss": loss.item(), "epoch": epoch}, checkpoint=checkpoint)


if __name__ == "__main__":
    trainer = TorchTrainer(
        train_func,
        train_loop_config={"lr": 0.05, "epochs": 6},
        scaling_config=ScalingConfig(num_workers=2),
        run_config=RunConfig(name="checkpoints", storage_path=os.environ.get("STORAGE", "runs"),
                             checkpoint_config=CheckpointConfig(num_to_keep=2, checkpoint_score_attribute="loss", checkpoint_score_order="min"),
                             failure_config=FailureConfig(max_failures=3)),
    )
    result = trainer.fit()
    print("last", result.metrics["epoch"], "newest", os.path.relpath(result.checkpoint.path, result.path))
    for checkpoint, metrics in result.best_checkpoints:
        print("kept", metrics["epoch"], round(metrics["loss"], 4), sorted(os.listdir(checkpoint.path)))
