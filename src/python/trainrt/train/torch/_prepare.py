"""prepare_model(), which moves a model to this rank's device and wraps the model for training on several ranks."""

from __future__ import annotations

import inspect
from typing import Any

import torch
from torch.nn.parallel import DistributedDataParallel

from . import _amp, _gradients, _group, _transfer, _world

_STRATEGIES = ("ddp", "fsdp", None)


def prepare_model(model: torch.nn.Module, move_to_device: bool | str | torch.device = True, parallel_strategy: str | None = "ddp",
                  parallel_strategy_kwargs: dict[str, Any] | None = None, *, wrap_ddp: bool = True, ddp_kwargs: dict[str, Any] | None = None,
                  gradients_by: str | None = None) -> torch.nn.Module:
    """Returns the model on this rank's device, wrapped for training on several ranks. A run of one rank does not wrap the model.

    Parameters
    ----------
    model : torch.nn.Module
    move_to_device : bool or device
        Device to which the model is moved. True (default) means this rank's device.
    parallel_strategy : {"ddp", "fsdp", None}
        Wrapper: "ddp" (default) is DistributedDataParallel, "fsdp" shards the parameters among the ranks, `None` does not wrap the model.
    parallel_strategy_kwargs : dict, optional
        Arguments of the wrapper.
    wrap_ddp, ddp_kwargs
        Arguments of Ray Train 1: wrap_ddp=False does not wrap the model, ddp_kwargs are arguments of DistributedDataParallel.
    gradients_by : {"trainrt", "torch"}, optional
        Library that averages the gradients of DistributedDataParallel on the CPU: trainrt (default), or torch's process group.

    Examples
    --------
    >>> import torch
    >>> from trainrt.train.torch import prepare_model
    >>> prepare_model(torch.nn.Linear(2, 1), move_to_device="cpu")
    Linear(in_features=2, out_features=1, bias=True)
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


def _data_parallel(model: Any, device: torch.device, arguments: dict[str, Any], gradients_by: str | None) -> Any:
    if not any(parameter.requires_grad for parameter in model.parameters()):
        return model  # DDP refuses a model without trainable parameters
    if device.type == "cuda":
        return DistributedDataParallel(model, **{"device_ids": [device], "output_device": device, **arguments})
    model = DistributedDataParallel(model, **arguments)
    if gradients_by != "torch" and _world.runtime() is not None:
        _gradients.average_by_runtime(model)
    return model


def _sharded(model: Any, arguments: dict[str, Any]) -> Any:
    """Shards the model by fully_shard(). Uses the class FullyShardedDataParallel if torch has no fully_shard(), or fully_shard() does not accept one of
    `arguments`. Raises RuntimeError without a GPU if the class would be used, or if fully_shard() needs a GPU, as in torch 2.6."""
    try:
        from torch.distributed.fsdp import fully_shard
    except (ImportError, ValueError):  # torch 1.13 raises ValueError under Python 3.11
        fully_shard = None
    works_on_cpu = hasattr(getattr(getattr(torch, "cpu", None), "Stream", None), "record_event")  # which fully_shard() calls
    has_gpu = torch.cuda.is_available()
    if fully_shard is not None and (has_gpu or works_on_cpu) and set(arguments) <= set(inspect.signature(fully_shard).parameters) | {"policy"}:
        return fully_shard(model, **arguments)
    if not has_gpu:
        raise RuntimeError(f"prepare_model(parallel_strategy='fsdp') of torch {torch.__version__} with {sorted(arguments) or 'no arguments'} needs "
                           f"GPUs: on the CPU it needs a version after torch 2.6, and arguments of torch.distributed.fsdp.fully_shard only")
    from torch.distributed.fsdp import FullyShardedDataParallel
    return FullyShardedDataParallel(model, **arguments)
