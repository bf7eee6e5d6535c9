"""LoggingConfig: which messages of trainrt the script prints."""

import logging
from dataclasses import dataclass


@dataclass
class LoggingConfig:
    """Level of Ray's logger `ray.train`, for `RunConfig(logging_config=...)`.

    trainrt prints its messages on standard error, and has no levels: the argument changes nothing, with a note. Errors, warnings and progress are always
    in the logs of the run directory.

    Parameters
    ----------
    log_level : str, default "INFO"
        Name of a level of Python's module logging.

    Raises
    ------
    ValueError
        If `log_level` is not such a name.

    Examples
    --------
    >>> from trainrt.train import LoggingConfig
    >>> LoggingConfig("debug").log_level
    'DEBUG'
    """

    log_level: str = "INFO"

    def __post_init__(self):
        if not isinstance(self.log_level, str) or not isinstance(logging.getLevelName(self.log_level.upper()), int):
            raise ValueError(f"Invalid log_level: {self.log_level!r}. Must be one of: CRITICAL, ERROR, WARNING, INFO, DEBUG, NOTSET")
        self.log_level = self.log_level.upper()
