"""Verbosity: how much a sweep prints, by the names of ray.tune.utils.log."""

from __future__ import annotations

from enum import Enum


class Verbosity(Enum):
    """Levels of `RunConfig(verbose=...)`.

    Examples
    --------
    >>> from trainrt.tune.utils.log import Verbosity
    >>> int(Verbosity.V2_TRIAL_NORM)
    2
    """

    V0_MINIMAL = 0
    V1_EXPERIMENT = 1
    V2_TRIAL_NORM = 2
    V3_TRIAL_DETAILS = 3

    def __int__(self) -> int:
        return self.value


_level = [Verbosity.V3_TRIAL_DETAILS]


def set_verbosity(level: int | Verbosity) -> None:
    """Sets the level that has_verbosity() compares with; `RunConfig(verbose=...)` sets how much a sweep prints. Raises ValueError for an unknown level.

    Examples
    --------
    >>> from trainrt.tune.utils.log import Verbosity, has_verbosity, set_verbosity
    >>> set_verbosity(1)
    >>> has_verbosity(Verbosity.V2_TRIAL_NORM)
    False
    >>> set_verbosity(Verbosity.V3_TRIAL_DETAILS)
    """
    _level[0] = Verbosity(level) if isinstance(level, int) else level


def has_verbosity(level: int | Verbosity) -> bool:
    """Returns whether messages of this level are printed.

    Examples
    --------
    >>> from trainrt.tune.utils.log import Verbosity, has_verbosity
    >>> has_verbosity(Verbosity.V1_EXPERIMENT)
    True
    """
    return int(_level[0]) >= int(level)
