"""DeepSpeed's engine with ZeRO. An argument sets the stage."""
import argparse
import json
import time

import deepspeed
import torch
import torch.distributed as dist
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("out")
parser.add_argument("--stage", type=int, default=2)
parser.add_argument("--steps", type=int, default=30)
parser.add_argument("--pause", type=float, default=0, help="seconds a step")
args = parser.parse_args()

deepspeed.init_distributed()
rank = dist.get_rank()
torch.manual_seed(1)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
engine, _, _, _ = deepspeed.initialize(model=model, optimizer=optimizer, config={
    "train_micro_batch_size_per_gpu": 16, "zero_optimization": {"stage": args.stage}, "zero_allow_untested_optimizer": True})
generator, seen = torch.Generator().manual_seed(1000 + rank), 0.0
for step in range(1, args.steps + 1):
    inputs, targets = torch.randn(16, 8, generator=generator), torch.randn(16, 2, generator=generator)
    loss = nn.functional.mse_loss(engine(inputs), targets)
    engine.backward(loss)
    engine.step()
    seen += float(inputs.sum())
    time.sleep(args.pause)
    print(f"step {step} loss {loss.item():.4f}", flush=True)
with deepspeed.zero.GatheredParameters(list(model.parameters()), enabled=args.stage == 3):
    weights = torch.cat([each.detach().flatten() for each in model.parameters()]).tolist()
with open(f"{args.out}/{rank}.json", "w") as file:
    json.dump({"size": dist.get_world_size(), "seen": seen, "weights": weights}, file)
dist.destroy_process_group()
