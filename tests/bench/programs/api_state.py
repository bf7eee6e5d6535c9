"""Saves a module of argv[1] MiB argv[2] times in different ways in turn: by save_state(), by torch.save and fsync, by async_save of
torch.distributed.checkpoint if torch has it, and as raw bytes with O_DIRECT and fsync, the limit of the disk. All weights change before each
save. Prints the milliseconds during which training is blocked, and those until the data is on disk."""
import mmap
import os
import shutil
import sys
import time

import torch
from torch import nn

import trainrt
from trainrt.train.torch import load_state, save_state

LAYERS = 16
ctx = trainrt.context()
size = int(sys.argv[1]) << 20
model = nn.ParameterDict({f"layer{i}": nn.Parameter(torch.rand(size // LAYERS // 4)) for i in range(LAYERS)})
peer_file = os.path.join(ctx.run_dir, "peer.pt")
try:
    import torch.distributed.checkpoint as dcp
    from torch.distributed.checkpoint.staging import DefaultStager  # noqa: F401: exists only in versions with the async_save to compare
    torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
except ImportError:
    dcp = None


def change():
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.001)


def milliseconds(since):
    return 1000 * (time.monotonic() - since)


def ours():
    begin = time.monotonic()
    save_state(model, metrics={})
    stall = milliseconds(begin)
    ctx.checkpoint()  # waits for the commit
    return stall, milliseconds(begin)


def torch_save():
    begin = time.monotonic()
    torch.save(model.state_dict(), peer_file)
    file = os.open(peer_file, os.O_RDONLY)
    os.fsync(file)
    os.close(file)
    took = milliseconds(begin)
    os.unlink(peer_file)
    return took


def dcp_async_save():
    folder = os.path.join(ctx.run_dir, "peer.dcp")
    begin = time.monotonic()
    saving = dcp.async_save(model.state_dict(), storage_writer=dcp.FileSystemWriter(folder))
    stall = milliseconds(begin)
    getattr(saving, "upload_completion", saving).result()
    durable = milliseconds(begin)
    shutil.rmtree(folder)
    return stall, durable


def disk():
    piece = mmap.mmap(-1, 8 << 20)  # page-aligned, as O_DIRECT requires
    piece.write(os.urandom(8 << 20))
    path = os.path.join(ctx.run_dir, "peer.disk")
    begin = time.monotonic()
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_DIRECT)
    for _ in range(size // len(piece)):
        os.write(file, piece)
    os.fsync(file)
    os.close(file)
    took = milliseconds(begin)
    os.unlink(path)
    return took


load_state(model)
for number in range(1 + int(sys.argv[2])):
    change()
    stall_ms, durable_ms = ours()
    change()
    peer_ms = torch_save()
    change()
    dcp_ms = dcp_async_save() if dcp else ()
    disk_ms = disk()
    if number > 0:  # the first one allocates the buffers
        print(f"save stall_ms {stall_ms:.2f} durable_ms {durable_ms:.2f} torch_ms {peer_ms:.2f} disk_ms {disk_ms:.2f}", flush=True)
        if dcp:
            print("dcp dcp_stall_ms {:.2f} dcp_durable_ms {:.2f}".format(*dcp_ms), flush=True)
