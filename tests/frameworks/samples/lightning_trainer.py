# limit: 480; environment: torch
"""LightningTrainer as the guides of Ray 2.4 to 2.7 use it: with a datamodule, and with datasets; on the CPU."""
import importlib.util
import sys

if importlib.util.find_spec("lightning") is None and importlib.util.find_spec("pytorch_lightning") is None:
    print("skipped: Lightning is not installed")
    sys.exit()

import lightning.pytorch as pl
import numpy
import torch
import trainrt
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from trainrt.train import CheckpointConfig, RunConfig, ScalingConfig
from trainrt.train.lightning import LightningConfigBuilder, LightningTrainer

torch.set_num_threads(1)


class MyLightningModule(pl.LightningModule):
    def __init__(self, lr, feature_dim):
        super().__init__()
        self.save_hyperparameters()
        self.layer = nn.Linear(feature_dim, 1)

    def loss(self, batch):
        inputs, targets = (batch["x"], batch["y"]) if isinstance(batch, dict) else batch
        return nn.functional.mse_loss(self.layer(inputs)[:, 0], targets)

    def training_step(self, batch, number):
        loss = self.loss(batch)
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, number):
        self.log("val_accuracy", 1 / (1 + self.loss(batch)), sync_dist=True)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=self.hparams.lr)


class MyLightningDataModule(pl.LightningDataModule):
    def __init__(self, batch_size):
        super().__init__()
        self.batch_size = batch_size
        inputs = torch.randn(64, 8, generator=torch.Generator().manual_seed(1))
        self.data = TensorDataset(inputs, inputs.sum(1))

    def train_dataloader(self):
        return DataLoader(self.data, batch_size=self.batch_size)

    val_dataloader = train_dataloader


config_builder = LightningConfigBuilder()
config_builder.module(cls=MyLightningModule, lr=1e-2, feature_dim=8)
config_builder.checkpointing(monitor="val_accuracy", mode="max", save_top_k=3)
config_builder.trainer(max_epochs=4, accelerator="cpu", log_every_n_steps=100, enable_progress_bar=False, logger=False)
datamodule = MyLightningDataModule(batch_size=8)
config_builder.fit_params(datamodule=datamodule)
ray_trainer = LightningTrainer(
    lightning_config=config_builder.build(),
    scaling_config=ScalingConfig(num_workers=2),
    run_config=RunConfig(
        name="module",
        checkpoint_config=CheckpointConfig(
            num_to_keep=3,
            checkpoint_score_attribute="val_accuracy",
            checkpoint_score_order="max",
        ),
    )
)
result = ray_trainer.fit()
lightning_checkpoint = result.checkpoint
model = lightning_checkpoint.get_model(MyLightningModule)
assert result.metrics["step"] == 16 and result.metrics["epoch"] == 3 and len(result.best_checkpoints) == 3, result.metrics
assert model.hparams.feature_dim == 8 and float(1 / (1 + model.loss(datamodule.data.tensors))) > result.reports[0]["val_accuracy"]

x = datamodule.data.tensors[0].numpy()
data = trainrt.data.from_numpy({"x": x, "y": x.sum(1)})
builder = LightningConfigBuilder().module(MyLightningModule, lr=1e-2, feature_dim=8).checkpointing(monitor="val_accuracy", mode="max", save_top_k=1)
builder.trainer(max_epochs=2, accelerator="cpu", enable_progress_bar=False, logger=False).strategy("ddp", find_unused_parameters=False)
result = LightningTrainer(builder.build(), datasets={"train": data, "val": data.limit(20)}, datasets_iter_config={"batch_size": 8},
                          scaling_config=ScalingConfig(num_workers=2), run_config=RunConfig(name="datasets")).fit()
assert result.metrics["step"] == 8 and len(result.best_checkpoints) <= 2, (result.metrics, result.best_checkpoints)
first = numpy.mean([report["val_accuracy"] for report in result.reports[:1]])
assert result.metrics["val_accuracy"] > first, result.reports
print("ok")
