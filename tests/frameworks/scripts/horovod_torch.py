"""Horovod's DistributedOptimizer around PyTorch."""
import argparse
import json
import time

import horovod.torch as hvd
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("out")
parser.add_argument("--steps", type=int, default=30)
parser.add_argument("--pause", type=float, default=0, help="seconds a step")
args = parser.parse_args()

hvd.init()
torch.manual_seed(hvd.rank())
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.05), named_parameters=model.named_parameters())
hvd.broadcast_parameters(model.state_dict(), root_rank=0)
generator, seen = torch.Generator().manual_seed(1000 + hvd.rank()), 0.0
for step in range(1, args.steps + 1):
    inputs, targets = torch.randn(16, 8, generator=generator), torch.randn(16, 2, generator=generator)
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(inputs), targets)
    loss.backward()
    optimizer.step()
    seen += float(inputs.sum())
    time.sleep(args.pause)
    print(f"step {step} loss {loss.item():.4f}", flush=True)
with open(f"{args.out}/{hvd.rank()}.json", "w") as file:
    weights = torch.cat([each.detach().flatten() for each in model.parameters()]).tolist()
    json.dump({"size": hvd.size(), "seen": seen, "weights": weights}, file)
