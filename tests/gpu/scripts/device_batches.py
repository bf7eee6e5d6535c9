"""Measures the samples per second from [data.train] of the run to tensors on the GPU. Prints samples_per_s=NUMBER."""
import time

import torch
import trainrt

device = "cuda" if torch.cuda.is_available() else "cpu"
synchronize = torch.cuda.synchronize if device == "cuda" else (lambda: None)
ctx = trainrt.context()
shard = ctx.dataset("train")
end_s = ctx.config("seconds", 3.0)
seen, begin = 0, 0.0
while not begin or time.monotonic() - begin < end_s:
    for batch in shard.iter_torch_batches(batch_size=ctx.config("batch", 64), device=device, pin_memory=device == "cuda"):
        if not begin:  # the first batch starts threads and opens files
            synchronize()
            begin = time.monotonic()
            continue
        seen += len(next(iter(batch.values())))
        if time.monotonic() - begin >= end_s:
            break
synchronize()
print(f"samples_per_s={seen / (time.monotonic() - begin):.0f}", flush=True)
