"""Tuner: a sweep of trials with different values, run by `trainrt tune`."""

from __future__ import annotations

import os
from typing import Any

from .. import _cluster
from .._support import _executable, _notes, _pickling, _private_folder, _script
from .._support._exchange import Exchange
from .._support._storage import default_storage
from ..train import FailureConfig, RunConfig
from ..train._config import _paths, _settings
from ..train._config._storage import PathInFilesystem, is_object_store, location
from ..train._fit import _allocation, _command, _first_checkpoint, _store_keys
from ..train._fit._run_names import continue_advice, default_name
from ..train._sessions import _current
from ..train.errors import ControllerError, RunStopped
from . import _restored_sweep, _run_rules
from ._class_trial import checkpoint_keys, train_function_of
from ._decisions.choice import Choice
from ._decisions.scheduling import ScriptScheduler
from ._decisions.searching import ScriptSearch
from ._param_space import ParamSpace
from ._registry import registered
from ._restoring import require_own_programs, require_same, require_space, with_earlier_synch
from ._results import ResultGrid, config_of
from ._sections import Sections, as_ini, max_concurrent_trials, program_of, sections_of
from ._sweep_record import is_sweep
from ._time_budget import TimeBudget
from ._trainable import SweepTrainable
from ._trial_events import EventExchange
from ._tune_config import TuneConfig
from ._watcher import SweepWatcher
from .error import TuneError

