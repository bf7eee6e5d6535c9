"""SyncConfig: of Ray's older generation; here nothing is copied from a worker's folder to the storage."""

from dataclasses import dataclass


@dataclass
class SyncConfig:
    """Accepted, and without effect but for one line that says so: workers write to the storage themselves."""

    sync_period: int = 300
    sync_timeout: int = 1800
    sync_artifacts: bool = False
    sync_artifacts_on_checkpoint: bool = True
