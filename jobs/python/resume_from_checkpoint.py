"""A new run that starts from the checkpoint of another run, and other uses of a checkpoint after training."""

import os
import tempfile

import torch
from torch import nn

from trainrt import train
from trainrt.train import Checkpoint, RunConfig, ScalingConfig
from trainrt.train.torch import TorchTrainer


def train_func(config):
    torch.manual_seed(0)
    data, target = torch.randn(64, 4), torch.randn(64, 1)
    model = train.torch.prepare_model(nn.Linear(4, 1))
    module = getattr(model, "module", model)  # inside of DDP
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

    # The newest checkpoint of this run, or the one of resume_from_checkpoint
    checkpoint = train.get_checkpoint()
    if checkpoint:
        with checkpoint.as_directory() as checkpoint_dir:
            module.load_state_dict(torch.load(os.path.join(checkpoint_dir, "model.pt")))
            optimizer.load_state_dict(torch.load(os.path.join(checkpoint_dir, "optimizer.pt")))

    for epoch in range(config["num_epochs"]):
        loss = nn.functional.mse_loss(model(data), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with tempfile.TemporaryDirectory() as temp_checkpoint_dir:
            checkpoint = None
            if train.get_context().get_world_rank() == 0:
                torch.save(module.state_dict(), os.path.join(temp_checkpoint_dir, "model.pt"))
                torch.save(optimizer.state_dict(), os.path.join(temp_checkpoint_dir, "optimizer.pt"))
                checkpoint = Checkpoint.from_directory(temp_checkpoint_dir)
                checkpoint.update_metadata({"epoch": epoch})
            train.report({"loss": loss.item(), "features": train.get_context().get_metadata()["features"]}, checkpoint=checkpoint)


def fit(name, **arguments):
    return TorchTrainer(train_func, train_loop_config={"num_epochs": 3}, scaling_config=ScalingConfig(num_workers=2),
                        metadata={"features": 4}, run_config=RunConfig(name=name), **arguments).fit()


if __name__ == "__main__":
    result = fit("resume_first")
    print("metadata", result.checkpoint.get_metadata())  # metadata of the Trainer and of the worker that saved it

    with result.checkpoint.as_directory() as checkpoint_dir:  # for reading, without a copy
        print("weights", sorted(torch.load(os.path.join(checkpoint_dir, "model.pt"))))
    copied = result.checkpoint.to_directory(tempfile.mkdtemp())  # a copy to keep or change
    print("copied", sorted(name for name in os.listdir(copied) if name.endswith(".pt")))

    # Start a new run from a loaded checkpoint
    resumed = fit("resume_second", resume_from_checkpoint=result.checkpoint)
    print("continues", resumed.reports[0]["loss"] < result.metrics["loss"] < result.reports[0]["loss"])
