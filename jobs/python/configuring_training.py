"""The config of a train function holds small values; large objects are created in the function. Also shows the result of fit().

    python3 configuring_training.py --lr 0.1
"""
import argparse
from pprint import pprint

import torch
from torch import nn

from trainrt import train
from trainrt.train import RunConfig, ScalingConfig
from trainrt.train.torch import TorchTrainer, prepare_model


def load_dataset():
    """A large in-memory dataset. It is not part of the config, which is sent to each worker."""
    draw = torch.Generator().manual_seed(train.get_context().get_world_rank())
    inputs = torch.randn(200, 4, generator=draw)
    return inputs, inputs.sum(dim=1, keepdim=True)


def load_model():
    return nn.Linear(4, 1)


def train_func(config):
    lr = config["lr"]
    num_epochs = config["num_epochs"]
    data, target = load_dataset()
    model = prepare_model(load_model())
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for epoch in range(num_epochs):
        loss = nn.functional.mse_loss(model(data), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        train.report({"epoch": epoch, "loss": loss.item()})


if __name__ == "__main__":
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--lr", type=float, default=0.1)
    arguments.add_argument("--num-epochs", type=int, default=10)
    config = vars(arguments.parse_args())
    scaling_config = ScalingConfig(num_workers=2, use_gpu=torch.cuda.is_available())
    run_config = RunConfig(storage_path="runs", name="configuring_training")  # a path that all nodes share

    trainer = TorchTrainer(train_func, train_loop_config=config, scaling_config=scaling_config, run_config=run_config)
    result = trainer.fit()

    pprint(result.metrics)  # the last report, with the time and the number of reports
    print("config", result.config)
    print("checkpoint", result.checkpoint)  # `None`, since this function reports no checkpoint
    print("path", result.path)
    print("error", result.error)
