"""prepare_model(): a module on the device of its rank, trained by all ranks together."""

import inspect

import torch
from torch.nn.parallel import DistributedDataParallel

from . import _amp, _gradients, _group, _world, _transfer

_STRATEGIES = ("ddp", "fsdp", None)


def prepare_model(model, move_to_device=True, parallel_strategy="ddp", parallel_strategy_kwargs=None, *, wrap_ddp=True, ddp_kwargs=None,
                  gradients_by=None):
    """The model on this rank's device (move_to_device: True, False, or a device), in DistributedDataParallel ("ddp") or sharded ("fsdp") if there
    are several ranks; with one it is not wrapped. parallel_strategy_kwargs go to what wraps it. wrap_ddp and ddp_kwargs are Ray Train 1's.

    gradients_by: "trainrt" averages what DDP has gathered through the runtime, on the CPU; "torch" leaves it to the process group. Without a word
    it is trainrt on the CPU, and NCCL on GPUs.
    """
    if parallel_strategy not in _STRATEGIES:
        raise ValueError(f"prepare_model(parallel_strategy={parallel_strategy!r}): it must be 'ddp', 'fsdp' or None")
    if gradients_by not in ("trainrt", "torch", None):
        raise ValueError(f"prepare_model(gradients_by={gradients_by!r}): it must be 'trainrt' or 'torch'")
    device = torch.device(move_to_device) if not isinstance(move_to_device, bool) else _transfer.get_device()
    if device.type == "cuda":
        torch.cuda.set_device(device)
    if move_to_device:
        model = model.to(device)
    _amp.autocast_forward(model, device)
    if _world.world_size() == 1 or parallel_strategy is None or not wrap_ddp:
        return model
    _group.begin()
    arguments = {**(ddp_kwargs or {}), **(parallel_strategy_kwargs or {})}
    return _sharded(model, arguments) if parallel_strategy == "fsdp" else _data_parallel(model, device, arguments, gradients_by)


def _data_parallel(model, device, arguments, gradients_by):
    if not any(parameter.requires_grad for parameter in model.parameters()):
        return model  # DDP takes none that has nothing to train
    if device.type == "cuda":
        return DistributedDataParallel(model, **{"device_ids": [device], "output_device": device, **arguments})
    model = DistributedDataParallel(model, **arguments)
    if gradients_by != "torch" and _world.runtime() is not None:
        _gradients.average_by_runtime(model)
    return model


def _sharded(model, arguments):
    """By fully_shard(), which leaves the names of parameters as they are; by FullyShardedDataParallel if torch has nothing else, or if
    the arguments are its."""
    try:
        from torch.distributed.fsdp import fully_shard
    except (ImportError, ValueError):  # of torch 1.13 under Python 3.11
        fully_shard = None
    if fully_shard is not None and set(arguments) <= set(inspect.signature(fully_shard).parameters) | {"policy"}:
        return fully_shard(model, **arguments)
    if not torch.cuda.is_available():
        raise RuntimeError(f"prepare_model(parallel_strategy='fsdp') of torch {torch.__version__} with {sorted(arguments) or 'no arguments'} needs GPUs: "
                           f"on the CPU it takes torch 2.6 and later, and the arguments of torch.distributed.fsdp.fully_shard")
    from torch.distributed.fsdp import FullyShardedDataParallel
    return FullyShardedDataParallel(model, **arguments)
