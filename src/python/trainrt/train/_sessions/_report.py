"""`report()`, `get_checkpoint()`, `get_all_reported_checkpoints()` and `get_dataset_shard()` of a train function."""

import difflib
import inspect
from typing import TYPE_CHECKING, Any, Callable, Optional, Union

from ..._client.values import kind_of
from .._results._checkpoint import Checkpoint
from . import _current, _shards
from ._metrics import flat_metrics, has_reductions
from ._reported_checkpoint import CheckpointConsistencyMode, CheckpointUploadMode, ReportedCheckpoint, ReportedCheckpointStatus
from ._validation import ValidationTaskConfig

if TYPE_CHECKING:
    from ...data import DataIterator


def report(metrics: Optional[dict[str, Any]] = None, checkpoint: Optional[Checkpoint] = None, checkpoint_dir_name: Optional[str] = None,
           checkpoint_upload_mode: Optional[CheckpointUploadMode] = None, delete_local_checkpoint_after_upload: Optional[bool] = None,
           checkpoint_upload_fn: Optional[Callable] = None, validation: Union[bool, ValidationTaskConfig] = False, *,
           aggregate: Optional[bool] = None, **more_metrics: Any) -> None:
    """Reports metrics and, optionally, a checkpoint. Collective: every rank calls it, the same number of times.

    The metrics of rank 0 are used, unless they are aggregated. Any rank may report a directory: the files of all ranks together are the checkpoint. The run
    may stop in this call.

    If several ranks report different files of the same name, the file of the lowest rank keeps the name. The other files are stored in the folder
    `.other_ranks` of the checkpoint, and a warning names the file. With the key `checkpoint.same_files = error`, this case is an error.

    Parameters
    ----------
    metrics : dict, optional
        Numbers, bools, strings, `None`, and dicts of these: `{"val": {"loss": 1.0}}` is reported as `val/loss`.
    checkpoint : Checkpoint, optional
        Directory with the files of this rank.
    checkpoint_dir_name : str, optional
        Name stored with the checkpoint as `checkpoint_dir_name`.
    checkpoint_upload_mode : CheckpointUploadMode, optional
        SYNC (default), ASYNC or NO_UPLOAD.
    delete_local_checkpoint_after_upload : bool, optional
        Whether to remove the directory after the commit. Default: only with ASYNC. A directory of a run is not removed.
    checkpoint_upload_fn : callable, optional
        Called on this rank with `checkpoint` and `checkpoint_dir_name`, for example to convert or upload the files. The Checkpoint that it returns is
        reported instead; `None` reports `checkpoint` itself.
    validation : bool or ValidationTaskConfig, default False
        Whether the function of the Trainer's `validation_config` evaluates the checkpoint during the training. Its metrics are added to those of the
        checkpoint. All ranks pass the same value.
    aggregate : bool, optional
        Whether the metrics of all ranks are reduced to one value each: numbers to their mean, a `trainrt.Number` or `trainrt.ratio()` as it specifies.
        All ranks then report the same names. Default: True if a metric is a `trainrt.Number`, else `metrics.aggregate` of the config.
    **more_metrics
        Further metrics, as `report(loss=...)` of Ray Train 1.x passes them.

    Raises
    ------
    TypeError, ValueError
        If an argument has an invalid type or value.
    FileNotFoundError
        If the checkpoint does not exist on this node.

    Examples
    --------
    >>> import tempfile
    >>> from trainrt import train
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     train.report({"loss": 0.5}, checkpoint=train.Checkpoint.from_directory(directory))
    """
    mode = _checked_mode(checkpoint_upload_mode)
    _check_checkpoint(checkpoint, validation)
    _check_names(more_metrics)
    flat = flat_metrics({**(metrics or {}), **more_metrics} if metrics is None or isinstance(metrics, dict) else metrics)
    removes_by_default = mode is CheckpointUploadMode.ASYNC
    removes = removes_by_default if delete_local_checkpoint_after_upload is None else bool(delete_local_checkpoint_after_upload)
    removes = removes and mode is not CheckpointUploadMode.NO_UPLOAD
    if checkpoint is not None and checkpoint_upload_fn is not None:
        checkpoint = _uploaded(checkpoint, checkpoint_upload_fn, checkpoint_dir_name)
    session = _current.session()
    aggregate = session.aggregates if aggregate is None else aggregate
    session.report(flat, checkpoint, checkpoint_dir_name, aggregate or has_reductions(flat), checkpoint is not None and removes,
                   validation=_validation_request(session, validation))


def get_checkpoint() -> Optional[Checkpoint]:
    """Returns the newest intact checkpoint of this run that has files; it may be from before a restart.

    Waits for a commit in progress. A damaged checkpoint is skipped with a warning.

    Returns
    -------
    Checkpoint or `None`
        If the run has no checkpoint with files: the Trainer's `resume_from_checkpoint`, or `None`.

    Raises
    ------
    RuntimeError
        If all checkpoints with files are damaged.
    TimeoutError
        If a checkpoint cannot be read within 600 s plus its size at 10 MB/s.

    Examples
    --------
    >>> from trainrt import train
    >>> from trainrt.train import DataParallelTrainer, ScalingConfig
    >>> def train_func():
    ...     print(train.get_checkpoint())
    >>> _ = DataParallelTrainer(train_func, scaling_config=ScalingConfig(num_workers=0)).fit()
    None
    """
    return _current.session().get_checkpoint()


