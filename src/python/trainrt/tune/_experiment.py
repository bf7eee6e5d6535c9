"""Experiment: the arguments of tune.run() as an object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..train.data_parallel_trainer import DataParallelTrainer
from .error import TuneError


class Experiment:
    """The name, the trainable and further arguments of a sweep, for run_experiments() and tune.run().

    Parameters
    ----------
    name : str
    run : function, Trainable class, Trainer or str
    **arguments
        As of tune.run().

    Examples
    --------
    >>> import tempfile
    >>> from trainrt import tune
    >>> def train(config):
    ...     tune.report({"loss": config["x"]})
    >>> experiment = tune.Experiment("first", train, config={"x": tune.grid_search([1, 2])}, storage_path=tempfile.mkdtemp())
    >>> [trial.last_result["loss"] for trial in tune.run_experiments(experiment)]
    [1, 2]
    """

    def __init__(self, name: str, run: Any, **arguments: Any) -> None:
        if not (isinstance(run, (str, type, DataParallelTrainer)) or callable(run)):
            raise TuneError(f"Experiment({name!r}, run={run!r}): it must be a function, a Trainable class, a Trainer, or a registered name")
        config = arguments.get("config")
        if config is not None and not isinstance(config, dict):
            raise ValueError(f"Experiment({name!r}, config={config!r}): it must be a dict")
        self.name, self.trainable, self.arguments = name, run, arguments

    @classmethod
    def from_json(cls, name: str, spec: Mapping[str, Any]) -> Experiment:
        """Returns the Experiment of {"run": trainable, argument: value}. Raises TuneError without "run"."""
        if "run" not in spec:
            raise TuneError(f"the experiment {name!r} has no trainable: add the key 'run' to {dict(spec)!r}")
        return cls(name, **spec)
