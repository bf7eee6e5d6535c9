"""The Trainer's datasets: checks them and translates them into keys of [data.NAME]."""

import os

from ... import _client
from ..._client.values import kind_of
from ..._support._storage import default_storage
from ._assignment import NAME, Section


def checked(datasets, trainer):
    """Returns `datasets`, {name: trainrt.data.Dataset}. Raises ValueError, which names `trainer`, for anything else."""
    if not datasets:
        return {}
    from ...data import Dataset
    if not isinstance(datasets, dict):
        raise ValueError(f"`datasets` should be a dict mapping from a string to `trainrt.data.Dataset` objects, such as {{'train': dataset}}. "
                         f"{trainer}(datasets=...) found {kind_of(datasets)}")
    for name, dataset in datasets.items():
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise ValueError(f"{trainer}(datasets={{{name!r}: ...}}): a name consists of letters, digits, '_' and '-'")
        if not isinstance(dataset, Dataset):
            raise ValueError(f"The Dataset under {name!r} key is not a `trainrt.data.Dataset`. {trainer}(datasets=...) received {kind_of(dataset)}; "
                             f"use read_csv(), from_items() or another function of trainrt.data, or open other data in the train function")
    return dict(datasets)


def sections_of(datasets, config):
    """Returns the Sections of `datasets`, as {name: Section}. `config`: a DataConfig that does not define configure(), or `None` for the default."""
    return {name: Section(dataset, config is None or config.is_split(name)) for name, dataset in datasets.items()}


def settings(sections, storage):
    """Returns keys of trainrt's config for {name: Section}. Writes datasets that are in memory into files below `storage` or, if `storage` is `None`,
    below the storage path of the launch."""
    if not sections or _is_other_rank():
        return {}
    folder = os.path.join(storage or _storage_of_launch(), ".datasets")
    found = {}
    for name, (dataset, is_split) in sections.items():
        if dataset.is_empty():
            raise ValueError(f"datasets={{{name!r}: ...}}: the dataset has no samples ({dataset!r}), and a run needs at least one; leave it out")
        keys = dataset._config(folder)
        if not is_split:
            keys["split"] = "false"
        found.update({f"data.{name}.{key}": text for key, text in keys.items()})
    return found


def _is_other_rank():
    """Returns whether this is a rank other than 0. Such a rank writes no datasets, because only rank 0's settings are used."""
    return _client.is_connected() and os.environ.get("RANK", "0") != "0"


def _storage_of_launch():
    run_dir = os.environ.get("TRAINRT_RUN_DIR")
    return os.path.dirname(run_dir) if run_dir else default_storage()
