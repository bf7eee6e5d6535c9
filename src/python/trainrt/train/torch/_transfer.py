"""Devices, and batches on their way to them."""

import collections.abc

import torch

from . import _world


def get_devices():
    """The devices of this rank, as torch.device: its GPUs, or the CPU alone."""
    ctx = _world.runtime()
    if ctx is None:
        return [torch.device("cuda", 0)] if torch.cuda.is_available() else [torch.device("cpu")]
    if not ctx.gpus:
        return [torch.device("cpu")]
    if not torch.cuda.is_available():
        raise RuntimeError(f"rank {ctx.world_rank} has {len(ctx.gpus)} GPUs, but this torch ({torch.__version__}) cannot use any: install one with "
                           f"CUDA, or set scaling.gpus_per_worker = 0")
    return [torch.device("cuda", number) for number in ctx.gpus]


def get_device():
    """The device of this rank, the first if it has several."""
    return get_devices()[0]


def moved(batch, device):
    """The batch with all its tensors on the device; lists, tuples and dicts keep their types."""
    if hasattr(batch, "to"):
        return batch.to(device, non_blocking=True)
    if isinstance(batch, collections.abc.Mapping):
        return type(batch)({key: moved(value, device) for key, value in batch.items()})
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*(moved(value, device) for value in batch))
    if isinstance(batch, (list, tuple)):
        return type(batch)(moved(value, device) for value in batch)
    return batch


def moved_ahead(batches, device):
    """Each of the batches on the GPU; the next is copied by a stream of its own, while the program works on the one before."""
    copies = torch.cuda.Stream(device)
    ahead = None
    for batch in batches:
        with torch.cuda.stream(copies):
            following = (moved(batch, device), copies.record_event())
        if ahead is not None:
            yield _arrived(*ahead, device)
        ahead = following
    if ahead is not None:
        yield _arrived(*ahead, device)


def _arrived(batch, event, device):
    """The allocator must know that this stream uses the memory now."""
    current = torch.cuda.current_stream(device)
    current.wait_event(event)
    for tensor in _tensors_in(batch):
        tensor.record_stream(current)
    return batch


def _tensors_in(batch):
    if isinstance(batch, torch.Tensor):
        yield batch
    elif isinstance(batch, (collections.abc.Mapping, list, tuple)):
        for part in batch.values() if isinstance(batch, collections.abc.Mapping) else batch:
            yield from _tensors_in(part)
