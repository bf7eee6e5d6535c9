"""Measures the samples per second from files to tensors on the GPU by PyTorch's DataLoader with pinned memory. Prints samples_per_s=NUMBER.
Usage: loader_batches.py images|tokens PATH BATCH WORKERS SECONDS."""
import sys
import time
from pathlib import Path

import numpy
import torch
from torch.utils.data import DataLoader, Dataset

kind, path, batch, workers, end_s = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5])
WINDOW = 1024


class Images(Dataset):
    def __init__(self):
        self.files = sorted(Path(path).rglob("*.jpg"))

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        from PIL import Image
        return torch.from_numpy(numpy.array(Image.open(self.files[index]).convert("RGB")))


class Tokens(Dataset):
    def __init__(self):
        self.tokens = numpy.memmap(path, "u2", "r")

    def __len__(self):
        return (len(self.tokens) - 1) // WINDOW

    def __getitem__(self, index):
        return torch.from_numpy(self.tokens[index * WINDOW:(index + 1) * WINDOW + 1].astype("i4"))


device = "cuda" if torch.cuda.is_available() else "cpu"
synchronize = torch.cuda.synchronize if device == "cuda" else (lambda: None)
loader = DataLoader({"images": Images, "tokens": Tokens}[kind](), batch_size=batch, shuffle=True, num_workers=workers, pin_memory=device == "cuda", persistent_workers=True)
seen, begin = 0, 0.0
while not begin or time.monotonic() - begin < end_s:
    for values in loader:
        values = values.to(device, non_blocking=True)
        if not begin:
            synchronize()
            begin = time.monotonic()
            continue
        seen += len(values)
        if time.monotonic() - begin >= end_s:
            break
synchronize()
print(f"samples_per_s={seen / (time.monotonic() - begin):.0f}", flush=True)
