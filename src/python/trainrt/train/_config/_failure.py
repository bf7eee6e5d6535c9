"""FailureConfig: how often a failed run is restarted."""

from dataclasses import dataclass
from typing import Union


@dataclass
class FailureConfig:
    """Restarts of a failed run.

    Parameters
    ----------
    max_failures : int, default 0
        How many times a failed run is restarted from its last checkpoint; -1 for no limit. Preemption and the end of a job are not failures.
    fail_fast : bool or 'raise', default False
        In a Tuner, True ends the sweep after the first failed trial. For a Trainer, has no effect except a note: the first failure of a rank always stops
        the other ranks.
    controller_failure_limit, max_preemption_failures : int, default -1
        Have no effect except a note: preemption is not counted, and `failure.max_requeues` limits requeues.
    relax_collectives_on_preemption : bool, default False
    preemption_grace_s : float, default 0
        Have no effect except a note: a preemption signal stops all ranks at the same step, after a checkpoint.

    Raises
    ------
    ValueError
        If a value is invalid, or `fail_fast` is combined with `max_failures`.

    Examples
    --------
    >>> from trainrt.train import FailureConfig, RunConfig
    >>> config = RunConfig(failure_config=FailureConfig(max_failures=3))
    """

    max_failures: int = 0
    fail_fast: Union[bool, str] = False
    controller_failure_limit: int = -1
    max_preemption_failures: int = -1
    relax_collectives_on_preemption: bool = False
    preemption_grace_s: float = 0.0

    def __post_init__(self):
        for name in ("max_failures", "controller_failure_limit", "max_preemption_failures"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < -1:
                raise ValueError(f"FailureConfig({name}={value!r}): it must be an integer, 0 or more, or -1 for no limit")
        if not isinstance(self.fail_fast, bool) and str(self.fail_fast).upper() != "RAISE":
            raise ValueError(f"fail_fast must be one of {{bool, 'raise'}}. Got {self.fail_fast}. It is an argument of FailureConfig")
        if self.fail_fast and self.max_failures != 0:
            raise ValueError(f"max_failures must be 0 if fail_fast={self.fail_fast!r}. FailureConfig(max_failures={self.max_failures}) restarts a failed run, "
                             f"and fail_fast ends it; leave one of them out")
