"""What a training that fails raises."""


class TrainingFailedError(RuntimeError):
    """fit(): the run failed, on the rank and for the reason that the message says. `worker_failures`: rank -> exception, as far as the
    exceptions are known; `exit_code`: trainrt's (64: usage or config, 70: failed, 76: no progress)."""

    def __init__(self, message, worker_failures=None, exit_code=70):
        super().__init__(message)
        self.worker_failures = dict(worker_failures or {})
        self.exit_code = exit_code


class WorkerGroupError(TrainingFailedError):
    """The train function failed on the ranks of `worker_failures`."""


class ControllerError(TrainingFailedError):
    """The run could not start, or what runs around the train function failed."""


class RunStopped(SystemExit):
    """fit() in a script that started the ranks itself: the batch system, or a signal, stopped the run, and all is saved. Uncaught, it
    ends the script with exit code 75, as trainrt itself does: start the same script again (a requeue does), and it continues."""

    def __init__(self, reason):
        super().__init__(75)
        self.reason = reason

    def __str__(self):
        return self.reason


class RemoteError(RuntimeError):
    """Stands for an exception of a rank whose own class could not be brought here; it says what that one said."""


class RemoteTraceback(Exception):
    """The traceback on a rank, as text: the __cause__ of an exception that came from there."""

    def __init__(self, rank, text):
        super().__init__(rank, text)
        self.rank, self.text = rank, text

    def __str__(self):
        return f"on rank {self.rank}:\n{self.text}"
