"""Lightning under a TorchTrainer of trainrt.train: `lightning_report.py NAME`. $KILL_AT: the epoch in which rank 1 is killed, once; $RUNS;
$EVERY: steps between checkpoints, within epochs too; $DATA: shard for a LightningTrainer over datasets. Prints the digest of the weights."""
import hashlib
import json
import os
import signal
import sys

import lightning.pytorch as pl
import torch
import trainrt
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from trainrt import train
from trainrt.train import CheckpointConfig, FailureConfig, RunConfig, ScalingConfig
from trainrt.train.lightning import LightningConfigBuilder, LightningTrainer, RayDDPStrategy, RayLightningEnvironment, RayTrainReportCallback, prepare_trainer
from trainrt.train.torch import TorchTrainer, prepare_data_loader

NAME, EPOCHS, EVERY = sys.argv[1], 5, int(os.environ.get("EVERY", 0))


class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Dropout(0.2 if EVERY else 0), nn.Linear(16, 2))

    def training_step(self, batch, number):
        inputs, targets = (batch["x"], batch["y"]) if isinstance(batch, dict) else batch
        loss = nn.functional.mse_loss(self.layers(inputs), targets)
        self.log("loss", loss, on_step=False, on_epoch=True, sync_dist=True)
        marker = os.path.join(os.environ["RUNS"], f"killed-{NAME}")
        if self.current_epoch == int(os.environ.get("KILL_AT", -1)) and number == (5 if EVERY else 2) and self.global_rank == 1 and not os.path.exists(marker):
            open(marker, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        return loss

    def on_train_start(self):
        print(f"begins at step {self.global_step}", flush=True)

    def validation_step(self, batch, number):
        self.log("validation_loss", nn.functional.mse_loss(self.layers(batch["x"]), batch["y"]), sync_dist=True)

    def on_train_end(self):
        if self.global_rank == 0:
            with open(os.path.join(os.environ["RUNS"], f"digest-{NAME}"), "w") as file:
                file.write(digest_of(self.state_dict()))

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=0.01)


def digest_of(state):
    return hashlib.sha256(b"".join(value.numpy().tobytes() for value in state.values())).hexdigest()


def lightning_trainer(run_config):
    values = torch.randn(192, 10, generator=torch.Generator().manual_seed(1)).numpy()
    data = trainrt.data.from_numpy({"x": values[:, :8], "y": values[:, 8:]})
    builder = LightningConfigBuilder().module(cls=SeededModel).fit_params()
    builder.trainer(max_epochs=EPOCHS, accelerator="cpu", logger=False, enable_progress_bar=False, enable_model_summary=False)
    return LightningTrainer(builder.checkpointing(every_n_train_steps=EVERY or None).build(), datasets={"train": data.random_shuffle(), "val": data.limit(20)},
                            datasets_iter_config={"batch_size": 16}, scaling_config=ScalingConfig(num_workers=2), run_config=run_config)


class SeededModel(Model):
    def __init__(self):
        torch.set_num_threads(1)
        pl.seed_everything(1)
        super().__init__()
        self.layers[2].p = 0.0


def loop():
    torch.set_num_threads(1)
    pl.seed_everything(1)
    model = Model()
    loader = DataLoader(TensorDataset(torch.randn(192, 8), torch.randn(192, 2)), batch_size=16, shuffle=True)
    if EVERY:
        loader = prepare_data_loader(loader)
    trainer = pl.Trainer(max_epochs=EPOCHS, accelerator="cpu", devices="auto", strategy=RayDDPStrategy(), plugins=[RayLightningEnvironment()], logger=False,
                         use_distributed_sampler=not EVERY,
                         callbacks=[RayTrainReportCallback(every_n_train_steps=EVERY or None)], enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
    trainer = prepare_trainer(trainer)
    found = train.get_checkpoint()
    with found.as_directory() if found else open(os.devnull) as folder:
        trainer.fit(model, loader, ckpt_path=os.path.join(folder, RayTrainReportCallback.CHECKPOINT_NAME) if found else None)
    state = trainer.strategy.lightning_module_state_dict()
    return {"size": trainer.world_size, "digest": digest_of(state)}


if __name__ == "__main__":
    run_config = RunConfig(name=NAME, storage_path=os.environ["RUNS"], checkpoint_config=CheckpointConfig(num_to_keep=2),
                           failure_config=FailureConfig(max_failures=2))
    if os.environ.get("DATA") == "shard":
        result = lightning_trainer(run_config).fit()
        with open(os.path.join(os.environ["RUNS"], f"digest-{NAME}")) as file:
            print("RESULT", json.dumps({"size": 2, "digest": file.read(), "metrics": result.metrics, "files": sorted(os.listdir(result.checkpoint.path))}))
        sys.exit()
    result = TorchTrainer(loop, scaling_config=ScalingConfig(num_workers=2), run_config=run_config).fit()
    print("RESULT", json.dumps({**result.return_value, "metrics": result.metrics, "files": sorted(os.listdir(result.checkpoint.path))}))
