"""Backend and BackendConfig: hooks that set up a framework around the train function."""

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Callable

if TYPE_CHECKING:
    from ._fit._worker_group import WorkerGroup


class Backend:
    """Hooks that every rank calls, in this order: `on_start`, `on_training_start`, the train function, `on_shutdown`.

    In Ray Train a driver runs the hooks. Here every rank runs them together with the others: `worker_group.execute(f)` calls `f` on all ranks.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from trainrt.train import Backend, BackendConfig, DataParallelTrainer, ScalingConfig
    >>> class Greeting(Backend):
    ...     def on_start(self, worker_group, backend_config):
    ...         print("ranks:", len(worker_group))
    >>> @dataclass
    ... class GreetingConfig(BackendConfig):
    ...     @property
    ...     def backend_cls(self):
    ...         return Greeting
    >>> trainer = DataParallelTrainer(lambda: None, backend_config=GreetingConfig(), scaling_config=ScalingConfig(num_workers=0))
    >>> _ = trainer.fit()
    ranks: 1
    """

    share_cuda_visible_devices = False

    def on_start(self, worker_group: "WorkerGroup", backend_config: "BackendConfig") -> None:
        """Called first. `get_context()` is available; `report()` is not."""

    def on_training_start(self, worker_group: "WorkerGroup", backend_config: "BackendConfig") -> None:
        """Called immediately before the train function."""

    def on_shutdown(self, worker_group: "WorkerGroup", backend_config: "BackendConfig") -> None:
        """Called after the train function has returned. Not called after a failure, since the other ranks may be blocked."""


class BackendConfig:
    """Base class of the configs of backends; a subclass overrides `backend_cls`.

    Examples
    --------
    >>> from trainrt.train import BackendConfig, DataParallelTrainer
    >>> trainer = DataParallelTrainer(print, backend_config=BackendConfig())
    """

    @property
    def backend_cls(self) -> type[Backend]:
        """Class of the backend."""
        return Backend

    @property
    def train_func_context(self) -> Callable[[], AbstractContextManager]:
        """Function that returns a context manager in which the train function runs."""
        return nullcontext
