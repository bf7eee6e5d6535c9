"""open_shard(), which opens this rank's shard of a run's dataset for Context.dataset()."""

from __future__ import annotations

from typing import Any, Callable

from .._client import Context
from ._batches._epochs import Place
from ._batches._iterator import DataIterator
from ._batches._pipeline import PipelineIterator
from ._batches._shared_batches import Link
from ._dataset import Dataset, DatasetPipeline, MaterializedDataset
from ._sources import MemorySource


def open_shard(ctx: Context, name: str, dataset: Dataset | None, before: Callable[[], Any] | None) -> DataIterator:
    """Returns a DataIterator of this rank's shard of [data.NAME]. Operations of `dataset` are applied. `before()` is called before each epoch."""
    if ctx._batches is None:
        ctx._batches = Link(ctx._ask)
    assert isinstance(ctx._batches, Link)
    place = Place(ctx._batches, name)
    kind = PipelineIterator if isinstance(dataset, DatasetPipeline) else DataIterator
    found = kind(lambda: place, dataset, before, in_memory=lambda columns: MaterializedDataset(MemorySource(columns)))
    found._operations = tuple(operation.in_training() for operation in found._operations)
    found.end_epoch = dataset._times if isinstance(dataset, DatasetPipeline) else None
    return found
