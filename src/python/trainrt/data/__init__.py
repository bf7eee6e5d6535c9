"""Datasets with Ray Data's interface. A Trainer passes the datasets to its train function.

    import trainrt

    train = trainrt.data.read_csv("train-*.csv").random_shuffle()
    trainer = TorchTrainer(train_func, datasets={"train": train}, ...)

    def train_func():
        shard = trainrt.train.get_dataset_shard("train")
        for epoch in range(10):
            for batch in shard.iter_torch_batches(batch_size=64):    # {"x": tensor, "y": tensor}
                ...

The runtime reads the files ahead of the train function, into memory that runtime and train function share. Every checkpoint stores the position
in the data. Requires NumPy.
"""

import importlib
from typing import Any

from .._ray_names import names_of
from ._batches._iterator import DataIterator
from ._combined import GroupedData
from ._context import DataContext, ExecutionOptions, ExecutionResources, NodeIdStr
from ._dataset import Dataset, DatasetPipeline, MaterializedDataset
from ._from_memory import from_huggingface, from_items, from_numpy, from_pandas, from_torch, range, range_tensor
from ._read import read_csv, read_hdf5, read_idx, read_json, read_numpy, read_parquet, read_sql, read_text, read_tokens
from ._read_images import read_images, read_webdataset
from ._values._schema import Schema

__all__ = ["DataContext", "DataIterator", "Dataset", "DatasetPipeline", "ExecutionOptions", "ExecutionResources", "GroupedData", "MaterializedDataset",
           "NodeIdStr", "Schema", "from_huggingface", "from_items", "from_numpy", "from_pandas", "from_torch", "range", "range_tensor", "read_csv",
           "read_hdf5", "read_idx", "read_images", "read_json", "read_numpy", "read_parquet", "read_sql", "read_text", "read_tokens", "read_webdataset"]
_names = names_of(__name__)


def __getattr__(name: str) -> Any:
    """Imports the module `preprocessors` at its first use: scripts without preprocessors start faster."""
    return importlib.import_module(f"{__name__}.preprocessors") if name == "preprocessors" else _names(name)
