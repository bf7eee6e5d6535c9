"""Tuner: a sweep of trials, each with other values, run by `trainrt tune`."""

import os
import shlex
import sys
import threading

from .. import _cluster
from ..train import RunConfig
from ..train._fit import _allocation, _local_ranks
from .._support import _executable, _notes, _private_folder, _script, _pickling
from ..train._config import _paths, _settings
from ..train._sessions import _session
from ..train._config._run_config import is_store
from ..train._fit._launch import name_in_job
from .._support._storage import default_storage
from ..train.errors import ControllerError, RunStopped
from ._param_space import ParamSpace, read_space
from ._results import ResultGrid
from ._sweep_record import is_sweep, programs_in, read_sweep
from ._trainable import Trainable
from ._tune_config import TuneConfig
from .schedulers import FIFOScheduler
from .search import BasicVariantGenerator

_STOPPED, _USAGE = 75, 64
_PACKAGES = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_default_names = {}  # how often each was given in this process


class Tuner:
    """Ray Tune's arguments. The trainable is a function of a config, or a Trainer, whose train_loop_config the param_space completes."""

    def __init__(self, trainable=None, *, param_space=None, tune_config=None, run_config=None):
        for name, value, kind in (("tune_config", tune_config, TuneConfig), ("run_config", run_config, RunConfig)):
            if value is not None and not isinstance(value, kind):
                raise TypeError(f"Tuner({name}={value!r}): it must be a {kind.__name__}")
        self._tune = tune_config or TuneConfig()
        self._scheduler = self._tune.scheduler or FIFOScheduler()
        self._search = self._tune.search_alg or BasicVariantGenerator()
        self._metric = self._tune.metric or self._scheduler.metric or self._search.metric
        self._mode = self._tune.mode or self._scheduler.mode or self._search.mode
        given = _run_config_of(trainable, run_config)
        stop, self._run_config = _stop_of(given)
        self._space = ParamSpace(param_space or {}, self._scheduler.mutations())
        self._trainable = Trainable(trainable, self._space, stop, self._run_config)
        self._storage = default_storage() if is_store(self._run_config.storage_path) else self._run_config.storage_path or default_storage()
        self._name = self._run_config.name
        self._restored = None  # the sections of a sweep that was begun
        self._trust_owner = None  # users whose sweep fit() may continue

    def fit(self):
        """Runs the trials; returns their ResultGrid, also if some have failed. RunStopped if the sweep was stopped."""
        _check_place()
        if self._name is None:
            self._name = _default_name()
        folder = _private_folder.make(self._storage)
        try:
            _pickling.send(self._trainable, folder, {})
            config = os.path.join(folder, "sweep.ini")
            with open(config, "w", encoding="utf-8") as file:
                file.write(_as_ini(self._restored or self._sections()))
            end, is_over_budget = self._run(config, folder)
        finally:
            _private_folder.remove(folder)
        self._raise_unless_good(end, is_over_budget)
        return self.get_results()

    def get_results(self):
        """The ResultGrid of the sweep as it stands."""
        return ResultGrid(self._path, self._metric, self._mode, self._space, self._trainable.under)

    @property
    def _path(self):
        return os.path.join(self._storage, self._name or "")

    # ---- what trainrt tune is given ----

    def _sections(self):
        scaling = self._trainable.scaling
        found = {**_settings.settings(scaling, self._run_config), **self._trainable.trainer.settings()}
        found.update({f"loop.{key}": text for key, text in self._space.recorded().items()})
        found.update({"run.name": self._name, "run.storage_path": self._storage})
        for key in ("scaling.num_workers", "scaling.min_workers"):
            found.pop(key, None)
        limit = found.pop("failure.max_failures", "0")
        fast = self._run_config.failure_config is not None and bool(self._run_config.failure_config.fail_fast)
        tune = {"num_samples": self._tune.num_samples, "metric": self._metric, "mode": self._mode, "scheduler": self._scheduler.name,
                "workers": scaling.most_workers, "max_concurrent_trials": self._most_at_once(scaling), "max_failures": min(int(limit), 1000000),
                "fail_fast": "true" if fast else None, **self._search.settings()}
        if self._tune.max_concurrent_trials:
            tune["max_concurrent_trials"] = self._tune.max_concurrent_trials
        sections = {"train": {"program": self._program()}, "tune": {key: str(value) for key, value in tune.items() if value is not None},
                    "tune.space": self._space.section(), "tune.mutations": self._space.mutations(),
                    f"tune.{self._scheduler.name}": self._scheduler.settings()}
        for key, text in found.items():
            section, name = key.rsplit(".", 1)
            sections.setdefault(section, {})[name] = text
        return sections

    def _program(self):
        """What each rank of a trial starts."""
        return " ".join([shlex.quote(sys.executable), "-m", "trainrt.tune._worker", *(f"{name}={{{name}}}" for name in self._space.section())])

    def _most_at_once(self, scaling):
        """In a job as many as it has tasks for; on a machine as many as it has CPUs for."""
        if _allocation.takes_ranks(1):
            return 0
        there = _cluster.cluster_resources()
        fits = there.get("CPU", 1) // (scaling.most_workers * (scaling.num_cpus_per_worker or 1))
        if scaling.num_gpus_per_worker:
            fits = min(fits, there.get("GPU", 0) // (scaling.most_workers * scaling.num_gpus_per_worker))
        return max(1, int(fits))

    # ---- the sweep ----

    def _run(self, config, folder):
        environment = {**os.environ, **_cluster.env_vars(), "TRAINRT_FIT": folder}
        environment["PYTHONPATH"] = os.pathsep.join([_PACKAGES, *filter(None, [environment.get("PYTHONPATH")])])
        cpus = self._trainable.scaling.num_cpus_per_worker
        if cpus:
            environment.setdefault("OMP_NUM_THREADS", str(max(1, int(cpus))))
            if _allocation.takes_ranks(1):
                environment["TRAINRT_SRUN_ARGS"] = f"--cpus-per-task={max(1, int(cpus))} {environment.get('TRAINRT_SRUN_ARGS', '')}"
        command = [_executable.trainrt(), "tune", "--config", config, *_settings.trust_words(self._trust_owner)]
        processes = _local_ranks.Processes(command, environment, _local_ranks.stop_signal_of(command))
        budget = _Budget(self._tune.time_budget_s, processes)
        try:
            return processes.run(), budget.is_over
        finally:
            budget.end()

    def _raise_unless_good(self, end, is_over_budget):
        if end.interrupted:
            raise KeyboardInterrupt
        if end.code == _STOPPED and not is_over_budget:
            raise RunStopped(f"the sweep '{self._name}' was stopped, and all is saved: start the same script again to continue it")
        if end.code == _USAGE or not is_sweep(self._path):
            lines = [line for line in end.last_lines if "error" in line] or end.last_lines[-5:]
            raise ControllerError("the sweep could not begin: " + ("\n".join(lines) or "the lines of trainrt above say why"), exit_code=end.code)

    # ---- a sweep that was begun ----

    def _require_same(self, path, texts, has_space):
        """Raises ValueError if the trainable or the param_space is another than that of the sweep: its trials could not be compared."""
        if not any(key.startswith("loop.train_loop_per_worker") for key in texts):
            return  # begun by a version that recorded none
        sections = ("loop.train_loop_", *(("loop.param_space.", "tune.space.", "tune.mutations.") if has_space else ()))
        of = lambda all_texts: {key: text for key, text in all_texts.items() if key.startswith(sections)}
        before, now = of(texts), of({f"{section}.{key}": text for section, keys in self._sections().items() for key, text in keys.items()})
        changed = [f"{key} was {before.get(key, 'not set')}, is {now.get(key, 'not set')}" for key in sorted({*before, *now}) if before.get(key) != now.get(key)]
        if changed:
            raise ValueError(f"Tuner.restore({path!r}): the sweep was begun with other values: {'; '.join(changed)}. Give the same trainable and "
                             f"param_space; Tuner(..., run_config=RunConfig(name=...)) with another name begins a new sweep")

    @classmethod
    def can_restore(cls, path, storage_filesystem=None):
        """Whether `path` is the directory of a sweep."""
        del storage_filesystem
        return is_sweep(_directory(path))

    @classmethod
    def restore(cls, path, trainable, resume_unfinished=True, resume_errored=False, restart_errored=False, param_space=None, storage_filesystem=None,
                _resume_config=None, *, trust_owner=None):
        """A Tuner that goes on with the sweep in the directory `path`, with the config that it was begun with. param_space: again, if it
        has what is no JSON. resume_errored: trials that failed are tried once more, from their last checkpoints. trust_owner: the user whose
        sweep it is, if that is another one."""
        del storage_filesystem
        path = _directory(path)
        if not is_sweep(path):
            raise ValueError(f"Tuner.restore({path!r}): no sweep is there (can_restore() tells); give the directory of a sweep, storage_path/name")
        if restart_errored or not resume_unfinished or _resume_config:
            raise ValueError("Tuner.restore(): restart_errored, resume_unfinished=False and _resume_config are not there; leave them out")
        texts, reason = read_sweep(path)
        texts.update({"run.name": os.path.basename(path), "run.storage_path": os.path.dirname(path)})  # it may have been moved
        tuner = cls(trainable, param_space=param_space, run_config=RunConfig(name=os.path.basename(path), storage_path=_paths.Written(os.path.dirname(path))))
        tuner._require_same(path, texts, param_space is not None)
        tuner._space = tuner._trainable.space = tuner._space if param_space is not None else _remembered_space(path)
        tuner._trust_owner = trust_owner
        tuner._metric, tuner._mode = texts.get("tune.metric"), texts.get("tune.mode")
        if reason is not None:
            _require_own_programs(path, texts, tuner._program(), reason)
        if resume_errored:
            texts["tune.max_failures"] = str(int(texts.get("tune.max_failures", 0)) + 1)
        tuner._restored = _sections_of(texts)
        return tuner


def _require_own_programs(path, texts, program, reason):
    """Of a sweep.json that another user may have written: raises ValueError if it names code, or a place for models, that the caller has not."""
    named = {key: texts[key] for key in programs_in(texts)}
    if texts.get("train.program") != program:
        named["train.program"] = texts.get("train.program")
    if named:
        lines = "".join(f"\n{key} = {text}" for key, text in named.items())
        raise ValueError(f"Tuner.restore({path!r}): {path}/sweep.json names what the trials would start, load or write to, and that is not taken from a "
                         f"directory: {reason}. Give it again: Tuner(trainable, ...).fit() with the arguments of the first start continues the sweep. "
                         f"This call would start {program}, and sweep.json has:{lines}")


def _remembered_space(path):
    try:
        return read_space(path)
    except (OSError, ValueError, KeyError):
        raise ValueError(f"Tuner.restore({path!r}): give param_space= again: it has what is no JSON") from None


def _sections_of(texts):
    """{section: {key: text}}; keys of [tune.space] may have dots of their own."""
    sections = {}
    for key, text in texts.items():
        whole = next((name for name in ("tune.space", "tune.mutations") if key.startswith(name + ".")), None)
        section, name = (whole, key[len(whole) + 1:]) if whole else key.rsplit(".", 1)
        sections.setdefault(section, {})[name] = text
    return sections


def _as_ini(sections):
    """ValueError for a text of several lines, the later ones of which would be keys of their own."""
    broken = [f"{section}.{key}" for section, keys in sections.items() for key, text in keys.items() if len(f"{key}={text}".splitlines()) > 1]
    if broken:
        raise ValueError(f"the value of {', '.join(broken)} has a line break, which no config can hold")
    lines = []
    for section, keys in sections.items():
        if keys:
            lines += [f"[{section}]", *(f"{key} = {_paths.for_config(f'{section}.{key}', text)}" for key, text in keys.items()), ""]
    return "\n".join(lines)


def _run_config_of(trainable, given):
    """The Tuner's; a Trainer may have one of its own, for what its ranks do."""
    own = getattr(trainable, "run_config", None)
    if own is not None and given is None:
        return own
    return given or RunConfig()


def _stop_of(run_config):
    """(what only Python can decide, the RunConfig without it). done=True is a report's own matter."""
    stop = run_config.stop
    if callable(stop):
        return stop, _with_stop(run_config, None)
    if isinstance(stop, dict) and "done" in stop:
        return None, _with_stop(run_config, {name: value for name, value in stop.items() if name != "done"} or None)
    return None, run_config


def _with_stop(run_config, stop):
    made = RunConfig(**{name: getattr(run_config, name) for name in run_config.__dataclass_fields__})
    made.stop = stop
    return made


def _check_place():
    importing = _script.importing()
    if importing is not None:
        raise RuntimeError(f"Tuner.fit() was called while a trial imports {importing}, to find the function in it. Put what starts the sweep "
                           f"under\n    if __name__ == \"__main__\":")
    if _session.is_running() or _session.is_program_of_a_rank():
        raise RuntimeError("Tuner.fit() starts its trials itself: start the script without trainrt and srun (python3 tune.py)")


def _default_name():
    """Stable, so that a start of the same script goes on with its sweep; a job has one of its own."""
    script = _script.of_this_process()["path"]
    name = name_in_job(f"Tuner_{os.path.splitext(os.path.basename(script))[0] if script else 'interactive'}")
    _default_names[name] = _default_names.get(name, 0) + 1
    return name if _default_names[name] == 1 else f"{name}-{_default_names[name]}"


def _directory(path):
    text = os.fspath(path)
    return os.path.abspath(os.path.expanduser(text[len("file://"):] if text.startswith("file://") else text))


class _Budget:
    """Stops the sweep when its time is over."""

    def __init__(self, seconds, processes):
        self.is_over = False
        self._processes = processes
        self._timer = None
        if seconds:
            self._timer = threading.Timer(seconds, self._stop)
            self._timer.daemon = True
            self._timer.start()

    def _stop(self):
        self.is_over = True
        _notes.say("TuneConfig(time_budget_s=...) is over: the trials stop and save")
        self._processes.ask_to_stop()

    def end(self):
        if self._timer is not None:
            self._timer.cancel()
