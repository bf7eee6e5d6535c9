"""Starts and ends torch's process group, for TorchTrainer and prepare_model()."""

from __future__ import annotations

import datetime
import gc
import itertools
import os

import torch
import torch.distributed as dist
from torch.distributed.rendezvous import rendezvous

from . import _transfer, _world

_METHODS = ("env", "tcp")
_numbers = itertools.count(1)  # numbers of the process groups of this process; equal on all ranks


def begin(backend: str | None = None, init_method: str = "env", timeout_s: float = 1800) -> bool:
    """Starts the process group, also for one rank, as Ray Train does. Returns False if the script has already started a process group. Raises
    RuntimeError if the launch has not set the address of rank 0. Collective."""
    if dist.is_initialized():
        return False
    device = _transfer.get_device()
    if device.type == "cuda":
        torch.cuda.set_device(device)
        _enable_nccl_errors()
    backend = backend or ("nccl" if device.type == "cuda" else "gloo")
    timeout = datetime.timedelta(seconds=timeout_s)
    if _world.runtime() is None:
        dist.init_process_group(backend, store=dist.HashStore(), rank=0, world_size=1, timeout=timeout)
        return True
    lacking = [name for name in ("MASTER_ADDR", "MASTER_PORT") if name not in os.environ]
    if lacking:
        raise RuntimeError(f"environment variables not set: {' and '.join(lacking)}. The key program.env of the launch excludes torch; set the key "
                           f"to all, or add torch")
    url = "env://" if init_method == "env" else f"tcp://{os.environ['MASTER_ADDR']}:{os.environ['MASTER_PORT']}"
    dist.init_process_group(backend, store=_store(url, timeout), rank=_world.world_rank(), world_size=_world.world_size(), timeout=timeout)
    return True


def _store(url: str, timeout: datetime.timedelta) -> dist.Store:
    """Returns torch's store with a prefix for this process group. The prefix is needed if an object still refers to the group of an earlier fit():
    torch then returns the earlier store, which has old addresses of the ranks."""
    store, _, _ = next(rendezvous(url, _world.world_rank(), _world.world_size(), timeout=timeout))
    store.set_timeout(timeout)
    return dist.PrefixStore(f"trainrt-{next(_numbers)}", store)


def check_method(init_method: str) -> None:
    """Raises ValueError for an unknown init_method of a TorchConfig."""
    if init_method not in _METHODS:
        raise ValueError(f"TorchConfig(init_method={init_method!r}): it must be one of {', '.join(_METHODS)}")


def end() -> None:
    """Destroys the process group, and frees cached GPU memory."""
    if dist.is_initialized():
        dist.destroy_process_group()
        gc.collect()  # frees models in DDP, which refer to the process group and its store
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def _enable_nccl_errors() -> None:
    """Makes failed NCCL collectives raise an exception instead of hanging."""
    names = ("TORCH_NCCL_ASYNC_ERROR_HANDLING", "NCCL_ASYNC_ERROR_HANDLING")
    waits = ("TORCH_NCCL_BLOCKING_WAIT", "NCCL_BLOCKING_WAIT")
    if not any(name in os.environ for name in names + waits):
        os.environ[names[0] if int(torch.__version__.split(".", maxsplit=1)[0]) >= 2 else names[1]] = "1"
