"""Ray Train's guide for Lightning: a LightningModule and its Trainer with three additions. Reports and saves after each epoch.

    python3 lightning_quick_start.py                      # starts the workers
    srun trainrt -- python3 lightning_quick_start.py      # runs on the workers of srun
"""
import os

import lightning.pytorch as pl
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from trainrt import train
from trainrt.train import CheckpointConfig, RunConfig, ScalingConfig
from trainrt.train.lightning import RayDDPStrategy, RayLightningEnvironment, RayTrainReportCallback, prepare_trainer
from trainrt.train.torch import TorchTrainer


class Regression(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))

    def training_step(self, batch, _):
        inputs, targets = batch
        loss = nn.functional.mse_loss(self.layers(inputs), targets)
        self.log("loss", loss, on_step=False, on_epoch=True, sync_dist=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=0.01)


def train_func():
    torch.set_num_threads(1)
    pl.seed_everything(1)  # the same initial weights and data on each worker
    inputs = torch.randn(512, 8)
    loader = DataLoader(TensorDataset(inputs, inputs[:, :1] * inputs[:, 1:2]), batch_size=16, shuffle=True)
    trainer = prepare_trainer(pl.Trainer(
        max_epochs=8, accelerator="auto", devices="auto", strategy=RayDDPStrategy(), plugins=[RayLightningEnvironment()],
        callbacks=[RayTrainReportCallback()], logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False))
    checkpoint = train.get_checkpoint()
    if checkpoint is None:
        trainer.fit(Regression(), loader)
    else:
        with checkpoint.as_directory() as folder:
            trainer.fit(Regression(), loader, ckpt_path=os.path.join(folder, RayTrainReportCallback.CHECKPOINT_NAME))


if __name__ == "__main__":
    result = TorchTrainer(train_func, scaling_config=ScalingConfig(num_workers=2),
                          run_config=RunConfig(name="lightning_quick_start", checkpoint_config=CheckpointConfig(num_to_keep=2))).fit()
    print("last report:", result.metrics)
