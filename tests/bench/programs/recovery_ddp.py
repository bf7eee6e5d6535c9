"""A script that does not use trainrt. It appends the time of each step to the file argv[1]/RANK, and continues from its own file argv[1]/state.pt."""
import os
import sys
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

torch.set_num_threads(1)
dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(rank)
model = DistributedDataParallel(torch.nn.Linear(64, 8))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
path, step = f"{sys.argv[1]}/state.pt", 0
if os.path.exists(path):
    saved = torch.load(path)
    model.load_state_dict(saved["model"])
    step = saved["step"]
with open(f"{sys.argv[1]}/{rank}", "a", buffering=1) as times:
    while True:
        optimizer.zero_grad()
        model(torch.randn(16, 64)).square().mean().backward()
        optimizer.step()
        step += 1
        if rank == 0 and step % 20 == 0:
            torch.save({"model": model.state_dict(), "step": step}, path + ".new")
            os.replace(path + ".new", path)
        times.write(f"{time.monotonic()!r}\n")
        time.sleep(0.01)
