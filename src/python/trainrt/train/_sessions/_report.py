"""report(), get_checkpoint(), get_all_reported_checkpoints(): what a train function says, and asks for."""

from dataclasses import dataclass
from enum import Enum
from typing import Dict

from . import _datasets, _session
from .._results._checkpoint import Checkpoint
from ._metrics import flat_metrics, has_numbers_to_reduce


class CheckpointUploadMode(Enum):
    """Ray Train's. Here report() returns as soon as the files are copied or linked, whichever is given, and the commit goes on behind
    it; with ASYNC the directory is removed once that is done, unless delete_local_checkpoint_after_upload says otherwise."""

    SYNC = "SYNC"
    ASYNC = "ASYNC"
    NO_UPLOAD = "NO_UPLOAD"


class CheckpointConsistencyMode(Enum):
    """COMMITTED: what was reported. VALIDATED: with what the validations have found, which are waited for."""

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
    if validation and checkpoint is None:
        raise ValueError("report(validation=...) validates a checkpoint: give one too")


def _validation_of(session, validation):
    """What the checkpoint's manifest is to have, or None."""
    if not validation:
        return None
    if session.job.validation is None:
        raise ValueError("report(validation=...): the Trainer was given no validation_config=ValidationConfig(fn=...), the function that "
                         "evaluates a checkpoint")
    return session.job.validation.request(validation)


def report(metrics=None, checkpoint=None, checkpoint_dir_name=None, checkpoint_upload_mode=None, delete_local_checkpoint_after_upload=None,
           checkpoint_upload_fn=None, validation=False, *, aggregate=None, **more_metrics):
    """Reports metrics, and a checkpoint if one is given. Every rank calls it, equally often; rank 0's metrics count, and any ranks may
    give a directory: the files of all together are the checkpoint. aggregate=True, or a trainrt.Number or ratio() among the metrics:
    those of all ranks become one, as trainrt.context().report() does it, and all ranks give the same names. Left out, it is as
    metrics.aggregate of the config says.

    validation=True, or a ValidationTaskConfig: the function of the Trainer's validation_config evaluates the checkpoint beside the
    training, and what it returns then counts as the checkpoint's metrics too; all ranks give the same.
    """
    mode = _mode(checkpoint_upload_mode)
    _checked_checkpoint(checkpoint, checkpoint_upload_fn, validation)
    flat = flat_metrics({**(metrics or {}), **more_metrics} if metrics is None or isinstance(metrics, dict) else metrics)
    asked = delete_local_checkpoint_after_upload
    removes = checkpoint is not None and (mode is CheckpointUploadMode.ASYNC if asked is None else bool(asked))
    session = _session.current()
    aggregate = session.aggregates if aggregate is None else aggregate
    session.report(flat, checkpoint, checkpoint_dir_name, aggregate or has_numbers_to_reduce(flat), removes,
                   validation=_validation_of(session, validation))


def get_checkpoint():
    """The newest Checkpoint of this run that has files, also from before a restart; else the Trainer's resume_from_checkpoint; else
    None."""
    return _session.current().get_checkpoint()


def get_all_reported_checkpoints(consistency_mode=CheckpointConsistencyMode.VALIDATED, timeout_s=None):
    """Those that are kept, oldest first, as ReportedCheckpoint. What is on its way is waited for; so are validations, timeout_s at most,
    unless the mode is COMMITTED. One that the newest has replaced is deleted in the background, and may still be among them."""
    session = _session.current()
    if consistency_mode is CheckpointConsistencyMode.VALIDATED:
        session.wait_until_validated(timeout_s)
    return [ReportedCheckpoint(checkpoint, metrics) for checkpoint, metrics in session.reported_checkpoints()]


def get_dataset_shard(dataset_name="train"):
    """This rank's part of a dataset: of the Trainer's, or of a [data.NAME] of the config. None if there are none at all."""
    return _datasets.shard(_session.current(), dataset_name)
