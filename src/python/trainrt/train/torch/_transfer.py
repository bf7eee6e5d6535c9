"""Functions that return the devices of a rank, and that copy batches to a device."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import torch

from . import _world


def get_devices() -> list[torch.device]:
    """Returns the devices of this rank: its GPUs, or the CPU. Raises RuntimeError if torch cannot use the GPUs.

    Examples
    --------
    >>> from trainrt.train.torch import get_devices
    >>> len(get_devices())
    1
    """
    ctx = _world.runtime()
    if ctx is None:
        return [torch.device("cuda", 0)] if torch.cuda.is_available() else [torch.device("cpu")]
    if not ctx.gpus:
        return [torch.device("cpu")]
    if not torch.cuda.is_available():
        raise RuntimeError(f"rank {ctx.world_rank} has {len(ctx.gpus)} GPUs, but this torch ({torch.__version__}) cannot use any: install one with "
                           f"CUDA, or set scaling.gpus_per_worker = 0")
    return [torch.device("cuda", number) for number in ctx.gpus]


def get_device() -> torch.device:
    """Returns the first device of this rank.

    Examples
    --------
    >>> from trainrt.train.torch import get_device
    >>> get_device().type in ("cpu", "cuda")
    True
    """
    return get_devices()[0]


def moved(batch: Any, device: torch.device) -> Any:
    """Returns a copy of `batch` with all tensors on the device. Lists, tuples and dicts in the batch keep their types."""
    if hasattr(batch, "to"):
        return batch.to(device, non_blocking=True)
    if isinstance(batch, Mapping):
        kind: Any = type(batch)
        return kind({key: moved(value, device) for key, value in batch.items()})
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*(moved(value, device) for value in batch))
    if isinstance(batch, (list, tuple)):
        return type(batch)(moved(value, device) for value in batch)
    return batch


def moved_each(batches: Iterable[Any], device: torch.device) -> Iterator[Any]:
    """Yields the batches on the device."""
    for batch in batches:
        yield moved(batch, device)


def moved_ahead(batches: Iterable[Any], device: torch.device) -> Iterator[Any]:
    """Yields the batches on the GPU. A separate stream copies the next batch while the program uses the current one."""
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


def _arrived(batch: Any, event: Any, device: torch.device) -> Any:
    """Returns `batch` after its copy to the GPU. The current stream waits for `event`, and torch's allocator learns that the stream uses the memory."""
    current = torch.cuda.current_stream(device)
    current.wait_event(event)
    for tensor in _tensors_in(batch):
        tensor.record_stream(current)
    return batch


def _tensors_in(batch: Any) -> Iterator[torch.Tensor]:
    if isinstance(batch, torch.Tensor):
        yield batch
    elif isinstance(batch, (Mapping, list, tuple)):
        for part in batch.values() if isinstance(batch, Mapping) else batch:
            yield from _tensors_in(part)
