"""What a user may hang on a run: RunConfig(callbacks=[...])."""

from dataclasses import dataclass
from typing import Any


@dataclass
class TrainRunContext:
    """What a callback learns of its run."""

    run_name: str
    run_dir: str
    world_size: int
    train_loop_config: Any = None
    run_config: Any = None
    scaling_config: Any = None


class UserCallback:
    """Methods that a run calls. One that raises fails the run, as the train function does."""

    def after_report(self, run_context, metrics, checkpoint):
        """On rank 0, after each report: the metrics of all ranks, a dict each, and the Checkpoint that was reported, or None."""

    def after_exception(self, run_context, worker_exceptions):
        """On a rank whose train function has failed, before the run ends: {rank: exception}."""


Callback = UserCallback
