"""LoggingConfig: which messages of trainrt the script prints."""

import logging
from dataclasses import dataclass

from ..._support import _notes


@dataclass
class LoggingConfig:
    """Level of the logger `trainrt.train`, for `RunConfig(logging_config=...)`.

    A level above INFO hides the notes of trainrt.train and the progress of the run, unless RunConfig(verbose=...) is set. Errors and warnings are always
    printed, and the logs of the run directory always have everything.

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
        valid = logging._nameToLevel
        if not isinstance(self.log_level, str) or self.log_level.upper() not in valid:
            raise ValueError(f"Invalid log_level: {self.log_level!r}. Must be one of: {', '.join(map(repr, sorted(valid)))}.")
        self.log_level = self.log_level.upper()

    def hides_notes(self) -> bool:
        """Returns whether the level is above INFO."""
        return logging._nameToLevel[self.log_level] > logging.INFO

    def apply(self) -> None:
        """Sets the level of the logger in this process."""
        logging.getLogger(_notes.LOGGER).setLevel(self.log_level)


def apply_level(run_config):
    """Sets the level of the logger in this process to that of the RunConfig, if it has one."""
    if run_config is not None and run_config.given("logging_config") is not None:
        run_config.logging_config.apply()
