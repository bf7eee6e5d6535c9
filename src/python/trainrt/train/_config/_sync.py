"""SyncConfig: whether files that the ranks write into their working directory are copied into the run directory."""

from dataclasses import dataclass


@dataclass
class SyncConfig:
    """Whether new files in the working directory of the ranks are copied into the folder `artifacts` of the run directory.

    Copied are files and folders at the top level of the working directory that did not exist before the train function, except names that begin with
    a dot. Links are not followed. With the environment variable TRAINRT_CHDIR_TO_TRIAL_DIR=1, the train function runs in the folder `artifacts`
    itself, and nothing needs to be copied.

    If the storage of the run is an object store, changed files in `artifacts` are copied there after each checkpoint and at the end of the run.

    Parameters
    ----------
    sync_period : int, default 300
        Minimum number of seconds between two copies.
    sync_timeout : int, default 1800
        Has no effect.
    sync_artifacts : bool, default False
        Whether files are copied: at reports, and when the train function ends.
    sync_artifacts_on_checkpoint : bool, default True
        Whether files are also copied at each report with a checkpoint.

    Examples
    --------
    >>> from trainrt.train import RunConfig, SyncConfig
    >>> config = RunConfig(sync_config=SyncConfig(sync_artifacts=True))
    """

    sync_period: int = 300
    sync_timeout: int = 1800
    sync_artifacts: bool = False
    sync_artifacts_on_checkpoint: bool = True