def get_all_reported_checkpoints(consistency_mode: CheckpointConsistencyMode = CheckpointConsistencyMode.VALIDATED,
                                 timeout_s: Optional[float] = None) -> list[ReportedCheckpoint]:
    """Returns the kept checkpoints, oldest first. Waits for a commit in progress.

    A checkpoint that `CheckpointConfig` no longer keeps is removed in the background and may still be in the list.

    Parameters
    ----------
    consistency_mode : CheckpointConsistencyMode, default VALIDATED
        VALIDATED waits for the requested validations; COMMITTED does not.
    timeout_s : float, optional
        Maximum time to wait for validations, in seconds. Default: no limit.

    Returns
    -------
    list of ReportedCheckpoint

    Examples
    --------
    >>> import tempfile
    >>> from trainrt import train
    >>> from trainrt.train import Checkpoint
    >>> train.report({"loss": 0.5}, checkpoint=Checkpoint.from_directory(tempfile.mkdtemp()))
    >>> train.get_all_reported_checkpoints()[-1].metrics["loss"]
    0.5
    """
    session = _current.session()
    if consistency_mode is CheckpointConsistencyMode.VALIDATED:
        session.wait_until_validated(timeout_s)
    return [ReportedCheckpoint(checkpoint, metrics, ReportedCheckpointStatus(status)) for checkpoint, metrics, status in session.reported_checkpoints()]


def get_dataset_shard(dataset_name: str = "train") -> "Optional[DataIterator]":
    """Returns this rank's shard of a dataset.

    Parameters
    ----------
    dataset_name : str, default "train"
        Name of one of the Trainer's datasets, or of a section [data.NAME] of the config.

    Returns
    -------
    trainrt.data.DataIterator or `None`
        `None` if the run has no dataset.

    Raises
    ------
    KeyError
        If the run has other datasets, and no dataset of this name.

    Examples
    --------
    >>> from trainrt import train
    >>> print(train.get_dataset_shard("train"))
    None
    """
    return _shards.shard(_current.session(), dataset_name)


def _check_names(more_metrics):
    """Raises TypeError for a metric that looks like a misspelled argument of report(): its name is similar, and its value is no number."""
    arguments = [name for name, each in inspect.signature(report).parameters.items() if each.kind is not each.VAR_KEYWORD]
    for name, value in more_metrics.items():
        similar = difflib.get_close_matches(name, arguments, 1, 0.85)
        if similar and (value is None or isinstance(value, (bool, Checkpoint, ValidationTaskConfig, CheckpointUploadMode))):
            raise TypeError(f"report({name}={value!r}): unknown argument; did you mean {similar[0]}=? To report a metric of this name, pass it in the dict: "
                            f"report({{{name!r}: ...}})")


def _checked_mode(given):
    mode = given if isinstance(given, CheckpointUploadMode) else CheckpointUploadMode.SYNC if given is None else None
    if mode is None:
        raise ValueError(f"report(checkpoint_upload_mode={given!r}): it must be a trainrt.train.CheckpointUploadMode")
    return mode


def _uploaded(checkpoint, upload_fn, directory_name):
    """Returns the checkpoint to report: the one that the user's function returns, or else `checkpoint`."""
    if not callable(upload_fn):
        raise TypeError(f"report(checkpoint_upload_fn={upload_fn!r}): it must be a function of a checkpoint and a directory name")
    returned = upload_fn(checkpoint, directory_name)
    if returned is not None and not isinstance(returned, Checkpoint):
        raise ValueError(f"checkpoint_upload_fn must return a `trainrt.train.Checkpoint`, or None. It returned {returned!r}")
    return checkpoint if returned is None else returned


def _check_checkpoint(checkpoint, validation):
    if checkpoint is not None and not isinstance(checkpoint, Checkpoint):
        raise TypeError(f"report(checkpoint={checkpoint!r}): it must be a Checkpoint, not {kind_of(checkpoint)}; use Checkpoint.from_directory(path)")
    if validation and checkpoint is None:
        raise ValueError("Validation requires a checkpoint to be provided: report(validation=...) also needs checkpoint=...")


def _validation_request(session, validation):
    """Returns the validation request for the manifest of the checkpoint; `None` if no validation is requested."""
    if not validation:
        return None
    if session.spec.validation is None:
        raise ValueError("`validation_config` was not set on the trainer, but a validation was requested. Pass "
                         "validation_config=ValidationConfig(fn=...) to the Trainer, with the function that evaluates a checkpoint")
    return session.spec.validation.request(validation)
