"""SyncConfig, which has no effect: nothing is copied from a worker's directory to the storage path."""

from dataclasses import dataclass


@dataclass
class SyncConfig:
    """Accepted for scripts of Ray's older versions. It has no effect except a note: the ranks write into the run directory.

    Examples
    --------
    >>> from trainrt.train import RunConfig, SyncConfig
    >>> config = RunConfig(sync_config=SyncConfig())
    """

    sync_period: int = 300
    sync_timeout: int = 1800
    sync_artifacts: bool = False
    sync_artifacts_on_checkpoint: bool = True
