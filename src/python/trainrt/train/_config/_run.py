"""RunConfig: name, storage path and options of a run."""

from dataclasses import dataclass
from typing import Any, Optional, Union

from .._sessions._callbacks import UserCallback
from . import _storage
from ._checkpoint import CheckpointConfig
from ._failure import FailureConfig
from ._logging import LoggingConfig
from ._sync import SyncConfig


@dataclass
class RunConfig:
    """Name, storage path and options of a run. An option that is `None` is taken from the launch or the config file.

    Parameters
    ----------
    name : str, optional
        Name of the run, and of its directory in `storage_path`. Running a script again with the same name continues the run. Default: in a Slurm job,
        the class of the Trainer, the script and the job, so that a requeue continues the run; elsewhere the class, date and time, so that each start is
        a new run.
    storage_path : str, optional
        Directory that all nodes see, or `s3://BUCKET/PREFIX` or `gs://BUCKET/PREFIX`, to which checkpoints are mirrored. A URL may have options of the
        store: `?endpoint_override=http://host:9000`. `${NAME}` is replaced by the environment variable, `~` by the home directory. Default:
        `$TRAINRT_STORAGE`, else `runs` in the directory of submission.
    storage_filesystem : optional
        Filesystem of fsspec or pyarrow.fs for S3, Google Cloud Storage or local files, which contains `storage_path`. Its access keys for S3 sign the
        requests; they stay in memory. To any other object of pyarrow.fs, rank 0 copies the checkpoints.
    failure_config : FailureConfig, optional
    checkpoint_config : CheckpointConfig, optional
    sync_config : SyncConfig, optional
    progress_reporter, log_to_file
        Have no effect except a note.
    logging_config : LoggingConfig, optional
        A level above INFO hides notes and progress.
    verbose : int, optional
        2 prints every report.
    stop : dict, optional
        `{metric: value}`: a report with at least this value of the metric ends the run as finished.
    callbacks : list of UserCallback, optional
    worker_runtime_env : dict, optional
        `{"env_vars": {name: value}}`: environment variables of the ranks. Other keys have no effect except a note.
    local_dir : None
        Not supported; use `storage_path`.

    Raises
    ------
    TypeError, ValueError
        If a value is invalid.

    Examples
    --------
    >>> from trainrt.train import RunConfig
    >>> RunConfig(name="first", storage_path="/scratch/runs", stop={"training_iteration": 10}).name
    'first'
    """

    name: Optional[str] = None
    storage_path: Optional[str] = None
    storage_filesystem: Optional[Any] = None
    failure_config: Optional[FailureConfig] = None
    checkpoint_config: Optional[CheckpointConfig] = None
    sync_config: Optional[SyncConfig] = None
    verbose: Optional[int] = None
    stop: Optional[Any] = None
    callbacks: Optional[list[UserCallback]] = None
    progress_reporter: Optional[Any] = None
    log_to_file: Union[bool, str, tuple] = False
    worker_runtime_env: Optional[dict[str, Any]] = None
    local_dir: Optional[str] = None
    logging_config: Optional[LoggingConfig] = None

    def __post_init__(self):
        if self.name is not None and not _is_valid_name(self.name):
            raise ValueError(f"RunConfig(name={self.name!r}): it must be a file name of at most 200 bytes, without '/' and control "
                             f"characters, that does not start with '.'")
        if self.local_dir is not None:
            raise ValueError(f"RunConfig(local_dir={self.local_dir!r}) is not supported; use storage_path={self.local_dir!r}")
        if self.storage_filesystem is not None:
            self.storage_path = _storage.path_in_filesystem(self.storage_path, self.storage_filesystem)
        if self.storage_path is not None:
            self.storage_path = _storage.checked_storage_path(self.storage_path)
        for name, kind in (("failure_config", FailureConfig), ("checkpoint_config", CheckpointConfig), ("sync_config", SyncConfig),
                           ("logging_config", LoggingConfig)):
            value = getattr(self, name)
            if value is not None and not isinstance(value, kind):
                raise ValueError(f"Invalid `{kind.__name__}` type: {type(value)}. Use `trainrt.train.{kind.__name__}` instead of {value!r} in "
                                 f"RunConfig({name}=...)")
        for callback in self.callbacks or ():
            if not isinstance(callback, UserCallback):
                raise ValueError(f"All callbacks must be instances of `trainrt.train.UserCallback`, or for a Tuner of `trainrt.tune.Callback`. "
                                 f"RunConfig(callbacks=...) has {callback!r}")
        self._set_defaults()

    def _set_defaults(self):
        """Sets Ray's defaults of options that were not given. given() does not return them."""
        for name, kind in (("failure_config", FailureConfig), ("checkpoint_config", CheckpointConfig), ("logging_config", LoggingConfig)):
            if getattr(self, name) is None:
                value: Any = kind()
                value._is_default = True
                setattr(self, name, value)
        self.callbacks = [] if self.callbacks is None else self.callbacks
        self.worker_runtime_env = {} if self.worker_runtime_env is None else self.worker_runtime_env

    def given(self, name: str) -> Any:
        """Returns the option `name` if the script gave or changed it; otherwise `None`, so that the launch or the config file decides."""
        value = getattr(self, name)
        is_default = getattr(value, "_is_default", False) and value == type(value)()
        return None if is_default or (name in ("callbacks", "worker_runtime_env") and not value) else value


def _is_valid_name(name):
    return (isinstance(name, str) and 0 < len(name.encode("utf-8", "replace")) <= 200 and "/" not in name and not name.startswith(".")
            and name.isprintable())
