"""The function, class or Trainer of a Tuner, and the session of a trial."""

from __future__ import annotations

import copy
import functools
import inspect
import numbers
import os
import re
import time
import zlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .._client.values import kind_of
from .._support._exchange_client import ExchangeClient
from ..train import ScalingConfig
from ..train._config._resources import PlacementGroupFactory
from ..train._fit import _store_keys, _temporary_checkpoint
from ..train._results import _run_directory
from ..train._sessions import _current
from ..train._sessions._metrics import flat_metrics
from ..train._sessions._runtime import RuntimeSession
from ..train.data_parallel_trainer import DataParallelTrainer
from ._class_trial import class_of, function_of
from ._domains import Domain
from ._nested_values import Path, domains_in, name_of
from ._param_space import ParamSpace
from ._resources.requests import requested_by, scaling_of
from ._spaces import DEFAULT_METRIC
from ._spec import seed
from ._trainer_arguments import NAMES, TrainerArguments
from ._trial_events import TrialEvents
from .schedulers._bandit import BanditExplore


def with_parameters(trainable: Callable[..., Any], **kwargs: Any) -> Callable[..., Any]:
    """Returns the function, or the Trainable class, with additional arguments of the function, or of `setup()`. They are sent to the trials.

    Raises
    ------
    ValueError
        `trainable` is neither a function nor a class that is derived from tune.Trainable.

    Examples
    --------
    >>> from trainrt import tune
    >>> def train(config, data):
    ...     return config["x"] * sum(data)
    >>> tune.with_parameters(train, data=[1, 2])({"x": 3})
    9
    """
    _require_function_or_class(trainable, "tune.with_parameters")
    return _named(functools.partial(trainable, **kwargs), trainable)


def with_resources(trainable: Callable[..., Any], resources: Any) -> Callable[..., Any]:
    """Returns the function, or the Trainable class, with the resources of one trial.

    Parameters
    ----------
    trainable : function or Trainable class
    resources : dict, PlacementGroupFactory, ScalingConfig or function
        {"cpu": 2, "gpu": 1}, a PlacementGroupFactory, whose bundles are added, or a ScalingConfig, whose workers are the ranks of the trial. A function of
        the config of a trial returns one of these; all trials get the maximum for all configs.

    Raises
    ------
    ValueError
        The trainable or the resources have another type, or the resources contain a fraction of a GPU.

    Examples
    --------
    >>> from trainrt import tune
    >>> def train(config):
    ...     tune.report({"loss": config["x"]})
    >>> tuner = tune.Tuner(tune.with_resources(train, {"cpu": 2}), param_space={"x": tune.uniform(0, 1)})
    """
    _require_function_or_class(trainable, "tune.with_resources")
    made: Any = _named(functools.partial(trainable), trainable)
    made._resources = resources
    if not callable(resources) or isinstance(resources, PlacementGroupFactory):
        scaling_of(resources)
    return made


def _named(made: Any, trainable: Any) -> Any:
    """Returns `made` with the name of `trainable`."""
    made.__name__ = getattr(trainable, "__name__", "tune_with_parameters")
    return made


def _require_function_or_class(trainable: Any, call: str) -> None:
    if isinstance(trainable, DataParallelTrainer):
        raise ValueError(f"{call}({type(trainable).__name__}): it must be a function or a Trainable class; a Trainer has a train_loop_config and a "
                         f"scaling_config")
    if not callable(trainable) or (isinstance(trainable, type) and class_of(trainable) is None):
        raise ValueError(f"{call}({trainable!r}): it must be a function of a config, or a class that is derived from tune.Trainable")


def _require_trainable_class(trainable: Any, call: str) -> None:
    """Raises TypeError for a class that is not derived from tune.Trainable."""
    if isinstance(trainable, type) and class_of(trainable) is None:
        raise TypeError(f"{call}({trainable.__name__}): it must be a function of a config, a Trainer, or a class that is derived from tune.Trainable")


class FunctionTrainer(DataParallelTrainer):
    """The Trainer of a function. A dict or a number that the function returns or yields is a report, as in Ray Tune."""

    config_argument = ""

    def params(self) -> dict[str, Any]:
        return self.train_loop_config or {}

    def call_train_function(self) -> Any:
        returned = super().call_train_function()
        if inspect.isgenerator(returned):
            for value in returned:
                _report_output(value)
        else:
            _report_output(returned)
        return returned


