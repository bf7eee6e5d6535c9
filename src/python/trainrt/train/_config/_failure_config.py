"""FailureConfig: how often to try again."""

from dataclasses import dataclass
from typing import Union


@dataclass
class FailureConfig:
    """max_failures: so often a run that failed is started again from its last checkpoint; -1: without a limit. That the batch system
    ends a job, or preempts it, never counts."""

    max_failures: int = 0
    fail_fast: Union[bool, str] = False
    controller_failure_limit: int = -1
    max_preemption_failures: int = -1

    def __post_init__(self):
        for name in ("max_failures", "controller_failure_limit", "max_preemption_failures"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < -1:
                raise ValueError(f"FailureConfig({name}={value!r}): it must be a whole number, 0 or more, or -1 for no limit")
        if self.fail_fast not in (True, False, "raise"):
            raise ValueError(f"FailureConfig(fail_fast={self.fail_fast!r}): it must be True, False or 'raise'")
        if self.fail_fast and self.max_failures != 0:
            raise ValueError(f"FailureConfig: fail_fast ends the run at its first failure, and max_failures={self.max_failures} starts it "
                             f"again; leave one of them out")
