"""tune.run(): a sweep in one call, by the arguments of older versions of Ray Tune."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from .._support import _notes
from ..train import CheckpointConfig, FailureConfig, RunConfig
from ..train.data_parallel_trainer import DataParallelTrainer
from ._analysis import ExperimentAnalysis
from ._experiment import Experiment
from ._registry import registered
from ._trainable import with_resources
from ._trial import Trial
from ._tune_config import TuneConfig
from ._tuner import Tuner
from .error import TuneError
from .schedulers import TrialScheduler, create_scheduler
from .search import Searcher, create_searcher

_WITHOUT_EFFECT = ("chdir_to_trial_dir", "export_formats", "log_to_file", "progress_reporter", "ray_auto_init", "remote_progress_reporter",
                   "reuse_actors", "server_port", "sync_config", "trial_dirname_creator", "trial_executor", "trial_name_creator")
_RESUMES = (False, None, True, "AUTO", "LOCAL")


def run(run_or_experiment: Any, *, name: str | None = None, metric: str | None = None, mode: str | None = None, stop: Any = None,
        time_budget_s: float | None = None, config: dict[str, Any] | None = None, resources_per_trial: Any = None, num_samples: int = 1,
        storage_path: str | os.PathLike[str] | None = None, local_dir: str | os.PathLike[str] | None = None,
        search_alg: Searcher | str | None = None, scheduler: TrialScheduler | str | None = None, checkpoint_config: CheckpointConfig | None = None,
        keep_checkpoints_num: int | None = None, checkpoint_score_attr: str | None = None, checkpoint_freq: int = 0,
        checkpoint_at_end: bool | None = None, verbose: int | None = None, max_failures: int = 0, fail_fast: bool = False, resume: bool | str | None = None,
        raise_on_failed_trial: bool = True, max_concurrent_trials: int | None = None, callbacks: Any = None, **without_effect: Any) -> ExperimentAnalysis:
    """Runs a sweep and waits for its end, as `Tuner(...).fit()`.

    Parameters
    ----------
    run_or_experiment : function, Trainable class, Trainer, str or Experiment
        A trainable of a Tuner, the result of ``Trainer.to_tune_trainable()`` of Ray Train 1.x, or an Experiment, whose arguments take precedence.
    config : dict, optional
        The param_space of a Tuner.
    resources_per_trial : dict or ScalingConfig, optional
        As in with_resources(). A Trainer has a scaling_config instead.
    metric, mode, num_samples, search_alg, scheduler, time_budget_s, max_concurrent_trials
        As in TuneConfig. The searcher and the scheduler may be names, such as "asha".
    name, storage_path, local_dir, stop, checkpoint_config, verbose, callbacks
        As in RunConfig; `local_dir` is an older name of storage_path.
    keep_checkpoints_num, checkpoint_score_attr, checkpoint_freq, checkpoint_at_end
        As num_to_keep, checkpoint_score_attribute, checkpoint_frequency and checkpoint_at_end of CheckpointConfig. "min-loss" is the lowest loss.
    max_failures, fail_fast
        As in FailureConfig.
    resume : bool or "AUTO", optional
        Has no effect: a sweep of the same name is continued. Other values raise ValueError.
    raise_on_failed_trial : bool
        Whether failed trials raise TuneError after the end of the sweep.
    **without_effect
        Arguments of Ray Tune that change nothing, with a note. Other names raise TypeError.

    Raises
    ------
    TuneError
        Trials have failed.

    Examples
    --------
    >>> import tempfile
    >>> from trainrt import tune
    >>> def train(config):
    ...     return {"score": config["x"] ** 2}
    >>> analysis = tune.run(train, config={"x": tune.grid_search([1, 2, 3])}, storage_path=tempfile.mkdtemp())
    >>> analysis.get_best_config(metric="score", mode="max")
    {'x': 3}
    """
    if isinstance(run_or_experiment, Experiment):
        given = {"metric": metric, "mode": mode, "search_alg": search_alg, "scheduler": scheduler, "verbose": verbose, "callbacks": callbacks,
                 "raise_on_failed_trial": raise_on_failed_trial, "max_concurrent_trials": max_concurrent_trials, **without_effect}
        return run(run_or_experiment.trainable, name=run_or_experiment.name, **{**given, **run_or_experiment.arguments})
    unknown = sorted(set(without_effect) - set(_WITHOUT_EFFECT))
    if unknown:
        raise TypeError(f"tune.run() has no argument {unknown[0]!r}")
    for name_of_argument in (each for each, value in without_effect.items() if value):
        _notes.say(f"tune.run({name_of_argument}=...) has no effect")
    if config is not None and not isinstance(config, dict):
        raise ValueError(f"tune.run(config={config!r}): it must be a dict")
    if resume not in _RESUMES:
        raise ValueError(f"tune.run(resume={resume!r}) is not supported: Tuner.restore(path, trainable, resume_errored=True).fit() retries failed trials")
    storage = storage_path if storage_path is not None else local_dir
    given_config = RunConfig(name=name, storage_path=None if storage is None else os.fspath(storage), stop=stop, callbacks=callbacks, verbose=verbose,
                             checkpoint_config=checkpoint_config or _checkpoints(keep_checkpoints_num, checkpoint_score_attr, checkpoint_freq,
                                                                                 checkpoint_at_end),
                             failure_config=_failures(run_or_experiment, max_failures, fail_fast))
    run_config = _merged(getattr(run_or_experiment, "run_config", None), given_config)
    run_config.checkpoint_config = _without_default(run_config.checkpoint_config)
    tune_config = TuneConfig(metric=metric, mode=mode, num_samples=num_samples, time_budget_s=time_budget_s, max_concurrent_trials=max_concurrent_trials,
                             search_alg=_made(search_alg, create_searcher), scheduler=_made(scheduler, create_scheduler))
    grid = Tuner(_trainable(run_or_experiment, resources_per_trial), param_space=config, tune_config=tune_config, run_config=run_config).fit()
    if grid.num_errors and raise_on_failed_trial:
        raise TuneError(f"{grid.num_errors} of {len(grid)} trials failed: {grid.errors[0]}")
    return ExperimentAnalysis(grid.experiment_path, default_metric=metric, default_mode=mode, _grid=grid)


def _trainable(given: Any, resources: Any) -> Any:
    given = registered(given)
    if resources is None:
        return given
    if isinstance(given, DataParallelTrainer):
        raise ValueError("tune.run(resources_per_trial=...) is for functions; set the scaling_config of the Trainer")
    return with_resources(given, resources)


def _made(given: Any, create: Callable[..., Any]) -> Any:
    return create(given) if isinstance(given, str) else given


def _checkpoints(kept: int | None, score: str | None, frequency: int, at_end: bool | None) -> CheckpointConfig | None:
    if kept is None and score is None and not frequency and not at_end:
        return None
    order = "min" if score is not None and score.startswith("min-") else "max"
    return CheckpointConfig(num_to_keep=kept, checkpoint_score_attribute=score.removeprefix("min-") if score else None, checkpoint_score_order=order,
                            checkpoint_frequency=frequency, checkpoint_at_end=bool(at_end))


def _without_default(given: CheckpointConfig | None) -> CheckpointConfig | None:
    """Returns the CheckpointConfig, in which checkpoint_at_end=None is False, and not the default of a Tuner."""
    return given if given is None or given.checkpoint_at_end is not None else replace(given, checkpoint_at_end=False)


def _merged(own: RunConfig | None, given: RunConfig) -> RunConfig:
    """Returns the RunConfig `own` of a Trainer, in which options of `given` other than the defaults replace those of `own`."""
    if own is None:
        return given
    merged = copy.copy(own)
    for field in fields(given):
        value = given.given(field.name)
        if value != field.default:
            setattr(merged, field.name, value)
    return merged


def _failures(trainable: Any, limit: int, fail_fast: bool) -> FailureConfig:
    """Returns the FailureConfig of the arguments, with the limit of a Trainer if they contain no limit."""
    own = getattr(getattr(trainable, "run_config", None), "failure_config", None)
    if limit == 0 and own is not None:
        return replace(own, fail_fast=fail_fast or own.fail_fast)
    return FailureConfig(max_failures=limit, fail_fast=fail_fast)


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
