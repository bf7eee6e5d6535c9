"""report(), get_checkpoint(), get_all_reported_checkpoints(): what a train function says, and asks for."""

from dataclasses import dataclass
from enum import Enum
from typing import Dict

from . import _datasets, _session
from ._checkpoint import Checkpoint
from ._metrics import flat_metrics, has_numbers_to_reduce


class CheckpointUploadMode(Enum):
    """Ray Train's. Here report() returns as soon as the files are copied or linked, whichever is given, and the commit goes on behind
    it; with ASYNC the directory is removed once that is done, unless delete_local_checkpoint_after_upload says otherwise."""

    SYNC = "SYNC"
    ASYNC = "ASYNC"
    NO_UPLOAD = "NO_UPLOAD"


class CheckpointConsistencyMode(Enum):
    """Ray Train's: here both mean those that are committed."""

    COMMITTED = "COMMITTED"
    VALIDATED = "VALIDATED"


@dataclass(frozen=True)
class ReportedCheckpoint:
    """A checkpoint, and the metrics that were reported with it."""

    checkpoint: Checkpoint
    metrics: Dict


def _mode(given):
    mode = given if isinstance(given, CheckpointUploadMode) else CheckpointUploadMode.SYNC if given is None else None
    if mode is None:
        raise ValueError(f"report(checkpoint_upload_mode={given!r}): it must be a trainrt.train.CheckpointUploadMode")
    if mode is CheckpointUploadMode.NO_UPLOAD:
        raise ValueError("report(checkpoint_upload_mode=NO_UPLOAD): a checkpoint counts when its files are in the run directory, and "
                         "verified; leave the mode out, and report the directory")
    return mode


def _checked_checkpoint(checkpoint, upload_fn, validation):
    if checkpoint is not None and not isinstance(checkpoint, Checkpoint):
        raise TypeError(f"report(checkpoint=...) takes a Checkpoint, not a {type(checkpoint).__name__}: "
                        f"Checkpoint.from_directory(path)")
    if upload_fn is not None:
        raise ValueError("report(checkpoint_upload_fn=...): files go into the run directory by trainrt, which verifies them; write them "
                         "into a directory, and report that")
    if validation:
        raise ValueError("report(validation=...): there is no asynchronous validation here; evaluate in the train function, or in a job "
                         "of its own that reads the checkpoint")


def report(metrics=None, checkpoint=None, checkpoint_dir_name=None, checkpoint_upload_mode=None, delete_local_checkpoint_after_upload=None,
           checkpoint_upload_fn=None, validation=False, *, aggregate=None, **more_metrics):
    """Reports metrics, and a checkpoint if one is given. Every rank calls it, equally often; rank 0's metrics count, and any ranks may
    give a directory: the files of all together are the checkpoint. aggregate=True, or a trainrt.Number or ratio() among the metrics:
    those of all ranks become one, as trainrt.context().report() does it, and all ranks give the same names. Left out, it is as
    metrics.aggregate of the config says.
    """
    mode = _mode(checkpoint_upload_mode)
    _checked_checkpoint(checkpoint, checkpoint_upload_fn, validation)
    flat = flat_metrics({**(metrics or {}), **more_metrics} if metrics is None or isinstance(metrics, dict) else metrics)
    asked = delete_local_checkpoint_after_upload
    removes = checkpoint is not None and (mode is CheckpointUploadMode.ASYNC if asked is None else bool(asked))
    session = _session.current()
    aggregate = session.aggregates if aggregate is None else aggregate
    session.report(flat, checkpoint, checkpoint_dir_name, aggregate or has_numbers_to_reduce(flat), removes)


def get_checkpoint():
    """The newest Checkpoint of this run that has files, also from before a restart; else the Trainer's resume_from_checkpoint; else
    None."""
    return _session.current().get_checkpoint()


def get_all_reported_checkpoints(consistency_mode=CheckpointConsistencyMode.VALIDATED, timeout_s=None):
    """Those that are kept, oldest first, as ReportedCheckpoint. What is on its way is waited for."""
    del consistency_mode, timeout_s
    return [ReportedCheckpoint(checkpoint, metrics) for checkpoint, metrics in _session.current().reported_checkpoints()]


def get_dataset_shard(dataset_name="train"):
    """This rank's part of a dataset: of the Trainer's, or of a [data.NAME] of the config. None if there are none at all."""
    return _datasets.shard(_session.current(), dataset_name)
