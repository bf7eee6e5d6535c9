"""A script that wraps a small model in DistributedDataParallel, saves its state with torch.save after each epoch, and continues from there.
With --group gloo it does not use trainrt. Rank 0 appends the number, the digest of the saved tensors and the loss of each epoch to
OUT/epochs.jsonl.
"""
import argparse
import hashlib
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
parser.add_argument("--group", default="gloo")
parser.add_argument("--epochs", type=int, default=6)
parser.add_argument("--pause", type=float, default=0, help="seconds per step")
args = parser.parse_args()
if args.group == "trainrt":
    import trainrt.train.torch  # noqa: F401  registers the process group

dist.init_process_group(args.group)
rank = dist.get_rank()
torch.manual_seed(1)
dataset = TensorDataset(torch.randn(768, 24), torch.randn(768, 4))
sampler = DistributedSampler(dataset, seed=3)
# With find_unused_parameters=True, DDP does not change the order of the gradients in its buckets after the first step.
# Otherwise a first step after a restart has another order, and gloo adds 3 or more values in an order that depends on it.
model = DistributedDataParallel(nn.Sequential(nn.Linear(24, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 4)),
                                find_unused_parameters=args.group == "gloo")
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
checkpoint, first = f"{args.out}/checkpoint.pt", 0
if os.path.exists(checkpoint):
    saved = torch.load(checkpoint)
    model.module.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    first = saved["epoch"] + 1


def digest():
    state = optimizer.state_dict()["state"]
    tensors = [*model.module.state_dict().values(), *(state[number][name] for number in sorted(state) for name in sorted(state[number]))]
    return hashlib.sha256(b"".join(each.numpy().tobytes() for each in tensors)).hexdigest()


for epoch in range(first, args.epochs):
    sampler.set_epoch(epoch)
    loss_sum = torch.zeros(1, dtype=torch.float64)
    for inputs, targets in DataLoader(dataset, batch_size=16, sampler=sampler):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(inputs), targets)
        loss.backward()
        optimizer.step()
        loss_sum += loss.detach()
        time.sleep(args.pause)
    dist.all_reduce(loss_sum)
    if rank == 0:
        with open(f"{args.out}/epochs.jsonl", "a") as file:
            file.write(json.dumps({"epoch": epoch, "digest": digest(), "loss": loss_sum.item().hex()}) + "\n")
        torch.save({"model": model.module.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}, checkpoint + ".new")
        os.replace(checkpoint + ".new", checkpoint)
    dist.barrier()
dist.destroy_process_group()
