"""Experiment: the arguments of tune.run() as an object."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from ..train import CheckpointConfig
from ..train.data_parallel_trainer import DataParallelTrainer
from ._registry import register_trainable
from ._run_rules import stop_of
from .error import TuneError

_PUBLIC_KEYS = ("stop", "num_samples", "time_budget_s")
_ARGUMENTS = frozenset(("stop", "time_budget_s", "config", "resources_per_trial", "num_samples", "storage_path", "storage_filesystem", "sync_config",
                        "checkpoint_config", "trial_name_creator", "trial_dirname_creator", "log_to_file", "export_formats", "max_failures", "restore",
                        "local_dir", "metric", "mode", "search_alg", "scheduler", "fail_fast", "callbacks", "verbose", "max_concurrent_trials",
                        "raise_on_failed_trial", "keep_checkpoints_num", "checkpoint_score_attr", "checkpoint_freq", "checkpoint_at_end", "resume",
                        "progress_reporter", "reuse_actors"))


class Experiment:
    """The name, the trainable and further arguments of a sweep, for run_experiments() and tune.run().

    Parameters
    ----------
    name : str
    run : function, Trainable class, Trainer or str
    **arguments
        Arguments of tune.run(). Other names raise TypeError.

    Raises
    ------
    TuneError
        `run` is not a trainable.
    ValueError
        `config`, `stop` or `log_to_file` is invalid.

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
        unknown = sorted(set(arguments) - _ARGUMENTS)
        if unknown:
            raise TypeError(f"Experiment({name!r}) has no argument {unknown[0]!r}")
        if not (isinstance(run, (str, type, DataParallelTrainer)) or callable(run)):
            raise TuneError(f"Experiment({name!r}, run={run!r}): it must be a function, a Trainable class, a Trainer, or a registered name")
        config = arguments.get("config")
        if config is not None and not isinstance(config, dict):
            raise ValueError(f"Experiment({name!r}, config={config!r}): it must be a dict")
        _check_log_files(arguments.get("log_to_file"))
        self._stopper, _ = stop_of(arguments.get("stop"))
        if isinstance(arguments.get("checkpoint_config"), dict):
            arguments["checkpoint_config"] = CheckpointConfig(**arguments["checkpoint_config"])
        self.name, self.trainable, self.arguments = name, run, arguments

    @classmethod
    def from_json(cls, name: str, spec: Mapping[str, Any]) -> Experiment:
        """Returns the Experiment of {"run": trainable, argument: value}. Raises TuneError without "run", or for an unknown argument."""
        if "run" not in spec:
            raise TuneError(f"the experiment {name!r} has no trainable: add the key 'run' to {dict(spec)!r}")
        try:
            return cls(name, **spec)
        except TypeError as error:
            raise TuneError(f"the experiment {name!r}: {error}") from None

    @classmethod
    def get_trainable_name(cls, run_object: Any) -> str:
        """Returns the name of a trainable: a registered name, or the name of its function or class. Raises TuneError for another object."""
        if isinstance(run_object, str):
            return run_object
        if not callable(run_object):
            raise TuneError(f"{run_object!r} is no trainable: it must be a function, a class, or a registered name")
        inner = getattr(run_object, "func", run_object)
        name: str = getattr(run_object, "_name", None) or getattr(run_object, "__name__", None) or getattr(inner, "__name__", None) or "DEFAULT"
        return "lambda" if name == "<lambda>" else "DEFAULT" if name.startswith("<") else name

    @classmethod
    def register_if_needed(cls, run_object: Any) -> str:
        """Registers a trainable under its name, and returns the name."""
        name = cls.get_trainable_name(run_object)
        if not isinstance(run_object, str):
            register_trainable(name, run_object)
        return name

    @property
    def run_identifier(self) -> str:
        """Name of the trainable."""
        return self.get_trainable_name(self.trainable)

    @property
    def stopper(self) -> Any:
        """The Stopper of `stop`, or `None` for a dict."""
        return self._stopper

    @property
    def checkpoint_config(self) -> CheckpointConfig:
        """The CheckpointConfig."""
        return self.arguments.get("checkpoint_config") or CheckpointConfig()

    @property
    def public_spec(self) -> dict[str, Any]:
        """The arguments that searchers and schedulers get: stop, num_samples and time_budget_s."""
        defaults = {"stop": {}, "num_samples": 1, "time_budget_s": None}
        return {name: self.arguments.get(name) or defaults[name] for name in _PUBLIC_KEYS}

    @property
    def path(self) -> str | None:
        """Directory of the sweep; `None` if the default storage path is used."""
        storage = self.arguments.get("storage_path")
        return None if storage is None else os.path.join(os.fspath(storage), self.name)


def _check_log_files(given: Any) -> None:
    if isinstance(given, Sequence) and not isinstance(given, str) and len(given) != 2:
        raise ValueError(f"log_to_file={given!r}: a sequence must have two names of files, for stdout and stderr")
    if given and not isinstance(given, (bool, str, Sequence)):
        raise ValueError(f"log_to_file={given!r}: it must be a bool, the name of a file, or two names, for stdout and stderr")
