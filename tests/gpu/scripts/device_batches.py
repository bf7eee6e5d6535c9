"""Samples per second that a program gets from [data.train] of its run as tensors on the GPU. Prints samples_per_s=NUMBER."""
import time

import torch
import trainrt

ctx = trainrt.context()
shard = ctx.dataset("train")
end_s = ctx.config("seconds", 3.0)
seen, begin = 0, 0.0
while not begin or time.monotonic() - begin < end_s:
    for batch in shard.iter_torch_batches(batch_size=ctx.config("batch", 64), device="cuda", pin_memory=True):
        if not begin:  # the first batch starts threads and opens files
            torch.cuda.synchronize()
            begin = time.monotonic()
            continue
        seen += len(next(iter(batch.values())))
        if time.monotonic() - begin >= end_s:
            break
torch.cuda.synchronize()
print(f"samples_per_s={seen / (time.monotonic() - begin):.0f}", flush=True)
