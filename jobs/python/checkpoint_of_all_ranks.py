"""Every rank saves its own file, as with FSDP and DeepSpeed. The files of all ranks form one checkpoint, which is complete or absent."""

import os
import tempfile

import torch

from trainrt import train
from trainrt.train import Checkpoint, RunConfig, ScalingConfig
from trainrt.train.torch import TorchTrainer


def train_func():
    rank = train.get_context().get_world_rank()
    shard = torch.zeros(4)
    start = 0
    checkpoint = train.get_checkpoint()
    if checkpoint:
        with checkpoint.as_directory() as folder:
            saved = torch.load(os.path.join(folder, f"model-rank={rank}.pt"))
        shard, start = saved["shard"], saved["epoch"] + 1
    for epoch in range(start, 3):
        shard += rank + 1
        with tempfile.TemporaryDirectory() as folder:
            torch.save({"shard": shard, "epoch": epoch}, os.path.join(folder, f"model-rank={rank}.pt"))
            train.report({"epoch": epoch}, checkpoint=Checkpoint.from_directory(folder))


if __name__ == "__main__":
    trainer = TorchTrainer(train_func, scaling_config=ScalingConfig(num_workers=2),
                           run_config=RunConfig(name="shards", storage_path=os.environ.get("STORAGE", "runs")))
    result = trainer.fit()
    with result.checkpoint.as_directory() as folder:
        for name in sorted(os.listdir(folder)):
            print(name, torch.load(os.path.join(folder, name))["shard"].tolist())
