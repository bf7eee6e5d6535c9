"""Ray Train's guide for Horovod: a HorovodTrainer whose function calls Horovod.

    python3 horovod_quick_start.py                      # starts the workers
    srun trainrt -- python3 horovod_quick_start.py      # runs on the workers of srun
"""
import os
import tempfile

import horovod.torch as hvd
import torch
from torch import nn

from trainrt import train
from trainrt.train import Checkpoint, CheckpointConfig, RunConfig, ScalingConfig
from trainrt.train.horovod import HorovodTrainer

EPOCHS, BATCHES = 8, 16


def train_func():
    hvd.init()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
    optimizer = hvd.DistributedOptimizer(torch.optim.Adam(model.parameters(), lr=0.01), named_parameters=model.named_parameters())
    first, checkpoint = 0, train.get_checkpoint()
    if checkpoint is not None:
        with checkpoint.as_directory() as folder:
            saved = torch.load(os.path.join(folder, "state.pt"))
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        first = saved["epoch"]
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    for epoch in range(first, EPOCHS):
        generator, total = torch.Generator().manual_seed(1000 * epoch + hvd.rank()), 0.0
        for _ in range(BATCHES):
            inputs = torch.randn(16, 8, generator=generator)
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(inputs), inputs[:, :1] * inputs[:, 1:2])
            loss.backward()
            optimizer.step()
            total += loss.item()
        metrics = {"loss": hvd.allreduce(torch.tensor(total / BATCHES), name="loss").item()}
        with tempfile.TemporaryDirectory() as folder:
            given = None
            if hvd.rank() == 0:
                torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch + 1}, os.path.join(folder, "state.pt"))
                given = Checkpoint.from_directory(folder)
            train.report(metrics, checkpoint=given)


if __name__ == "__main__":
    result = HorovodTrainer(train_func, scaling_config=ScalingConfig(num_workers=2),
                            run_config=RunConfig(name="horovod_quick_start", checkpoint_config=CheckpointConfig(num_to_keep=2))).fit()
    print("last report:", result.metrics)
