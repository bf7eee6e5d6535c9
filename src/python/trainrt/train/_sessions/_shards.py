"""Dataset shards of a train function."""


def shard(session, name):
    """Returns this rank's shard of dataset `name`, a DataIterator; `None` if the run has no datasets. Raises KeyError for an unknown name."""
    datasets = session.spec.datasets
    if session.spec.worker_datasets is not None:
        datasets = session.spec.worker_datasets[session.world_rank]
        if name in datasets:
            return session.shard(*datasets[name])
    elif name in datasets:
        return session.shard(name, datasets[name])
    if session.runtime is not None and session.has_dataset(name):  # [data.NAME] of the config
        return session.shard(name, None)
    if not datasets:
        return None
    owner = "the Trainer" if session.spec.worker_datasets is None else "DataConfig.configure() for this worker"
    raise KeyError(f"get_dataset_shard({name!r}): {owner} has no dataset of this name; it has: {', '.join(sorted(datasets))}")
