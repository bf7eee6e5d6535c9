"""UserCallback: methods that a run calls (`RunConfig(callbacks=[...])`), and the description of the run that they receive."""

from dataclasses import dataclass
from typing import Any, Optional

from .._results._checkpoint import Checkpoint


@dataclass
class TrainRunContext:
    """Describes a run to its callbacks.

    Attributes
    ----------
    run_name : str
        Name of the run.
    run_dir : str
        Run directory.
    world_size : int
        Number of ranks.
    train_loop_config : object
        Config of the train function, as the Trainer was given it.
    run_config : RunConfig, optional
        The Trainer's RunConfig.
    scaling_config : ScalingConfig, optional
        The Trainer's ScalingConfig.

    Examples
    --------
    >>> from trainrt.train._sessions._callbacks import TrainRunContext
    >>> TrainRunContext("first", "runs/first", world_size=2).run_name
    'first'
    """

    run_name: str
    run_dir: str
    world_size: int
    train_loop_config: Any = None
    run_config: Any = None
    scaling_config: Any = None


class UserCallback:
    """Base class of callbacks. If a callback raises an exception, the run fails, as after an exception of the train function.

    Examples
    --------
    >>> from trainrt.train import RunConfig, UserCallback
    >>> class PrintLoss(UserCallback):
    ...     def after_report(self, run_context, metrics, checkpoint):
    ...         print([each["loss"] for each in metrics])
    >>> config = RunConfig(callbacks=[PrintLoss()])
    """

    def after_report(self, run_context: TrainRunContext, metrics: list[dict[str, Any]], checkpoint: Optional[Checkpoint]) -> None:
        """Called on rank 0 after each report, except for the report at which a stop ends the run.

        Parameters
        ----------
        run_context : TrainRunContext
            The run.
        metrics : list of dict
            Metrics that each rank reported, by rank.
        checkpoint : Checkpoint, optional
            The reported checkpoint, after its commit, or `None` if no rank reported one.
        """

    def after_exception(self, run_context: TrainRunContext, worker_exceptions: dict[int, BaseException]) -> None:
        """Called on a rank whose train function raised an exception, before the run ends.

        Parameters
        ----------
        run_context : TrainRunContext
            The run.
        worker_exceptions : dict of int to BaseException
            The exception, by rank.
        """

    def _metrics_of_rank(self) -> dict[str, Any]:
        """Returns metrics that this callback adds to those of a report, on each rank."""
        return {}

    def _resume_from(self, checkpoint: Optional[Checkpoint]) -> None:
        """Called on rank 0 before the train function, with the checkpoint from which the train function resumes."""


Callback = UserCallback
