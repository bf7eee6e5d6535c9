"""Lightning's Trainer with its DDP strategy. It saves after each epoch, and continues from its last checkpoint."""
import argparse
import json
import os
import time

import lightning
import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("out")
parser.add_argument("--epochs", type=int, default=6)
parser.add_argument("--pause", type=float, default=0, help="seconds a step")
args = parser.parse_args()


class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
        self.seen = 0.0

    def training_step(self, batch):
        inputs, targets = batch
        loss = nn.functional.mse_loss(self.layers(inputs), targets)
        self.seen += float(inputs.sum())
        time.sleep(args.pause)
        print(f"step {self.global_step + 1} loss {loss.item():.4f}", flush=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.05, momentum=0.9)

    def on_train_start(self):
        if self.trainer.global_step:
            print(f"continues at step {self.trainer.global_step}", flush=True)


lightning.seed_everything(1)
model = Model()
loader = DataLoader(TensorDataset(torch.randn(192, 8), torch.randn(192, 2)), batch_size=16, shuffle=True)
trainer = lightning.Trainer(accelerator="cpu", strategy="ddp", devices=int(os.environ.get("LOCAL_WORLD_SIZE", 1)),
                            num_nodes=int(os.environ.get("GROUP_WORLD_SIZE", 1)), max_epochs=args.epochs, logger=False, enable_progress_bar=False,
                            callbacks=[ModelCheckpoint(dirpath=f"{args.out}/checkpoints", save_last=True)])
trainer.fit(model, loader, ckpt_path="last")
with open(f"{args.out}/{trainer.global_rank}.json", "w") as file:
    weights = torch.cat([each.detach().flatten() for each in model.parameters()]).tolist()
    json.dump({"size": trainer.world_size, "seen": model.seen, "weights": weights}, file)
