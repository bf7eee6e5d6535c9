"""Trains a 784-512-512-10 MLP by DistributedDataParallel with 32 samples per rank for argv[1] seconds; rank 0 prints the median time of a
step. RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT come from the launcher."""
import statistics
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

WARM_STEPS = 50
torch.set_num_threads(1)
dist.init_process_group("gloo")
torch.manual_seed(dist.get_rank())
inputs, classes = torch.randn(32, 784), torch.randint(10, (32,))
model = DistributedDataParallel(nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
took, last, go_on = [], time.monotonic() + float(sys.argv[1]), torch.ones(1)
print("training", flush=True)
while go_on.item() > 0:
    for _ in range(WARM_STEPS):
        start = time.monotonic()
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(inputs), classes).backward()
        optimizer.step()
        took.append(time.monotonic() - start)
    go_on.fill_(time.monotonic() < last or len(took) < 2 * WARM_STEPS)
    dist.all_reduce(go_on, dist.ReduceOp.MIN)
if dist.get_rank() == 0:
    print(f"step_ms {1000 * statistics.median(took[WARM_STEPS:]):.4f} of {len(took)} steps", flush=True)
dist.barrier()
dist.destroy_process_group()
