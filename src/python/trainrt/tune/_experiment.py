"""Experiment and run_experiments(): the arguments of tune.run() as an object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..train.data_parallel_trainer import DataParallelTrainer
from ._run import run
from ._trial import Trial
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


def run_experiments(experiments: Experiment | Mapping[str, Any] | Sequence[Any], **arguments: Any) -> list[Trial]:
    """Runs experiments one after the other, each as tune.run() does. Returns their trials.

    Parameters
    ----------
    experiments : Experiment, dict, or list of these
        A dict is {name: {"run": trainable, argument: value}}.
    **arguments
        Arguments of tune.run() for all experiments, such as scheduler and raise_on_failed_trial. `concurrent` is ignored.

    Raises
    ------
    TuneError
        An experiment has no trainable, or trials have failed.

    Examples
    --------
    >>> import tempfile
    >>> from trainrt import tune
    >>> def train(config):
    ...     tune.report({"loss": config["x"]})
    >>> trials = tune.run_experiments({"second": {"run": train, "config": {"x": 3}, "storage_path": tempfile.mkdtemp()}})
    >>> trials[0].last_result["loss"]
    3
    """
    arguments.pop("concurrent", None)
    return [trial for each in _experiments(experiments) for trial in run(each.trainable, name=each.name, **{**each.arguments, **arguments}).trials]


def _experiments(given: Any) -> list[Experiment]:
    if isinstance(given, Experiment):
        return [given]
    if isinstance(given, Mapping):
        return [each if isinstance(each, Experiment) else Experiment.from_json(name, each) for name, each in given.items()]
    if isinstance(given, (list, tuple)):
        return [each for one in given for each in _experiments(one)]
    raise TuneError(f"run_experiments({given!r}): it must be an Experiment, a dict {{name: {{'run': trainable}}}}, or a list of these")
