"""An interrupted run resumes when the script is started again: can_restore() and restore().

    python3 restore_experiment.py --num-epochs 100       # kill it, and run the same command again
"""
import argparse
import os
import tempfile

import torch
from torch import nn

from trainrt import train
from trainrt.train import Checkpoint, CheckpointConfig, RunConfig, ScalingConfig
from trainrt.train.torch import TorchTrainer, prepare_model


def train_func(config):
    torch.manual_seed(0)
    data, target = torch.randn(64, 4), torch.randn(64, 1)
    model = prepare_model(nn.Linear(4, 1))
    module = getattr(model, "module", model)  # inside of DDP
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

    start_epoch = 0
    checkpoint = train.get_checkpoint()
    if checkpoint:
        with checkpoint.as_directory() as checkpoint_dir:
            saved = torch.load(os.path.join(checkpoint_dir, "checkpoint.pt"))
        module.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        start_epoch = saved["epoch"] + 1

    for epoch in range(start_epoch, config["num_epochs"]):
        loss = nn.functional.mse_loss(model(data), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with tempfile.TemporaryDirectory() as temp_checkpoint_dir:
            checkpoint = None
            if train.get_context().get_world_rank() == 0:
                torch.save({"model": module.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch},
                           os.path.join(temp_checkpoint_dir, "checkpoint.pt"))
                checkpoint = Checkpoint.from_directory(temp_checkpoint_dir)
            train.report({"epoch": epoch, "loss": loss.item()}, checkpoint=checkpoint)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--num-epochs", type=int, default=20)
    config = vars(arguments.parse_args())
    storage_path, name = os.environ.get("STORAGE", "runs"), "restore_experiment"

    experiment_path = os.path.join(storage_path, name)
    if TorchTrainer.can_restore(experiment_path):  # restores the number of workers and the config
        print("restored", experiment_path)
        trainer = TorchTrainer.restore(experiment_path, train_loop_per_worker=train_func)
    else:
        trainer = TorchTrainer(train_func, train_loop_config=config, scaling_config=ScalingConfig(num_workers=2),
                               run_config=RunConfig(name=name, storage_path=storage_path,
                                                    checkpoint_config=CheckpointConfig(num_to_keep=2)))
    result = trainer.fit()
    print("epochs", [int(report["epoch"]) for report in result.reports] == list(range(len(result.reports))), len(result.reports))
    print("loss", result.metrics["loss"])