_STOPPED, _USAGE = 75, 64
_PACKAGES = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Tuner:
    """A sweep: runs a function or a Trainer with different values.

    Parameters
    ----------
    trainable : function, Trainable class, Trainer or str
        A function of a config, a class that is derived from tune.Trainable, a Trainer, or a name of register_trainable().
    param_space : dict, optional
        Values and domains, such as tune.uniform(0, 1), in dicts, lists and tuples: the config of the function. For a Trainer, arguments of the Trainer:
        train_loop_config, params (of a tree trainer), datasets, metadata and scaling_config. Dicts are merged with the Trainer's, key by key.
    tune_config : TuneConfig, optional
        How trials are chosen, compared and stopped early.
    run_config : RunConfig, optional
        Name and storage path of the sweep. The default name is that of the script and the Slurm job, which a requeue
        continues. Outside of a job it has the date and time, so each start is a new sweep.

    Examples
    --------
    >>> import tempfile
    >>> from trainrt import tune
    >>> def train(config):
    ...     for epoch in range(3):
    ...         tune.report({"loss": abs(config["lr"] - 0.1) / (epoch + 1)})
    >>> tuner = tune.Tuner(train, param_space={"lr": tune.choice([0.1, 0.2])},
    ...                    tune_config=tune.TuneConfig(metric="loss", mode="min", num_samples=2),
    ...                    run_config=tune.RunConfig(name="first", storage_path=tempfile.mkdtemp()))
    >>> results = tuner.fit()
    >>> len(results), len(results.errors)
    (2, 0)
    """

    def __init__(self, trainable: Any = None, *, param_space: dict[str, Any] | None = None, tune_config: TuneConfig | None = None,
                 run_config: RunConfig | None = None) -> None:
        for name, value, kind in (("tune_config", tune_config, TuneConfig), ("run_config", run_config, RunConfig)):
            if value is not None and not isinstance(value, kind):
                raise TypeError(f"Tuner({name}={value!r}): it must be a {kind.__name__}")
        self._tune = tune_config or TuneConfig()
        self._choice = Choice(self._tune, param_space)
        self._scheduler, self._search = self._choice.scheduler, self._choice.search
        self._metric, self._mode = self._choice.metric, self._choice.mode
        if trainable is None or trainable == "":
            raise TuneError("Tuner() needs a trainable: a function of a config, a class that is derived from tune.Trainable, or a Trainer")
        trainable = train_function_of(registered(trainable))
        given = _run_rules.run_config_of(trainable, run_config)
        if isinstance(given.storage_path, PathInFilesystem):
            raise ValueError(f"Tuner(run_config=RunConfig(storage_filesystem={type(given.storage_filesystem).__name__})): the filesystem of a sweep must be "
                             f"for S3 (s3, s3a), Google Cloud Storage (gs, gcs) or local files")
        self._run_config, self._stopper, self._callbacks = _run_rules.divided(given)
        decides = bool(self._choice.decided_in_script())
        self._trainable = SweepTrainable(trainable, self._choice.space, self._scheduler.mutations() if self._scheduler.name else {}, self._run_config,
                                         sends_events=self._stopper is not None or bool(self._callbacks) or decides, explore=self._scheduler.explore,
                                         is_suggested=self._search.suggests())
        self._checkpoint_keys = checkpoint_keys(trainable, given.checkpoint_config, self._choice.plugin)
        self._search.check_domains(self._space.domains())
        self._storage = default_storage() if is_object_store(self._run_config.storage_path) else self._run_config.storage_path or default_storage()
        self._name = self._run_config.name
        self._failures = self._run_config.failure_config or FailureConfig()
        self._restored: Sections | None = None  # the config of the sweep, after restore()
        self._is_older = False  # restore() found newer checkpoints in the store than in the directory of the sweep
        self._trust_owner: str | None = None  # owners of sweeps that fit() may continue

    def __getattribute__(self, name: str) -> Any:
        if name == "restore":
            raise AttributeError("Tuner.restore() is a classmethod: call Tuner.restore(path, trainable), which returns a new Tuner")
        return super().__getattribute__(name)

    def fit(self) -> ResultGrid:
        """Runs the trials, and returns their ResultGrid, also if some have failed.

        Raises
        ------
        RunStopped
            The sweep was stopped; the same call continues it.
        ControllerError
            The sweep could not start, or its trials do not report the metric.
        Exception
            Any exception of a stopper or a callback.
        """
        _script.require_own_start("Tuner.fit()")
        if _current.is_running() or _current.is_rank_program():
            raise RuntimeError("Tuner.fit() starts its trials itself: start the script without trainrt and srun (python3 tune.py)")
        self._choice.check()
        constant = self._space.constant_list()
        if constant is not None:
            _notes.say(f"param_space has no values to search: every trial gets the complete list {constant[0]}={constant[1]!r:.60}. For one trial per item, "
                       f"use tune.grid_search()")
        if self._name is None:
            self._name = default_name("Tuner", self._storage)
        if self._is_older:
            _restored_sweep.set_aside(self._path)
            self._is_older = False
        folder = _private_folder.make(self._storage)
        try:
            config = os.path.join(folder, "sweep.ini")
            with open(config, "w", encoding="utf-8") as file:
                file.write(as_ini(self._restored or with_earlier_synch(self._path, self._sections())))
            watcher = self._watcher()
            with EventExchange(_allocation.hosts_of_exchange(1), watcher.on_event) as exchange:
                _store_keys.offer(self._run_config, exchange)
                _pickling.send(self._trainable.for_ranks(folder), exchange, {})
                end, is_over_budget = self._run(config, exchange, watcher)
        finally:
            _private_folder.remove(folder)
            _first_checkpoint.remove_copy(self._trainable.trainer._first_path)
        watcher.raise_error()
        self._raise_if_failed(end, is_over_budget)
        results = self.get_results()
        failure = results._failure_of_all()
        if failure:
            _notes.error(failure)
        return results

    def get_results(self) -> ResultGrid:
        """Returns the ResultGrid of the sweep, which may still run."""
        return ResultGrid(self._path, self._metric, self._mode, self._space, self._trainable.under)

    @property
    def _space(self) -> ParamSpace:
        return self._trainable.space

    @property
    def _path(self) -> str:
        return os.path.join(self._storage, self._name or "")

    def _watcher(self) -> SweepWatcher:
        watcher = SweepWatcher(self._path, self._stopper, self._callbacks, lambda trial: config_of(trial, self._space, self._trainable.under),
                               self._failures.max_failures)
        if self._search.suggests():
            watcher.search = ScriptSearch(self._search, self._choice.space, self._path)
        if not self._scheduler.name:
            watcher.scheduler = ScriptScheduler(self._scheduler, watcher.trials)
        return watcher

    # ---- the config of the sweep ----

    def _sections(self) -> Sections:
        scaling = self._trainable.scaling
        found = {**_settings.DEFAULTS, **_settings.settings(scaling, self._run_config), **self._trainable.trainer.settings()}
        found.update({f"loop.{key}": text for key, text in self._space.recorded().items()})
        found.update({**self._checkpoint_keys, **self._choice.decided_in_script()})
        found.update({"run.name": self._name, "run.storage_path": self._storage})
        for key in ("scaling.num_workers", "scaling.min_workers"):
            found.pop(key, None)
        limit = found.pop("failure.max_failures", "0")
        tune = {"num_samples": self._num_samples, "metric": self._metric, "mode": self._mode, "scheduler": self._choice.plugin,
                "workers": scaling.max_workers, "max_concurrent_trials": max_concurrent_trials(scaling),
                "max_failures": min(int(limit), 1000000), "fail_fast": "true" if self._failures.fail_fast else None,
                **self._search.settings()}
        if self._tune.max_concurrent_trials:
            tune["max_concurrent_trials"] = self._tune.max_concurrent_trials
        sections: Sections = {"train": {"program": program_of(self._space)}, "tune": {key: str(value) for key, value in tune.items() if value is not None},
                    "tune.space": self._space.section(), "tune.mutations": self._space.mutations(),
                    f"tune.{self._choice.plugin}": self._scheduler.settings() if self._scheduler.name else {}}
        for key, text in found.items():
            section, name = key.rsplit(".", 1)
            sections.setdefault(section, {})[name] = text
        return sections

    @property
    def _num_samples(self) -> int:
        """The number of trials of each combination of the values of grids that trainrt knows."""
        given = self._tune.num_samples
        return self._search.total_samples(given, self._choice.space) if self._search.suggests() else given

    # ---- run `trainrt tune` ----

    def _run(self, config: str, exchange: Exchange, watcher: SweepWatcher) -> tuple[Any, bool]:
        """Runs `trainrt tune`. Returns how it ended, and whether time_budget_s was exceeded or a stopper ended the sweep."""
        environment = {**os.environ, **_cluster.env_vars(), **exchange.variables()}
        environment["TRAINRT_TUNER_TITLE"] = f"the Tuner in {os.path.basename(_script.of_this_process()['path'] or 'this program')}"
        if self._stopper is not None or self._callbacks:
            environment["TRAINRT_TUNER_OBSERVES"] = "1"
        environment["PYTHONPATH"] = os.pathsep.join([_PACKAGES, *filter(None, [environment.get("PYTHONPATH")])])
        cpus = self._trainable.scaling.requested_cpus
        if cpus:
            environment.setdefault("OMP_NUM_THREADS", str(max(1, int(cpus))))
            if _allocation.can_launch(1):
                environment["TRAINRT_SRUN_ARGS"] = f"--cpus-per-task={max(1, int(cpus))} {environment.get('TRAINRT_SRUN_ARGS', '')}"
        command = [_executable.trainrt(), "tune", "--config", config, *_settings.trust_arguments(self._trust_owner)]
        processes = _command.LaunchedCommand(command, environment, _command.stop_signal_of(command), _store_keys.of(self._run_config))
        budget = TimeBudget(self._tune.time_budget_s, processes)
        watcher.begin(processes, self._tune.num_samples, self._num_samples * self._space.num_grid_points())
        try:
            return processes.run(), budget.is_over or watcher.stops_sweep
        finally:
            budget.end()
            watcher.end()

    def _raise_if_failed(self, end: Any, is_over_budget: bool) -> None:
        if end.interrupted:
            raise KeyboardInterrupt
        if end.is_killed:
            reason = f"the sweep '{self._name}' was killed by a second signal; {continue_advice(self._name, self._run_config.name is None)}"
            _notes.say(reason)
            raise RunStopped(reason)
        if end.code == _STOPPED and not is_over_budget:
            raise RunStopped(f"the sweep '{self._name}' was stopped and its state is saved; {continue_advice(self._name, self._run_config.name is None)}")
        if end.code == _USAGE or not is_sweep(self._path):
            lines = [line for line in end.last_lines if "error" in line] or end.last_lines[-5:]
            raise ControllerError("the sweep failed: " + ("\n".join(lines) or "the messages of trainrt above have the reason"),
                                  exit_code=end.code)

    @classmethod
    def can_restore(cls, path: str | os.PathLike[str], storage_filesystem: Any = None) -> bool:
        """Returns whether `path` is the directory of a sweep, or the URL of a sweep in an object store. With `storage_filesystem`, an object of fsspec or
        pyarrow.fs for S3, Google Cloud Storage or local files, `path` is a path in it. Raises OSError, with the URL, if the store cannot be read."""
        return _restored_sweep.exists(*location("Tuner.can_restore()", path, storage_filesystem))

    @classmethod
    def restore(cls, path: str | os.PathLike[str], trainable: Any, resume_unfinished: bool = True, resume_errored: bool = False,
                restart_errored: bool = False, param_space: dict[str, Any] | None = None, storage_filesystem: Any = None, _resume_config: Any = None,
                *, trust_owner: str | None = None) -> Tuner:
        """Returns a Tuner that continues a sweep with its original config.

        Parameters
        ----------
        path : path
            The directory of the sweep, storage_path/name, which may have been moved; or, for a sweep with `RunConfig(storage_path="s3://...")`, its URL
            storage_path/name. The sweep then continues in the directory `name` of `$TRAINRT_STORAGE`, else of `runs`. If this directory does not exist, or
            has only older checkpoints, each trial continues from its newest checkpoint in the store; fit() renames an older directory to name.older-1.
        trainable : function or Trainer
            The same as at the first start.
        param_space : dict, optional
            The same as at the first start; required if it has values that JSON cannot hold.
        resume_errored : bool
            Tries failed trials once more, from their last checkpoints.
        storage_filesystem : fsspec or pyarrow.fs filesystem, optional
            For S3, Google Cloud Storage or local files: `path` is a path in it. Its access keys are used, and are not stored.
        trust_owner : str, optional
            The owner of the sweep, if it is another user.

        Raises
        ------
        ValueError
            `path` is not a sweep, the trainable or param_space differs, or the sweep names code that is not trusted. For a URL also: the local directory
            has another sweep. Or the script decides: start it again instead.
        OSError
            The object store cannot be read. The message names the URL.
        """
        if restart_errored or not resume_unfinished or _resume_config:
            raise ValueError("Tuner.restore(): restart_errored, resume_unfinished=False and _resume_config are not supported; use resume_errored=True")
        sweep = _restored_sweep.find(*location("Tuner.restore()", path, storage_filesystem))
        path, texts, reason = sweep.path, sweep.texts, sweep.reason
        texts.update({"run.name": os.path.basename(path), "run.storage_path": os.path.dirname(path)})  # the directory may have been moved
        run_config = RunConfig(name=os.path.basename(path), storage_path=_paths.ExpandedPath(os.path.dirname(path)), storage_filesystem=storage_filesystem)
        tuner = cls(trainable, param_space=param_space, run_config=run_config)
        require_same(sweep.given, texts, tuner._sections(), param_space is not None)
        if param_space is None:
            tuner._trainable.space = require_space(sweep.given, sweep.space)
        tuner._trust_owner = trust_owner
        tuner._metric, tuner._mode = texts.get("tune.metric"), texts.get("tune.mode")
        require_own_programs(sweep.given, texts, reason, program_of(tuner._space))
        texts.update(sweep.mirror)
        tuner._is_older = sweep.is_older
        if resume_errored:
            texts["tune.max_failures"] = str(int(texts.get("tune.max_failures", 0)) + 1)
        if tuner._trainable.trainer._first_path is not None:
            texts["run.resume_from_checkpoint"] = tuner._trainable.trainer._first_path  # the first fit() has removed its copy
        tuner._restored = sections_of(texts)
        return tuner
