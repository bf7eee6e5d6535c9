"""save_state() of a module of argv[1] MiB, which changes all its weights each time, in turn with torch.save and fsync of the same on the same disk,
with torch.distributed.checkpoint's async_save where torch has it, and with the disk's own limit, as many bytes past the page cache and an fsync: argv[2]
times. Prints the milliseconds that training stands still, and those until all is on the disk."""
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
    from torch.distributed.checkpoint.staging import DefaultStager  # noqa: F401: as old as the async_save that is compared
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
    ctx.checkpoint()  # waits until it is committed
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
    piece = mmap.mmap(-1, 8 << 20)  # on page boundaries, as O_DIRECT asks
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
    if number > 0:  # the first makes the buffers
        print(f"save stall_ms {stall_ms:.2f} durable_ms {durable_ms:.2f} torch_ms {peer_ms:.2f} disk_ms {disk_ms:.2f}", flush=True)
        if dcp:
            print("dcp dcp_stall_ms {:.2f} dcp_durable_ms {:.2f}".format(*dcp_ms), flush=True)
