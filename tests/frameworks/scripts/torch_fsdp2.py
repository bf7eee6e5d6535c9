"""PyTorch's FSDP2 (fully_shard) with its distributed checkpoints (DCP). Saves after each epoch and continues from there. `--backend trainrt`
uses the runtime's collectives."""
import argparse
import json
import os
import time

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch import nn
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

parser = argparse.ArgumentParser()
parser.add_argument("out")
parser.add_argument("--epochs", type=int, default=6)
parser.add_argument("--pause", type=float, default=0, help="seconds a step")
parser.add_argument("--backend", default="gloo")
args = parser.parse_args()

if args.backend == "trainrt":
    import trainrt.train.torch  # registers the backend
dist.init_process_group(args.backend)
rank, size = dist.get_rank(), dist.get_world_size()
torch.manual_seed(1)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
mesh = init_device_mesh("cpu", (size,))
for layer in (model[0], model[2], model):
    fully_shard(layer, mesh=mesh)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
latest, first, seen = f"{args.out}/latest", 0, 0.0
if os.path.exists(latest):
    with open(latest) as file:
        first = int(file.read())
    weights, moments = get_state_dict(model, optimizer)
    saved = {"model": weights, "optimizer": moments}
    dcp.load(saved, checkpoint_id=f"{args.out}/epoch{first}")
    set_state_dict(model, optimizer, model_state_dict=saved["model"], optim_state_dict=saved["optimizer"])
    print(f"continues at step {first * 6}", flush=True)
for epoch in range(first, args.epochs):
    generator = torch.Generator().manual_seed(1000 * epoch + rank)
    for step in range(epoch * 6 + 1, epoch * 6 + 7):
        inputs, targets = torch.randn(16, 8, generator=generator), torch.randn(16, 2, generator=generator)
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(inputs), targets)
        loss.backward()
        optimizer.step()
        seen += float(inputs.sum())
        time.sleep(args.pause)
        print(f"step {step} loss {loss.item():.4f}", flush=True)
    weights, moments = get_state_dict(model, optimizer)
    dcp.save({"model": weights, "optimizer": moments}, checkpoint_id=f"{args.out}/epoch{epoch + 1}")
    if rank == 0:
        with open(latest + ".new", "w") as file:
            file.write(str(epoch + 1))
        os.replace(latest + ".new", latest)
    dist.barrier()
    if args.backend == "trainrt":
        trainrt.context().stop_point()  # the runtime handles signals
with open(f"{args.out}/{rank}.json", "w") as file:
    weights = torch.cat([each.full_tensor().detach().flatten() for each in model.parameters()]).tolist()
    json.dump({"size": size, "seen": seen, "weights": weights}, file)
dist.destroy_process_group()