def _report_output(value: Any) -> None:
    """Reports `value`: a dict of metrics, or a number as the metric "_metric". Ignores `None`, False and an empty dict; raises ValueError for other values."""
    if value is None or value is False or (isinstance(value, dict) and not value):
        return
    if isinstance(value, dict):
        _current.session().report(flat_metrics(value))
    elif isinstance(value, numbers.Number):
        _current.session().report({DEFAULT_METRIC: value})
    else:
        raise ValueError(f"the Tune function returned {kind_of(value)}; it must return or yield metrics, a dict, or one number")


class TrialSession(RuntimeSession):
    """The session of a trial. It ends the trial at a report that has done=True, or with which a stopper in the script ends it.

    `events`: on rank 0 of a sweep with a stopper or callbacks, sends the reports to the script.
    """

    def __init__(self, runtime: Any, job: Any, events: TrialEvents | None) -> None:
        super().__init__(runtime, job)
        self._events = events
        self._iteration: int | None = None  # number of the newest report; `None`: not read yet
        self._reported_at_s = time.monotonic()
        self._is_last: bool | None = None  # whether the next report is the last one, if the script has already answered for this report

    def ends_with(self, metrics: dict[str, Any]) -> bool:
        """Returns whether the trial ends with a report of these metrics, by done=True or a stopper. The caller must then pass the same metrics to report()."""
        if self._is_last is None and self._events is not None:
            self._is_last = self._sent(self._events, metrics)
        return bool(self._is_last) or metrics.get("done") in (True, 1)

    def report(self, metrics: dict[str, Any], checkpoint: Any = None, *given: Any, **named: Any) -> None:
        if self.ends_with(metrics):
            is_done = metrics.get("done") in (True, 1)
            self.runtime.request_stop("the train function reported done=True" if is_done else "the stop function of the RunConfig")
        self._is_last = None
        super().report(metrics, checkpoint, *given, **named)
        if self._events is not None and checkpoint is not None:
            self.newest_index()  # waits for the commit
            self._events.saved()

    def take_reports(self) -> None:
        """If this trial is a clone that has finished without a report of its own, adds the reports of its ancestors. Collective."""
        self.restore_from_files()

    def _sent(self, events: TrialEvents, metrics: dict[str, Any]) -> bool:
        """Sends the next report to the script, and returns the answer of the script: whether the trial ends with this report."""
        if self._iteration is None:
            self.restore_from_files()
            newest = self.runtime.checkpoint()
            self._iteration = _run_directory.manifest_of(newest["path"])["iteration"] if newest else 0
        self._iteration += 1
        now_s = time.monotonic()
        seconds, self._reported_at_s = now_s - self._reported_at_s, now_s
        return events.result({name: getattr(value, "value", value) for name, value in metrics.items()}, self._iteration, seconds)


