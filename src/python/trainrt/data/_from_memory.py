"""from_*() and range(), which return datasets of samples in a script's memory.

When a run starts, the samples are written once into the folder .datasets of the storage path. Arguments of Ray Data that only place tasks on a
cluster are ignored.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ._dataset import Dataset, MaterializedDataset
from ._sources import FileSource, MemorySource
from ._values._columns import column_of, columns_of, stacked
from ._values._numpy import numpy

if TYPE_CHECKING:
    import pandas


def range(n: int, **ray: Any) -> Dataset:
    """Returns a dataset of `n` samples; the column `id` (i64) contains the numbers 0 to n-1.

    Examples
    --------
    >>> import trainrt
    >>> trainrt.data.range(3).take()
    [{'id': 0}, {'id': 1}, {'id': 2}]
    """
    del ray
    if int(n) == 0:
        return _of_columns({"id": numpy.empty(0, "i8")}, "range")
    return Dataset(FileSource(format="range", samples=int(n)))


class _Filled:
    """A map function that returns, for each sample, an array of shape `shape` in which every element is the sample's id."""

    def __init__(self, shape: Sequence[int]) -> None:
        self.shape = tuple(shape)

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        ids = batch["id"]
        return {"data": numpy.broadcast_to(ids.reshape(-1, *(1 for _ in self.shape)), (len(ids), *self.shape)).copy()}


def range_tensor(n: int, *, shape: Sequence[int] = (1,), **ray: Any) -> Dataset:
    """Returns a dataset of `n` samples; the column `data` of sample i contains an array of shape `shape` with all elements i.

    Examples
    --------
    >>> import trainrt
    >>> trainrt.data.range_tensor(2, shape=(1, 2)).take_batch()["data"].tolist()
    [[[0, 0]], [[1, 1]]]
    """
    return range(n, **ray).map_batches(_Filled(shape))


def _of_columns(columns: Any, what: str) -> MaterializedDataset:
    return MaterializedDataset(MemorySource(columns_of(columns, what, "was given")))


def from_items(items: Iterable[Any], **ray: Any) -> MaterializedDataset:
    """Returns a dataset with one sample per item.

    If the items are dicts with equal keys, each key becomes a column. Otherwise the items become the column `item`. Raises TypeError or ValueError
    for values that are not numbers, bools, strings or arrays of these.

    Examples
    --------
    >>> import trainrt
    >>> trainrt.data.from_items([{"x": 1.0, "city": "Bern"}, {"x": 2.0, "city": "Basel"}]).take(1)
    [{'x': 1.0, 'city': 'Bern'}]
    """
    del ray
    items = list(items)
    if not items:
        return _of_columns({}, "from_items")
    if isinstance(items[0], dict):
        return _of_columns(stacked(items, "from_items", "was given"), "from_items")
    return _of_columns({"item": items}, "from_items")


def from_numpy(ndarrays: Any, **ray: Any) -> MaterializedDataset:
    """Returns a dataset of the samples of an array, or of several arrays one after another, in the column `data`. A dict {name: array} gives one
    column per name. The first axis counts the samples.

    Examples
    --------
    >>> import numpy
    >>> import trainrt
    >>> trainrt.data.from_numpy({"x": numpy.zeros((4, 2)), "y": numpy.arange(4)}).schema()
    x: float64[2]
    y: int64
    """
    del ray
    if isinstance(ndarrays, dict):
        return _of_columns(ndarrays, "from_numpy")
    several = ndarrays if isinstance(ndarrays, (list, tuple)) else [ndarrays]
    return _of_columns({"data": numpy.concatenate([numpy.asarray(each) for each in several])}, "from_numpy")


def from_pandas(dfs: pandas.DataFrame | Sequence[pandas.DataFrame], **ray: Any) -> MaterializedDataset:
    """Returns a dataset of the rows of a DataFrame, or of several DataFrames one after another.

    Categorical columns keep their categories: XGBoostTrainer and LightGBMTrainer with `params` use them as categorical features. A column of
    integers or bools with missing values becomes a column of floats with NaN; a note reports missing bools. Missing strings are `None` in this
    process, and empty strings in a train function, with a note.

    Raises
    ------
    ValueError
        Two columns have the same name, or a column with missing values has an integer above 2**53.

    Examples
    --------
    >>> import pandas
    >>> import trainrt
    >>> trainrt.data.from_pandas(pandas.DataFrame({"x": [1, 2], "y": [0.5, None]})).take_batch()["y"].tolist()
    [0.5, nan]
    """
    del ray
    frame: Any = dfs
    if isinstance(dfs, (list, tuple)):
        import pandas
        frame = pandas.concat(dfs, ignore_index=True)
    return _of_columns(frame, "from_pandas")


def from_torch(dataset: Any, **ray: Any) -> MaterializedDataset:
    """Returns a dataset of the samples of a torch Dataset with a length.

    Samples that are dicts become one column per key, tuples the columns `item_0`, `item_1` and so on, and other samples the column `item`.

    Examples
    --------
    >>> import torch
    >>> import trainrt
    >>> from torch.utils.data import TensorDataset
    >>> trainrt.data.from_torch(TensorDataset(torch.ones(3, 2), torch.arange(3))).columns()
    ['item_0', 'item_1']
    """
    del ray
    samples = [dataset[number] for number in builtins.range(len(dataset))]
    if samples and isinstance(samples[0], (tuple, list)):
        return _of_columns({f"item_{number}": list(values) for number, values in enumerate(zip(*samples))}, "from_torch")
    return from_items(samples)


def from_huggingface(dataset: Any, **ray: Any) -> MaterializedDataset:
    """Returns a dataset of the rows of a Hugging Face Dataset of numbers, strings and lists of numbers. Raises TypeError for a DatasetDict.

    Examples
    --------
    >>> import datasets                                                             # doctest: +SKIP
    >>> trainrt.data.from_huggingface(datasets.load_dataset("imdb", split="train"))   # doctest: +SKIP
    """
    del ray
    if not hasattr(dataset, "column_names") or isinstance(dataset.column_names, dict):
        raise TypeError("from_huggingface() takes one datasets.Dataset; choose a split of a DatasetDict: dataset['train']")
    return _of_columns({name: column_of(dataset[name], f"'{name}'") for name in dataset.column_names}, "from_huggingface")
