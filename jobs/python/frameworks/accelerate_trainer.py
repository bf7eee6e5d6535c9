"""Ray Train's guide for Hugging Face Accelerate: a TorchTrainer, and Accelerate's own calls in its function.

    python3 accelerate_trainer.py                      # starts the workers
    srun trainrt -- python3 accelerate_trainer.py      # runs on the workers of srun
"""
import os
import tempfile

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from trainrt import train
from trainrt.train import Checkpoint, CheckpointConfig, RunConfig, ScalingConfig
from trainrt.train.torch import TorchTrainer

EPOCHS = 8


def train_func():
    torch.set_num_threads(1)
    accelerator = Accelerator(cpu=not torch.cuda.is_available())
    set_seed(1)
    inputs = torch.randn(512, 8)
    order = torch.Generator()
    loader = DataLoader(TensorDataset(inputs, inputs[:, :1] * inputs[:, 1:2]), batch_size=16, shuffle=True, generator=order)
    model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    first, checkpoint = 0, train.get_checkpoint()
    if checkpoint is not None:
        with checkpoint.as_directory() as folder:
            saved = torch.load(os.path.join(folder, "state.pt"), weights_only=True)
        accelerator.unwrap_model(model).load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        first = saved["epoch"]
    for epoch in range(first, EPOCHS):
        order.manual_seed(epoch)  # the same order after a restart
        total = torch.zeros(())
        for batch, targets in loader:
            loss = nn.functional.mse_loss(model(batch), targets)
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
            total += loss.detach().cpu()
        metrics = {"loss": accelerator.reduce(total.to(accelerator.device), "mean").item() / len(loader)}
        with tempfile.TemporaryDirectory() as folder:
            given = None
            if accelerator.is_main_process:
                state = {"model": accelerator.unwrap_model(model).state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch + 1}
                torch.save(state, os.path.join(folder, "state.pt"))
                given = Checkpoint.from_directory(folder)
            train.report(metrics, checkpoint=given)


if __name__ == "__main__":
    result = TorchTrainer(train_func, scaling_config=ScalingConfig(num_workers=2),
                          run_config=RunConfig(name="accelerate_trainer", checkpoint_config=CheckpointConfig(num_to_keep=2))).fit()
    print("last report:", result.metrics)
