"""DataConfig: which datasets are split between the workers."""

from collections.abc import Iterable
from typing import Any, Union


class DataConfig:
    """How workers read the Trainer's datasets.

    Parameters
    ----------
    datasets_to_split : 'all' or list of str, default 'all'
        Names of the datasets that are split between the workers. Each worker reads all samples of the others.
    execution_options, enable_shard_locality
        Accepted without effect.

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
            raise TypeError(f"DataConfig(datasets_to_split={datasets_to_split!r}): must be 'all' or a list of names of datasets")
        self.datasets_to_split = datasets_to_split if datasets_to_split == "all" else list(datasets_to_split)
        self.execution_options = execution_options
        self.enable_shard_locality = enable_shard_locality

    def is_split(self, name: str) -> bool:
        """Returns whether dataset `name` is split between the workers."""
        return self.datasets_to_split == "all" or name in self.datasets_to_split
