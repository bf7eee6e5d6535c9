"""Names of trainables, by which Tuner() and tune.run() find them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..train.data_parallel_trainer import DataParallelTrainer
from ._class_trial import class_of
from .error import TuneError

_REGISTERED: dict[str, Any] = {}


def register_trainable(name: str, trainable: Callable[..., Any] | DataParallelTrainer, warn: bool = True) -> None:
    """Registers a function, a Trainable class or a Trainer under a name, which Tuner() and tune.run() accept in this script.

    Raises
    ------
    TypeError
        `trainable` is of another type.

    Examples
    --------
    >>> from trainrt import tune
    >>> def train(config):
    ...     tune.report({"loss": config["x"]})
    >>> tune.register_trainable("mine", train)
    >>> tuner = tune.Tuner("mine", param_space={"x": tune.uniform(0, 1)})
    """
    del warn
    is_other_class = isinstance(trainable, type) and class_of(trainable) is None
    if is_other_class or not (callable(trainable) or isinstance(trainable, DataParallelTrainer)):
        raise TypeError(f"register_trainable({name!r}, {trainable!r}): it must be a function of a config, a Trainer, or a class that is derived from "
                        f"tune.Trainable")
    _REGISTERED[name] = trainable


def registered(trainable: Any) -> Any:
    """Returns the trainable that was registered under this name, or `trainable` itself if it is no name. Raises TuneError for an unknown name."""
    if not isinstance(trainable, str):
        return trainable
    if trainable not in _REGISTERED:
        known = f"known are {', '.join(sorted(_REGISTERED))}" if _REGISTERED else "tune.register_trainable(name, trainable) registers one"
        raise TuneError(f"unknown trainable {trainable!r}; {known}")
    return _REGISTERED[trainable]
