"""torch_fsdp2.py with distributed checkpoints (DCP) in the run's own checkpoints, by CheckpointWriter and CheckpointReader, and no files in the
folder. On an even number of ranks the module is sharded over two ranks and replicated over the pairs."""
import argparse
import json
import time

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch import nn
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from trainrt.train.torch import CheckpointReader, CheckpointWriter

parser = argparse.ArgumentParser()
parser.add_argument("out")
parser.add_argument("--epochs", type=int, default=6)
parser.add_argument("--pause", type=float, default=0, help="seconds a step")
args = parser.parse_args()

dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
torch.manual_seed(1)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
mesh = init_device_mesh("cpu", (size // 2, 2), mesh_dim_names=("copies", "shards")) if size % 2 == 0 else init_device_mesh("cpu", (size,))
for layer in (model[0], model[2], model):
    fully_shard(layer, mesh=mesh)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
seen, epoch, reader, saving = 0.0, 0, CheckpointReader(), None
of_saves = dist.new_group(backend="gloo")  # collectives of async_save's thread must not mix with those of training


def state():
    weights, moments = get_state_dict(model, optimizer)
    return {"model": weights, "optimizer": moments, "epoch": epoch}


if reader.has_checkpoint():
    saved = state()
    dcp.load(saved, storage_reader=reader)
    set_state_dict(model, optimizer, model_state_dict=saved["model"], optim_state_dict=saved["optimizer"])
    epoch = saved["epoch"]
    print(f"continues at step {epoch * 6}", flush=True)
while epoch < args.epochs:
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
    epoch += 1
    if saving is not None:
        saving.result()
    if epoch % 2:
        saving = dcp.async_save(state(), storage_writer=CheckpointWriter({"loss": loss.item()}), process_group=of_saves)
    else:
        dcp.save(state(), storage_writer=CheckpointWriter({"loss": loss.item()}))
if saving is not None:
    saving.result()
with open(f"{args.out}/{rank}.json", "w") as file:
    weights = torch.cat([each.full_tensor().detach().flatten() for each in model.parameters()]).tolist()
    json.dump({"size": size, "seen": seen, "weights": weights}, file)
dist.destroy_process_group()
