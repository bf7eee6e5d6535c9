"""torch's process group: begun by TorchTrainer, or by prepare_model() in a script of its own."""

import datetime
import gc
import itertools
import os

import torch
import torch.distributed as dist
from torch.distributed.rendezvous import rendezvous

from . import _world, _transfer

_METHODS = ("env", "tcp")
_numbers = itertools.count(1)  # of the groups that this process has begun; all ranks begin them together


def begin(backend=None, init_method="env", timeout_s=1800):
    """False if the script has begun one itself. With one process too, as Ray Train does it."""
    if dist.is_initialized():
        return False
    device = _transfer.get_device()
    if device.type == "cuda":
        torch.cuda.set_device(device)
        _let_nccl_fail()
    backend = backend or ("nccl" if device.type == "cuda" else "gloo")
    timeout = datetime.timedelta(seconds=timeout_s)
    if _world.runtime() is None:
        dist.init_process_group(backend, store=dist.HashStore(), rank=0, world_size=1, timeout=timeout)
        return True
    lacking = [name for name in ("MASTER_ADDR", "MASTER_PORT") if name not in os.environ]
    if lacking:
        raise RuntimeError(f"{' and '.join(lacking)} is not set: the launch left torch out of program.env, which must be auto or name torch")
    url = "env://" if init_method == "env" else f"tcp://{os.environ['MASTER_ADDR']}:{os.environ['MASTER_PORT']}"
    dist.init_process_group(backend, store=_store(url, timeout), rank=_world.world_rank(), world_size=_world.world_size(), timeout=timeout)
    return True


def _store(url, timeout):
    """With keys of this group's own: while anything holds on to the group of an earlier fit(), torch hands out that one's store again, where
    the ranks would find each other's old addresses."""
    store, _, _ = next(rendezvous(url, _world.world_rank(), _world.world_size(), timeout=timeout))
    store.set_timeout(timeout)
    return dist.PrefixStore(f"trainrt-{next(_numbers)}", store)


def check_method(init_method):
    if init_method not in _METHODS:
        raise ValueError(f"TorchConfig(init_method={init_method!r}): it must be one of {', '.join(_METHODS)}")


def end():
    if dist.is_initialized():
        dist.destroy_process_group()
        gc.collect()  # models in DDP that refer to the group, and so to its store
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def _let_nccl_fail():
    """A collective that fails raises, and does not hang."""
    names = ("TORCH_NCCL_ASYNC_ERROR_HANDLING", "NCCL_ASYNC_ERROR_HANDLING")
    waits = ("TORCH_NCCL_BLOCKING_WAIT", "NCCL_BLOCKING_WAIT")
    if not any(name in os.environ for name in names + waits):
        os.environ[names[0] if int(torch.__version__.split(".", maxsplit=1)[0]) >= 2 else names[1]] = "1"