class SweepTrainable:
    """The object that is sent to the trials. Raises TypeError or ValueError for an invalid trainable or param_space.

    Parameters
    ----------
    trainable : function, Trainable class or DataParallelTrainer
    param_space : dict
    mutated : dict
        {path: Domain} of the values that a scheduler changes.
    run_config : RunConfig
    sends_events : bool
        Whether the trials send their reports to the script.
    explore : function, optional
        The scheduler's function that adjusts the config of a clone.
    is_suggested : bool
        Whether a searcher in the script suggests the config of each trial.
    """

    def __init__(self, trainable: Any, param_space: dict[str, Any], mutated: Mapping[Path, Domain], run_config: Any,
                 sends_events: bool = False, explore: Callable[[dict[str, Any]], Any] | None = None, is_suggested: bool = False) -> None:
        _require_trainable_class(trainable, "Tuner")
        if not isinstance(param_space, dict):
            raise ValueError(f"Tuner(param_space=...) must be a dict, not {kind_of(param_space)}")
        self.trainer = _trainer_with(trainable, run_config, param_space)
        param_space = {} if is_suggested else param_space
        for path, _ in domains_in(self.trainer.train_loop_config):
            raise ValueError(f"Tuner(a Trainer): its train_loop_config has a domain at '{name_of(path)}'; move it to "
                             f"Tuner(param_space={{'{self.trainer.config_argument}': ...}})")
        self._arguments: TrainerArguments | None = None
        if self.trainer.config_argument:
            self._arguments = TrainerArguments(self.trainer, param_space, mutated)
            self.trainer, param_space = self._arguments.trainer, self._arguments.param_space
        self.space = ParamSpace(param_space, mutated, NAMES if self._arguments else {})
        self._sends_events, self._explore, self.is_suggested = sends_events, explore, is_suggested

    def for_ranks(self, folder: str) -> SweepTrainable:
        """Returns a copy for the ranks of the trials. Its Trainer has no filesystem object, which may contain access keys. A temporary
        `resume_from_checkpoint` is copied into `folder`, a directory that all nodes see."""
        made = copy.copy(self)
        made.trainer = _store_keys.without_filesystem(_temporary_checkpoint.placed_in(self.trainer, folder))
        if self._arguments is not None:
            made._arguments = copy.copy(self._arguments)
            made._arguments.trainer = made.trainer
        return made

    @property
    def scaling(self) -> ScalingConfig:
        """The ScalingConfig of the trials, with the maximum number of ranks."""
        return self.trainer.scaling_config or ScalingConfig()

    @property
    def under(self) -> dict[str, Any] | None:
        """{name of the Trainer's argument: config of the train function}, to which trials add values; `None` for a function."""
        return {self.trainer.config_argument: self.trainer.train_loop_config or {}} if self._arguments else None

    def session(self, runtime: Any, spec: Any, script: ExchangeClient, texts: dict[str, str]) -> TrialSession:
        """Returns the session of a trial. `script`: the connection to the script; `texts`: the values of the trial, {name: text}."""
        events = TrialEvents(script, runtime.run_name) if self._sends_events and runtime.world_rank == 0 else None
        session = TrialSession(runtime, spec, events)
        if events is not None:
            events.started(texts, is_restored=bool(_run_directory.with_directories(runtime.run_dir)))
        return session

    def trainer_of(self, texts: Mapping[str, str], run_dir: str, world_size: int, suggestion: dict[str, Any] | None = None) -> DataParallelTrainer:
        """Returns the Trainer of the trial in `run_dir`. `texts`: the values of the trial, {name: text}. `suggestion`: the config that a searcher in the script
        has suggested."""
        run_name = os.path.basename(run_dir)
        config = self.space.config(texts, trial_number(run_name)) if suggestion is None else suggestion
        if self._explore is not None and generation_of(run_name) > 1:
            datasets = config.get("datasets", {}).values() if self._arguments is not None else ()
            explore = self._explore.at(run_dir) if isinstance(self._explore, BanditExplore) else self._explore
            config = explored(config, explore, run_name, datasets)
        if self._arguments is not None:
            return self._arguments.trainer_of(config, world_size)
        self.trainer.train_loop_config = config
        return self.trainer


def _trainer_with(trainable: Any, run_config: Any, param_space: dict[str, Any]) -> DataParallelTrainer:
    """Returns the Trainer of the trials, with the RunConfig of the sweep."""
    if not isinstance(trainable, DataParallelTrainer):
        function = trainable if class_of(trainable) is None else function_of(trainable)
        return FunctionTrainer(function, scaling_config=requested_by(trainable, param_space), run_config=run_config)
    trainer = copy.copy(trainable)
    trainer.run_config = run_config
    return trainer


def explored(config: dict[str, Any], explore: Callable[[dict[str, Any]], Any], run_name: str, datasets: Iterable[Any] = ()) -> dict[str, Any]:
    """Returns the config of a clone as the function `explore` returns it. `random` and numpy.random are seeded with the name of the clone, so that a
    restart gets the same config. The function gets a copy of the config with the same objects of `datasets`. Raises ValueError
    if the function returns another type."""
    seed(zlib.crc32(run_name.encode()))
    made = explore(copy.deepcopy(config, {id(each): each for each in datasets}))
    if not isinstance(made, dict):
        raise ValueError(f"custom_explore_fn returned {kind_of(made)}; it must return the config, a dict")
    return made


def generation_of(run_name: str) -> int:
    """Returns 2 for trial_00007-2, the first clone in place of trial 7, and 1 for trial_00007."""
    found = re.fullmatch(r"trial_\d+-(\d+)", run_name)
    return int(found[1]) if found else 1


def trial_number(run_name: str) -> int:
    """Returns 7 for trial_00007."""
    found = re.match(r"trial_(\d+)", run_name)
    if found is None:
        raise ValueError(f"'{run_name}' is not the name of a trial")
    return int(found[1])
