"""A trial of a Trainable class: calls its step() until the trial ends, and saves checkpoints."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable
from typing import Any

from .. import _client
from ..train._results import _run_directory
from ..train._sessions import _current
from ..train._sessions._metrics import flat_metrics
from ..train.data_parallel_trainer import DataParallelTrainer
from ._class_trainable import Trainable

_FREQUENCY, _AT_END = "checkpoint_frequency", "checkpoint_at_end"  # keys of [loop]
_SAVING_SCHEDULERS = ("hyperband", "pbt")  # schedulers that need checkpoints, since they pause or clone trials


def class_of(trainable: Any) -> type[Trainable] | None:
    """Returns the class if `trainable` is a Trainable class, also after with_parameters() or with_resources(); otherwise `None`."""
    while isinstance(trainable, functools.partial):
        trainable = trainable.func
    return trainable if isinstance(trainable, type) and issubclass(trainable, Trainable) else None


def train_function_of(trainable: Any) -> Any:
    """Returns the function of a class of wrap_function(); returns other trainables unchanged."""
    function = trainable.__dict__.get("_train_function") if isinstance(trainable, type) else None
    return trainable if function is None else function.__func__


def function_of(trainable: Callable[..., Trainable]) -> Callable[..., Any]:
    """Returns the train function of a Trainable class."""
    return functools.partial(run_class, trainable=trainable)


def checkpoint_keys(trainable: Any, config: Any, scheduler: str) -> dict[str, str]:
    """Returns the keys by which run_class() saves checkpoints. If checkpoint_frequency is not set, and the scheduler may pause, clone or end a trial at any
    report that needs a checkpoint, the trial saves at each step. `config`: a CheckpointConfig or `None`. Raises ValueError if a function gets rules that only
    a class follows."""
    frequency, at_end = (config.checkpoint_frequency or 0, config.checkpoint_at_end) if config is not None else (0, None)
    made = class_of(trainable)
    if at_end is None:
        at_end = made is not None and made.save_checkpoint is not Trainable.save_checkpoint
    if made is None:
        if (frequency or at_end) and not isinstance(trainable, DataParallelTrainer):
            raise ValueError(f"CheckpointConfig(checkpoint_frequency={frequency}, checkpoint_at_end={at_end}) has no effect on a function; call "
                             f"tune.report(metrics, checkpoint=...) in the function at the reports that need a checkpoint")
        return {}
    is_asked = config is not None and bool(config.checkpoint_at_end)
    if frequency == 0 and (scheduler in _SAVING_SCHEDULERS or (is_asked and scheduler != "fifo")):
        frequency = 1
    return {f"loop.{_FREQUENCY}": str(frequency), f"loop.{_AT_END}": str(at_end).lower()} if frequency or at_end else {}


def run_class(config: dict[str, Any], trainable: Callable[..., Trainable]) -> None:
    """Train function of a trial. `trainable` makes the object from the config."""
    session: Any = _current.session()
    context = _client.context()
    frequency, at_end = context.config(_FREQUENCY, 0), context.config(_AT_END, False)
    limits = _stop_limits(session.run_dir) if at_end else {}
    trial = trainable(config)
    try:
        checkpoint = session.get_checkpoint()
        if checkpoint is not None:
            trial.restore(checkpoint)
        is_done = False
        while not is_done:
            result = trial.train()
            is_done = result["done"] in (True, 1)
            metrics = _metrics_of(trial, is_done)
            is_last = session.ends_with(metrics) or any(_number(result, metrics, name) >= limit for name, limit in limits.items())
            saves = bool(result.get("should_checkpoint")) or (frequency > 0 and trial.iteration % frequency == 0) or (at_end and is_last)
            _report(session, trial, metrics, saves)
    finally:
        trial.stop()


def _metrics_of(trial: Trainable, is_done: bool) -> dict[str, Any]:
    """Returns the metrics of the newest step, without fields that trainrt adds to each report."""
    metrics = {name: value for name, value in trial._last_step.items() if name not in ("done", "should_checkpoint", "config")}
    return flat_metrics({**metrics, "done": True} if is_done else metrics)


def _report(session: Any, trial: Trainable, metrics: dict[str, Any], saves: bool) -> None:
    if not saves or session.world_rank != 0:
        session.report(metrics)
        return
    with tempfile.TemporaryDirectory(prefix="trainable_") as folder:
        session.report(metrics, trial.save(folder).checkpoint)


def _stop_limits(run_dir: str) -> dict[str, float]:
    """Returns the limits in RunConfig(stop={...}) as {metric: number}. The first report with at least this number is the last report."""
    config = (_run_directory.run_record(run_dir) or {}).get("config", {})
    return {key[len("stop."):]: float(text.removeprefix(">=")) for key, text in config.items() if key.startswith("stop.") and text.startswith(">=")}


def _number(result: dict[str, Any], metrics: dict[str, Any], name: str) -> float:
    value = metrics.get(name, result.get(name))
    return value if isinstance(value, (int, float)) else float("-inf")
