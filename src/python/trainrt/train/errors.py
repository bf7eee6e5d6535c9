"""Exceptions that `fit()` raises when a run fails or is stopped."""

from typing import Optional, Union


class TrainingFailedError(RuntimeError):
    """The run failed.

    Parameters
    ----------
    message : str
        Which rank failed, and why.
    worker_failures : dict of int to BaseException, optional
        Exception of each failed rank, as far as the exceptions are known.
    exit_code : int, default 70
        Exit code of trainrt: 64 for a usage or config error, 70 for a failed run, 76 for a run that made no progress.

    Examples
    --------
    >>> from trainrt.train import DataParallelTrainer, ScalingConfig, TrainingFailedError
    >>> def train_func():
    ...     raise ValueError("loss is NaN")
    >>> try:
    ...     _ = DataParallelTrainer(train_func, scaling_config=ScalingConfig(num_workers=0)).fit()
    ... except TrainingFailedError as error:
    ...     print(error.worker_failures)
    {0: ValueError('loss is NaN')}
    """

    def __init__(self, message: str, worker_failures: Optional[dict[int, BaseException]] = None, exit_code: int = 70):
        super().__init__(message)
        self.worker_failures = dict(worker_failures or {})
        self.exit_code = exit_code


class WorkerGroupError(TrainingFailedError):
    """The train function failed on the ranks of `worker_failures`.

    Parameters
    ----------
    error_message : str
        Which rank failed, and why. The text of the exception begins with "Training failed due to worker errors:".
    worker_failures, exit_code
        As in TrainingFailedError.

    Examples
    --------
    >>> from trainrt.train import WorkerGroupError
    >>> WorkerGroupError("rank 0 failed", {0: ValueError("loss is NaN")}).worker_failures
    {0: ValueError('loss is NaN')}
    """

    def __init__(self, error_message: str, worker_failures: Optional[dict[int, BaseException]] = None, exit_code: int = 70):
        super().__init__(f"Training failed due to worker errors:\n{error_message}", worker_failures, exit_code)
        self._error_message = error_message

    def __reduce__(self):
        return type(self), (self._error_message, self.worker_failures, self.exit_code)


class ControllerError(TrainingFailedError):
    """The run could not start, or failed outside the train function.

    Parameters
    ----------
    controller_failure : Exception or str
        The failure, or its text. The text of this exception begins with "Training failed due to controller error:".
    worker_failures, exit_code
        As in TrainingFailedError.

    Examples
    --------
    >>> from trainrt.train import ControllerError
    >>> ControllerError(ValueError("the run could not start"), exit_code=64).controller_failure
    ValueError('the run could not start')
    """

    def __init__(self, controller_failure: Union[BaseException, str], worker_failures: Optional[dict[int, BaseException]] = None, exit_code: int = 70):
        super().__init__(f"Training failed due to controller error:\n{controller_failure}", worker_failures, exit_code)
        self.controller_failure = controller_failure if isinstance(controller_failure, BaseException) else RuntimeError(controller_failure)
        self.with_traceback(self.controller_failure.__traceback__)

    def __reduce__(self):
        return type(self), (self.controller_failure, self.worker_failures, self.exit_code)


class RunStopped(SystemExit):
    """The batch system or a signal stopped the run after its state was saved.

    `fit()` raises it in a script that started the ranks. If it is not caught, the script exits with 75, as trainrt itself does.
    A requeue of the job continues the run, and so does a start of the script with the same RunConfig(name=...).

    Parameters
    ----------
    reason : str
        Why the run stopped.

    Examples
    --------
    >>> from trainrt.train import RunStopped
    >>> RunStopped("the job reached its time limit").code
    75
    """

    def __init__(self, reason: str):
        super().__init__(75)
        self.reason = reason

    def __str__(self) -> str:
        return self.reason


class RemoteError(RuntimeError):
    """Replaces an exception of a rank that cannot be unpickled in the script; its text is the type and text of that exception."""


class RemoteTraceback(Exception):
    """Cause of an exception that was raised on a rank; its text is the traceback on that rank.

    Parameters
    ----------
    rank : int
        Rank that raised the exception.
    text : str
        Formatted traceback.
    """

    def __init__(self, rank: int, text: str):
        super().__init__(rank, text)
        self.rank, self.text = rank, text

    def __str__(self) -> str:
        return f"on rank {self.rank}:\n{self.text}"
