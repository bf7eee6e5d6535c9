"""Stop, the exception that ends a program when its run stops."""


class Stop(SystemExit):
    """Raised when the run stops, to end the program. The last checkpoint contains all completed steps.

    Stop is not derived from `Exception`, and `except Exception` does not catch it. If the program does not catch Stop, the program exits silently with
    exit code 0, after all `finally` blocks and `atexit` functions. If the program catches Stop, each later call of the Context raises Stop again.

    Parameters
    ----------
    reason : str
        Reason why the run stops; also returned by str().

    Examples
    --------
    >>> from trainrt import Stop
    >>> try:
    ...     raise Stop("the time of the job is over")
    ... except Stop as stop:
    ...     print(stop.reason)
    the time of the job is over
    """

    def __init__(self, reason: str) -> None:
        super().__init__(0)
        self.reason = reason

    def __str__(self) -> str:
        return self.reason
