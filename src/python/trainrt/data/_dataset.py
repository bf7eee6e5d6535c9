"""Dataset, which describes samples, their order and operations on the samples, and MaterializedDataset. Samples are read when a method needs them."""

from __future__ import annotations

from typing import Any

from ._changes import ChangeMethods
from ._choices import ChoiceMethods


class Dataset(ChangeMethods, ChoiceMethods):
    """An immutable dataset of samples with named columns, as read_*() and from_*() return. Each operation returns a new Dataset.

    To train on a Dataset, pass ``datasets={"train": dataset}`` to a Trainer. Methods that need samples read the samples in this process, and raise
    RuntimeError or ValueError if reading fails. Arguments of Ray Data that only place tasks on a cluster (num_cpus, compute, ...) are ignored.
    Methods raise TypeError for unknown arguments and for functions that are not callable.

    Examples
    --------
    >>> import trainrt
    >>> dataset = trainrt.data.range(10).filter(expr="id < 6").map(lambda row: {"half": row["id"] / 2})
    >>> dataset.count()
    6
    >>> dataset.take(2)
    [{'half': 0.0}, {'half': 0.5}]
    >>> train, test = dataset.train_test_split(0.5)
    >>> test.take_batch()["half"].tolist()
    [1.5, 2.0, 2.5]
    """

    def _new(self, *, materialized: bool = False, **parts: Any) -> Dataset:
        return MaterializedDataset(**parts) if materialized else Dataset(**parts)

    def __repr__(self) -> str:
        rows = "" if self._rows is None else ", of rows" if callable(self._rows) else f", {len(self._rows)} rows"
        made = "".join(f", {name}" for name in self._reshape.keys)
        return f"Dataset({self._source}{made}{rows}{f', {len(self._operations)} operations' if self._operations else ''})"


class MaterializedDataset(Dataset):
    """A Dataset whose samples are in memory, as materialize() and from_*() return.

    Examples
    --------
    >>> import trainrt
    >>> trainrt.data.range(3).map_batches(lambda batch: {"square": batch["id"] ** 2}).materialize()
    Dataset(in memory: square)
    """
