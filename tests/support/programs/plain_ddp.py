"""A script that does not use trainrt: PyTorch's DistributedDataParallel on data that differs from rank to rank.
argv[1]: a folder to which each rank writes its environment and its weights."""
import json
import os
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(1)
model = DistributedDataParallel(torch.nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
generator = torch.Generator().manual_seed(100 + rank)
seen = 0.0
for step in range(20):
    inputs = torch.randn(16, 8, generator=generator)
    optimizer.zero_grad()
    model(inputs).square().mean().backward()
    optimizer.step()
    seen += float(inputs.sum())
with open(f"{sys.argv[1]}/{rank}.json", "w") as file:
    json.dump({"weights": model.module.weight.tolist(), "seen": seen, "size": dist.get_world_size(), "threads": torch.get_num_threads(),
               "env": {key: value for key, value in os.environ.items() if key.startswith(("MASTER_", "LOCAL_", "GROUP_", "GLOO_", "TF_", "OMP_"))}}, file)
