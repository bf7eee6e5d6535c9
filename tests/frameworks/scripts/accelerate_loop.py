"""Accelerate around a custom training loop."""
import argparse
import json
import time

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("out")
parser.add_argument("--epochs", type=int, default=6)
parser.add_argument("--pause", type=float, default=0, help="seconds a step")
args = parser.parse_args()

accelerator = Accelerator()
set_seed(1)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
loader = DataLoader(TensorDataset(torch.randn(192, 8), torch.randn(192, 2)), batch_size=16, shuffle=True)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
step, seen = 0, 0.0
for epoch in range(args.epochs):
    for inputs, targets in loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(inputs), targets)
        accelerator.backward(loss)
        optimizer.step()
        step, seen = step + 1, seen + float(inputs.sum())
        time.sleep(args.pause)
        print(f"step {step} loss {loss.item():.4f}", flush=True)
with open(f"{args.out}/{accelerator.process_index}.json", "w") as file:
    weights = torch.cat([each.detach().flatten() for each in model.parameters()]).tolist()
    json.dump({"size": accelerator.num_processes, "seen": seen, "weights": weights}, file)
accelerator.end_training()
