"""The Trainer's datasets, as keys of [data.NAME] of the config; the shards that a train function takes."""

import os
import re

from ..._support._storage import default_storage

_NAME = re.compile(r"[A-Za-z0-9_-]+")


def checked(datasets, trainer):
    """{name: trainrt.data.Dataset}."""
    if not datasets:
        return {}
    from ...data import Dataset
    if not isinstance(datasets, dict):
        raise TypeError(f"{trainer}(datasets=...) takes a dict, {{'train': dataset}}, not a {type(datasets).__name__}")
    for name, dataset in datasets.items():
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise ValueError(f"{trainer}(datasets={{{name!r}: ...}}): a name has letters, digits, '_' and '-'")
        if not isinstance(dataset, Dataset):
            raise TypeError(f"{trainer}(datasets={{{name!r}: ...}}) takes datasets of trainrt.data (read_csv, from_items, from_torch, ...), not a "
                            f"{type(dataset).__name__}; what is made in the train function needs none")
    return dict(datasets)


def settings(datasets, config, storage):
    """Keys of trainrt's config. What a dataset has in memory is written below `storage`."""
    if not datasets or _is_other_rank():
        return {}
    folder = os.path.join(storage or _storage_of_launch(), ".datasets")
    found = {}
    for name, dataset in datasets.items():
        if dataset.is_empty():
            raise ValueError(f"datasets={{{name!r}: ...}}: the dataset has no samples ({dataset!r}): a run needs one at least; leave it out")
        keys = dataset._config(folder)
        if config is not None and not config.is_split(name):
            keys["split"] = "false"
        found.update({f"data.{name}.{key}": text for key, text in keys.items()})
    return found


def _is_other_rank():
    """Rank 0's settings count: the others need not write the same."""
    from ... import _client
    return _client.is_connected() and os.environ.get("RANK", "0") != "0"


def _storage_of_launch():
    run_dir = os.environ.get("TRAINRT_RUN_DIR")
    return os.path.dirname(run_dir) if run_dir else default_storage()


def shard(session, name):
    """The DataIterator of a dataset."""
    datasets = session.job.datasets
    if name not in datasets:
        return _of_config(session, name)
    return session.shard(name, datasets[name])


def _of_config(session, name):
    datasets = session.job.datasets
    if session.runtime is not None and session.has_dataset(name):
        return session.shard(name, None)
    if not datasets:
        return None
    raise KeyError(f"get_dataset_shard({name!r}): the Trainer has the datasets {', '.join(sorted(datasets))}")
