"""DataConfig: which datasets are split between the workers."""

import copy
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Optional, Union

if TYPE_CHECKING:
    from ...actor import ActorHandle
    from ...data import DataIterator, Dataset, ExecutionOptions, NodeIdStr


class DataConfig:
    """How workers read the Trainer's datasets. A subclass may define `configure()`, which chooses the dataset of each worker.

    Parameters
    ----------
    datasets_to_split : 'all' or list of str, default 'all'
        Names of the datasets that are split between the workers. Each worker reads all samples of the others.
    execution_options, enable_shard_locality
        Accepted without effect: the order of samples is always preserved, and each worker reads its samples itself.

    Raises
    ------
    TypeError
        If `datasets_to_split` is neither 'all' nor a list of names.

    Examples
    --------
    >>> from trainrt.train import DataConfig
    >>> DataConfig(datasets_to_split=["train"]).is_split("valid")
    False
    """

    def __init__(self, datasets_to_split: Union[str, Iterable[str]] = "all", execution_options: Any = None, enable_shard_locality: bool = True):
        if datasets_to_split != "all" and (isinstance(datasets_to_split, str) or not hasattr(datasets_to_split, "__iter__")):
            raise TypeError("`datasets_to_split` should be a 'all' or a list of strings of dataset names. Received "
                            f"{type(datasets_to_split).__name__} with value {datasets_to_split!r}")
        self.datasets_to_split = datasets_to_split if datasets_to_split == "all" else list(datasets_to_split)
        self.execution_options = execution_options
        self.enable_shard_locality = enable_shard_locality

    def is_split(self, name: str) -> bool:
        """Returns whether dataset `name` is split between the workers."""
        return self.datasets_to_split == "all" or name in self.datasets_to_split

    def configure(self, datasets: "dict[str, Dataset]", world_size: int, worker_handles: "Optional[list[ActorHandle]]",
                  worker_node_ids: "Optional[list[NodeIdStr]]", **kwargs: Any) -> "list[dict[str, DataIterator]]":
        """Returns the datasets of each worker. `fit()` calls it before the workers start, and on each rank of a script that trainrt started.

        Parameters
        ----------
        datasets : dict of str to trainrt.data.Dataset
            Datasets of the Trainer.
        world_size : int
            Number of workers.
        worker_handles, worker_node_ids
            `None`: the workers are processes, not actors, and have no nodes before they start.

        Returns
        -------
        list of dict of str to trainrt.data.DataIterator
            One dict per worker: results of `Dataset.streaming_split()` and `Dataset.iterator()`.

        Examples
        --------
        >>> import trainrt
        >>> from trainrt.train import DataConfig
        >>> parts = DataConfig().configure({"train": trainrt.data.range(4)}, 2, None, None)
        >>> [[row["id"] for row in part["train"].iter_rows()] for part in parts]
        [[0, 1], [2, 3]]
        """
        del worker_handles, kwargs
        found: list[dict[str, DataIterator]] = [{} for _ in range(world_size)]
        for name, dataset in datasets.items():
            if self.is_split(name):
                parts = dataset.streaming_split(world_size, equal=True, locality_hints=worker_node_ids)
            else:
                parts = [dataset.iterator() for _ in found]
            for worker, part in zip(found, parts):
                worker[name] = part
        return found

    def set_train_total_resources(self, num_train_cpus: float, num_train_gpus: float) -> None:
        """Does nothing: reading uses the CPUs of the ranks."""

    @staticmethod
    def default_ingest_options() -> "ExecutionOptions":
        """Returns a copy of the execution options of the DataContext."""
        from ...data import DataContext
        return copy.deepcopy(DataContext.get_current().execution_options)
