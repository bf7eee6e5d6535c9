"""Access keys of the run's store that a filesystem object has. They are sent through the exchange of fit() to rank 0, which sends them to its runtime, and are
in no file, argument or environment variable."""

import copy
import json
import os

from ... import _client
from ..._support._exchange_client import ScriptUnreachable
from .._config import _filesystem
from .._config._storage import PathInFilesystem

_NAME = "store_keys"


def of(run_config):
    """Returns the access keys in the storage_filesystem of a RunConfig, or `None`."""
    return _filesystem.keys_of(run_config.storage_filesystem) if run_config is not None else None


def offer(run_config, exchange):
    """Offers the access keys of the RunConfig in `exchange`, from which receive() gets them on rank 0."""
    keys = of(run_config)
    if keys is not None:
        exchange.put(_NAME, json.dumps(keys).encode())


def without_filesystem(trainer):
    """Returns a copy of `trainer` for the ranks. Its RunConfig lacks the filesystem object, which may have keys."""
    run = getattr(trainer, "run_config", None)
    if run is None or run.storage_filesystem is None or isinstance(run.storage_path, PathInFilesystem):
        return trainer
    made = copy.copy(trainer)
    made._has_store_keys = of(run) is not None
    made.run_config = copy.copy(run)
    made.run_config.storage_filesystem = None
    return made


def receive(script):
    """Gets the keys from the script on rank 0, for the first request to the runtime. If the script cannot be reached, the next request reports the error."""
    if os.environ.get("RANK", "0") != "0":
        return
    try:
        found = script.get(_NAME)
    except ScriptUnreachable:
        return
    if found is not None:
        _client.use_store_keys(json.loads(found))
