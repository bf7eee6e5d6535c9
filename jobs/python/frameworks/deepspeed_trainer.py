"""Ray Train's guide for DeepSpeed: DeepSpeed's engine with ZeRO under a TorchTrainer. Each worker saves its part of the checkpoint.

    python3 deepspeed_trainer.py                      # starts the workers
    srun trainrt -- python3 deepspeed_trainer.py      # runs on the workers of srun
"""
import tempfile

import deepspeed
import torch
from torch import nn

from trainrt import train
from trainrt.train import Checkpoint, CheckpointConfig, RunConfig, ScalingConfig
from trainrt.train.torch import TorchTrainer

EPOCHS, BATCHES = 8, 16
CONFIG = {"train_micro_batch_size_per_gpu": 16, "zero_optimization": {"stage": 2}, "zero_allow_untested_optimizer": True}


def train_func():
    torch.set_num_threads(1)
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
    deepspeed.init_distributed()
    engine, _, _, _ = deepspeed.initialize(model=model, optimizer=torch.optim.AdamW(model.parameters(), lr=0.01), config=CONFIG)
    rank, first, checkpoint = train.get_context().get_world_rank(), 0, train.get_checkpoint()
    if checkpoint is not None:
        with checkpoint.as_directory() as folder:
            _, saved = engine.load_checkpoint(folder)
        first = saved["epoch"]
    for epoch in range(first, EPOCHS):
        generator, total = torch.Generator().manual_seed(1000 * epoch + rank), 0.0
        for _ in range(BATCHES):
            inputs = torch.randn(16, 8, generator=generator)
            loss = nn.functional.mse_loss(engine(inputs.to(engine.device)), (inputs[:, :1] * inputs[:, 1:2]).to(engine.device))
            engine.backward(loss)
            engine.step()
            total += loss.item()
        with tempfile.TemporaryDirectory() as folder:
            engine.save_checkpoint(folder, client_state={"epoch": epoch + 1})
            torch.distributed.barrier()  # waits until the files of all workers are complete
            train.report({"loss": total / BATCHES}, checkpoint=Checkpoint.from_directory(folder))


if __name__ == "__main__":
    result = TorchTrainer(train_func, scaling_config=ScalingConfig(num_workers=2),
                          run_config=RunConfig(name="deepspeed_trainer", checkpoint_config=CheckpointConfig(num_to_keep=2))).fit()
    print("last report:", result.metrics)
