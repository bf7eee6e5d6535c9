"""An FSDP2 (fully_shard) script for NCCL with distributed checkpoints (DCP). It does not use trainrt. It prints a digest of the final weights."""
import argparse
import hashlib
import os

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch import nn
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

parser = argparse.ArgumentParser()
parser.add_argument("out")
parser.add_argument("--epochs", type=int, default=3)
args = parser.parse_args()

on_gpu = torch.cuda.is_available()
device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if on_gpu else torch.device("cpu")
if on_gpu:
    torch.cuda.set_device(device)
torch.use_deterministic_algorithms(True)
dist.init_process_group("nccl" if on_gpu else "gloo")
torch.manual_seed(1)
model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 256)).to(device)
mesh = init_device_mesh(device.type, (dist.get_world_size(),))
for layer in (model[0], model[2], model):
    fully_shard(layer, mesh=mesh)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
latest, first = f"{args.out}/latest", 0
if os.path.exists(latest):
    with open(latest) as file:
        first = int(file.read())
    weights, moments = get_state_dict(model, optimizer)
    saved = {"model": weights, "optimizer": moments}
    dcp.load(saved, checkpoint_id=f"{args.out}/epoch{first}")
    set_state_dict(model, optimizer, model_state_dict=saved["model"], optim_state_dict=saved["optimizer"])
    print(f"continues with epoch {first}", flush=True)
for epoch in range(first, args.epochs):
    generator = torch.Generator(device).manual_seed(100 * epoch + dist.get_rank())
    for _ in range(20):
        inputs = torch.randn(64, 256, device=device, generator=generator)
        optimizer.zero_grad()
        nn.functional.mse_loss(model(inputs), inputs).backward()
        optimizer.step()
    weights, moments = get_state_dict(model, optimizer)
    dcp.save({"model": weights, "optimizer": moments}, checkpoint_id=f"{args.out}/epoch{epoch + 1}")
    if dist.get_rank() == 0:
        with open(latest + ".new", "w") as file:
            file.write(str(epoch + 1))
        os.replace(latest + ".new", latest)
    dist.barrier()
    print(f"epoch {epoch} done", flush=True)
weights = torch.cat([each.full_tensor().detach().flatten() for each in model.parameters()]).cpu().numpy().tobytes()
print(f"size {dist.get_world_size()} weights {hashlib.sha256(weights).hexdigest()}", flush=True)
dist.destroy_process_group()
