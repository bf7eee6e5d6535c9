"""DataConfig: how datasets are given to the workers."""

from typing import Iterable, Union


class DataConfig:
    """Which datasets are split among the workers ("all", or a list of names); of the others every worker gets all."""

    def __init__(self, datasets_to_split: Union[str, Iterable[str]] = "all", execution_options=None, enable_shard_locality: bool = True):
        if datasets_to_split != "all" and (isinstance(datasets_to_split, str) or not hasattr(datasets_to_split, "__iter__")):
            raise TypeError(f"DataConfig(datasets_to_split={datasets_to_split!r}): it must be 'all' or a list of names of datasets")
        self.datasets_to_split = datasets_to_split if datasets_to_split == "all" else list(datasets_to_split)
        self.execution_options = execution_options
        self.enable_shard_locality = enable_shard_locality

    def is_split(self, name):
        return self.datasets_to_split == "all" or name in self.datasets_to_split
