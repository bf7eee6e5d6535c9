"""Prints samples per second that a program gets from [data.train] as torch tensors, in batches of 64."""
import time

import torch
import trainrt

torch.set_num_threads(1)
shard = trainrt.context().dataset("train")
seen, begin = 0, 0.0
while not begin or time.monotonic() - begin < 2:
    for batch in shard.iter_torch_batches(batch_size=64, device="cpu"):
        begin = begin or time.monotonic()  # after the first batch, so that the start is not measured
        seen += len(batch["labels"])
print(f"samples_per_s={seen / (time.monotonic() - begin):.0f}", flush=True)
