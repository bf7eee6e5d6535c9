"""Measures saves and loads of GPU memory by PyTorch: torch.save, torch.distributed.checkpoint.async_save, torch.load. TRAINRT_GPU_GIB is the
size of the state in GiB, TRAINRT_GPU_FOLDER is the folder for the files."""
import os
import sys
import time

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp

GIB, FOLDER = int(os.environ["TRAINRT_GPU_GIB"]), os.environ["TRAINRT_GPU_FOLDER"]


if not torch.cuda.is_available():
    print("skipped: PyTorch's saves: no GPU")
    sys.exit(0)


def figure(name, seconds):
    print(f"figure {GIB} GiB: {name} {seconds:.4f} s", flush=True)


def timed(work):
    torch.cuda.synchronize()
    start = time.monotonic()
    result = work()
    torch.cuda.synchronize()
    return time.monotonic() - start, result


def save_durably(state, path):
    with open(path, "wb") as file:
        torch.save(state, file)
        file.flush()
        os.fsync(file.fileno())


state = {f"w{i}": torch.randn(64 << 20, device="cuda") for i in range(GIB * 4)}
figure("torch.save with fsync", timed(lambda: save_durably(state, f"{FOLDER}/state.pt"))[0])
seconds, loaded = timed(lambda: torch.load(f"{FOLDER}/state.pt", map_location="cuda"))
figure("torch.load", seconds)
if not all(torch.equal(loaded[name].view(torch.int32), state[name].view(torch.int32)) for name in state):
    print(f"FAILED torch.load of {GIB} GiB: other bits")
del loaded
os.unlink(f"{FOLDER}/state.pt")
dist.init_process_group("cpu:gloo,cuda:nccl", init_method=f"file://{FOLDER}/group", rank=0, world_size=1)
for number in range(1 if GIB > 4 else 2):  # the second save reuses the host memory of the first
    start = time.monotonic()
    seconds, saving = timed(lambda: dcp.async_save(state, checkpoint_id=f"{FOLDER}/dcp{number}"))
    saving.result()
    total = time.monotonic() - start
figure("dcp.async_save, stall", seconds)
figure("dcp.async_save until it is written", total)
dist.destroy_process_group()
