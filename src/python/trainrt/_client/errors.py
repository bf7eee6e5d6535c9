"""Exceptions of the client."""


class Stop(SystemExit):
    """Exception that ends the program because the run stops; everything is saved.

    It is not an `Exception`, so that `except Exception` does not catch it. If nothing catches it, the program exits silently with exit
    code 0, after every `finally` block and `atexit` function. If it is caught, each later call of the Context raises it again.

    Parameters
    ----------
    reason : str
        Why the run stops; also the text of the exception.

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
