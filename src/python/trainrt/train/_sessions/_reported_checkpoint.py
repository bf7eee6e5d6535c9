"""Reported checkpoints: how they are stored, and their state."""

from dataclasses import dataclass
from enum import Enum
from typing import Any

from .._results._checkpoint import Checkpoint


class CheckpointUploadMode(Enum):
    """How `report()` stores a checkpoint.

    In each mode, `report()` returns after the files are copied or linked, and the commit follows in the background. ASYNC also removes the reported
    directory after the commit, unless `delete_local_checkpoint_after_upload` is False. NO_UPLOAD stores the files as SYNC does, since a checkpoint counts
    only when its files are in the run directory, and never removes the reported directory.

    Examples
    --------
    >>> import tempfile
    >>> from trainrt import train
    >>> from trainrt.train import Checkpoint, CheckpointUploadMode
    >>> checkpoint = Checkpoint.from_directory(tempfile.mkdtemp())
    >>> train.report({"loss": 0.5}, checkpoint, checkpoint_upload_mode=CheckpointUploadMode.ASYNC)
    """

    SYNC = "SYNC"
    ASYNC = "ASYNC"
    NO_UPLOAD = "NO_UPLOAD"


class CheckpointConsistencyMode(Enum):
    """Which metrics `get_all_reported_checkpoints()` returns.

    COMMITTED: the metrics of the reports. VALIDATED: also the metrics of validations; the call waits for the validations.

    Examples
    --------
    >>> from trainrt import train
    >>> from trainrt.train import CheckpointConsistencyMode
    >>> checkpoints = train.get_all_reported_checkpoints(CheckpointConsistencyMode.COMMITTED)
    """

    COMMITTED = "COMMITTED"
    VALIDATED = "VALIDATED"


class ReportedCheckpointStatus(Enum):
    """State of a reported checkpoint.

    COMMITTED: stored, and no validation was requested. PENDING_VALIDATION: the validation is not complete. VALIDATED: the validation is complete.
    VALIDATION_TIMEOUT: the validation took longer than `timeout_s`. VALIDATION_FAILED: the validation failed in another way.

    Examples
    --------
    >>> from trainrt.train import Checkpoint, ReportedCheckpoint, ReportedCheckpointStatus
    >>> ReportedCheckpoint(Checkpoint("/tmp/model"), {"loss": 0.5}).status is ReportedCheckpointStatus.COMMITTED
    True
    """

    COMMITTED = "COMMITTED"
    PENDING_VALIDATION = "PENDING_VALIDATION"
    VALIDATED = "VALIDATED"
    VALIDATION_TIMEOUT = "VALIDATION_TIMEOUT"
    VALIDATION_FAILED = "VALIDATION_FAILED"


@dataclass(frozen=True)
class ReportedCheckpoint:
    """A checkpoint, the metrics that were reported with it, and its state.

    Examples
    --------
    >>> from trainrt.train import Checkpoint, ReportedCheckpoint
    >>> ReportedCheckpoint(Checkpoint("/tmp/model"), {"loss": 0.5}).metrics
    {'loss': 0.5}
    """

    checkpoint: Checkpoint
    metrics: dict[str, Any]
    status: ReportedCheckpointStatus = ReportedCheckpointStatus.COMMITTED
