"""PyTorch's DistributedDataParallel. Saves after each epoch, and continues from there."""
import argparse
import json
import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("out")
parser.add_argument("--epochs", type=int, default=6)
parser.add_argument("--pause", type=float, default=0, help="seconds a step")
args = parser.parse_args()

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(1)
dataset = TensorDataset(torch.randn(192, 8), torch.randn(192, 2))
sampler = DistributedSampler(dataset, seed=3)
model = DistributedDataParallel(nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
checkpoint, first, step, seen = f"{args.out}/checkpoint.pt", 0, 0, 0.0
if os.path.exists(checkpoint):
    saved = torch.load(checkpoint)
    model.module.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    first, step = saved["epoch"] + 1, saved["step"]
    print(f"continues at step {step}", flush=True)
for epoch in range(first, args.epochs):
    sampler.set_epoch(epoch)
    for inputs, targets in DataLoader(dataset, batch_size=16, sampler=sampler):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(inputs), targets)
        loss.backward()
        optimizer.step()
        step, seen = step + 1, seen + float(inputs.sum())
        time.sleep(args.pause)
        print(f"step {step} loss {loss.item():.4f}", flush=True)
    if rank == 0:
        torch.save({"model": model.module.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch, "step": step}, checkpoint + ".new")
        os.replace(checkpoint + ".new", checkpoint)
    dist.barrier()
with open(f"{args.out}/{rank}.json", "w") as file:
    weights = torch.cat([each.detach().flatten() for each in model.parameters()]).tolist()
    json.dump({"size": dist.get_world_size(), "seen": seen, "weights": weights}, file)
dist.destroy_process_group()
