"""Ray Train's torch_linear_example: 2 workers learn y = 2 x + 5, and a checkpoint is a directory with the files of torch.save().

    python3 torch_linear.py                      # starts the workers
    srun trainrt -- python3 torch_linear.py      # runs on the workers of srun
"""
import os
import tempfile

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from trainrt import train
from trainrt.train import Checkpoint, CheckpointConfig, RunConfig, ScalingConfig
from trainrt.train.torch import TorchTrainer, prepare_data_loader, prepare_model


def line(a, b, size):
    x = torch.arange(0, 10, 10 / size).reshape(-1, 1)
    return TensorDataset(x, a * x + b)


def train_epoch(loader, model, loss_function, optimizer):
    for x, y in loader:
        optimizer.zero_grad()
        loss_function(model(x), y).backward()
        optimizer.step()


def validate(loader, model, loss_function):
    with torch.no_grad():
        return sum(loss_function(model(x), y).item() for x, y in loader) / len(loader)


def train_function(config):
    train_loader = prepare_data_loader(DataLoader(line(2, 5, 1000), batch_size=config["batch_size"], shuffle=True))
    validation_loader = prepare_data_loader(DataLoader(line(2, 5, 400), batch_size=config["batch_size"]))
    torch.manual_seed(0)  # seeds the initial weights
    model = prepare_model(nn.Linear(1, 1))
    module = getattr(model, "module", model)  # inside of DDP
    optimizer = torch.optim.SGD(model.parameters(), lr=config["lr"])
    first = 0
    if train.get_checkpoint():  # after a restart
        with train.get_checkpoint().as_directory() as folder:
            saved = torch.load(os.path.join(folder, "model.pt"))
        module.load_state_dict(saved["model"])
        first = saved["epoch"] + 1
    for epoch in range(first, config["epochs"]):
        train_loader.set_epoch(epoch)
        train_epoch(train_loader, model, nn.MSELoss(), optimizer)
        metrics = {"epoch": epoch, "loss": validate(validation_loader, model, nn.MSELoss())}
        with tempfile.TemporaryDirectory() as folder:
            checkpoint = None
            if train.get_context().get_world_rank() == 0:
                torch.save({"model": module.state_dict(), "epoch": epoch}, os.path.join(folder, "model.pt"))
                checkpoint = Checkpoint.from_directory(folder)
            train.report(metrics, checkpoint=checkpoint)


if __name__ == "__main__":
    result = TorchTrainer(
        train_function, train_loop_config={"lr": 1e-2, "batch_size": 4, "epochs": 8}, scaling_config=ScalingConfig(num_workers=2),
        run_config=RunConfig(name="torch_linear", checkpoint_config=CheckpointConfig(num_to_keep=2))).fit()
    print("last report:", result.metrics, "in", result.checkpoint.path)
