"""A DistributedDataParallel script for NCCL that does not use trainrt. It saves after each epoch and continues after the last saved epoch. It
prints the median time of a step and a digest of the final weights."""
import argparse
import hashlib
import os
import statistics
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

parser = argparse.ArgumentParser()
parser.add_argument("out")
parser.add_argument("--epochs", type=int, default=3)
parser.add_argument("--steps", type=int, default=40)
args = parser.parse_args()

on_gpu = torch.cuda.is_available()
device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if on_gpu else torch.device("cpu")
if on_gpu:
    torch.cuda.set_device(device)
width, batch = (2048, 512) if on_gpu else (64, 32)
synchronize = torch.cuda.synchronize if on_gpu else (lambda: None)
torch.use_deterministic_algorithms(True)
dist.init_process_group("nccl" if on_gpu else "gloo")
torch.manual_seed(1)
model = DistributedDataParallel(nn.Sequential(*(layer for _ in range(6) for layer in (nn.Linear(width, width), nn.ReLU()))).to(device))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
checkpoint, first, times = f"{args.out}/checkpoint.pt", 0, []
if os.path.exists(checkpoint):
    saved = torch.load(checkpoint, map_location=device)
    model.module.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    first = saved["epoch"] + 1
    print(f"continues with epoch {first}", flush=True)
for epoch in range(first, args.epochs):
    generator = torch.Generator(device).manual_seed(100 * epoch + dist.get_rank())
    for step in range(args.steps):
        inputs = torch.randn(batch, width, device=device, generator=generator)
        synchronize()
        start = time.monotonic()
        optimizer.zero_grad()
        nn.functional.mse_loss(model(inputs), inputs).backward()
        optimizer.step()
        synchronize()
        times.append(time.monotonic() - start)
    if dist.get_rank() == 0:
        torch.save({"model": model.module.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}, checkpoint + ".new")
        os.replace(checkpoint + ".new", checkpoint)
    dist.barrier()
    print(f"epoch {epoch} done", flush=True)
weights = torch.cat([each.detach().flatten() for each in model.parameters()]).cpu().numpy().tobytes()
print(f"size {dist.get_world_size()} step {statistics.median(times):.6f} weights {hashlib.sha256(weights).hexdigest()}", flush=True)
dist.destroy_process_group()
