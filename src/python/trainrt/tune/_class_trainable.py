"""Trainable: the base class of trainables that are classes."""

from __future__ import annotations

import copy
import json
import os
import tempfile
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from .._support import _plain_tree, _this_process
from ..train import Checkpoint
from ..train._sessions import _current

_COUNTERS, _VALUES = ".trainable.json", ".trainable_values"  # file with the counters, and folder with a dict, in a checkpoint
_SUMS = {"timesteps_this_iter": "timesteps_total", "episodes_this_iter": "episodes_total"}


class TrainingResult(NamedTuple):
    """A checkpoint of `Trainable.save()`, and the newest result before it."""

    checkpoint: Checkpoint
    metrics: dict[str, Any]


class Trainable:
    """Base class of a trainable. Subclasses define `setup()`, `step()`, `save_checkpoint()` and `load_checkpoint()`.

    A trial of a Tuner calls `setup()`, and then `step()` until the result has `done=True`, or a stop criterion or a scheduler ends the trial. A trial that
    is restarted calls `load_checkpoint()` after `setup()`. CheckpointConfig sets when a trial saves: every `checkpoint_frequency` steps, and after the last
    step with `checkpoint_at_end=True`. Outside of a Tuner, `train()` does one step.

    Parameters
    ----------
    config : dict, optional
        Stored as `self.config`; `setup()` gets a copy.
    storage
        Ignored.
    **parameters
        Further arguments of `setup()`, from `tune.with_parameters()`.

    Examples
    --------
    >>> from trainrt import tune
    >>> class Halves(tune.Trainable):
    ...     def setup(self, config):
    ...         self.value = config["start"]
    ...     def step(self):
    ...         self.value /= 2
    ...         return {"value": self.value}
    ...     def save_checkpoint(self, checkpoint_dir):
    ...         return {"value": self.value}
    ...     def load_checkpoint(self, checkpoint):
    ...         self.value = checkpoint["value"]
    >>> first, second = Halves({"start": 8.0}), Halves({"start": 100.0})
    >>> result = first.train()
    >>> result["value"], result["training_iteration"], result["done"]
    (4.0, 1, False)
    >>> second.restore(first.save())
    >>> second.train()["value"], second.training_iteration
    (2.0, 2)
    """

    def __init__(self, config: dict[str, Any] | None = None, storage: Any = None, **parameters: Any) -> None:
        del storage
        self.config = config or {}
        session: Any = _current.session() if _current.is_running() else None
        self._trial_id = session.run_name if session is not None else "default"
        self._logdir: str | None = session.run_dir if session is not None else None
        self._reset_counters()
        self._last_result: dict[str, Any] | None = None
        self._last_step: dict[str, Any] = {}  # the newest result as step() returned it
        self.setup(copy.deepcopy(self.config), **parameters)

    def _reset_counters(self) -> None:
        self._iteration = self._iterations_since_restore = 0
        self._time_total = self._time_since_restore = 0.0
        self._totals: dict[str, float] = {}

    # ---- methods that subclasses define ----

    def setup(self, config: dict[str, Any]) -> None:
        """Prepares the training. Called once, before the first step."""

    def step(self) -> dict[str, Any]:
        """Trains one iteration, and returns its metrics. `"done": True` ends the trial; `"should_checkpoint": True` saves a checkpoint."""
        raise NotImplementedError(f"{type(self).__name__} does not define step()")

    def save_checkpoint(self, checkpoint_dir: str) -> dict[str, Any] | str | None:
        """Saves the state. Returns a dict of numbers, strings, arrays, tensors, dicts and lists, which is saved without pickle; or writes files into
        `checkpoint_dir`, and returns `checkpoint_dir` or `None`."""
        raise NotImplementedError(f"{type(self).__name__} does not define save_checkpoint()")

    def load_checkpoint(self, checkpoint: Any) -> None:
        """Restores the state from the dict that `save_checkpoint()` returned, or from the directory with its files."""
        raise NotImplementedError(f"{type(self).__name__} does not define load_checkpoint()")

    def reset_config(self, new_config: dict[str, Any]) -> bool:
        """Applies another config without `setup()`. Returns whether that is possible. Trials do not call it: each has processes of its own."""
        del new_config
        return False

    def log_result(self, result: dict[str, Any]) -> None:
        """Called with each result of `train()`."""

    def cleanup(self) -> None:
        """Releases resources. Called by `stop()`."""

    def _export_model(self, export_formats: list[str], export_dir: str) -> dict[str, str]:
        """Returns {format: path} of exported models."""
        del export_formats, export_dir
        return {}

    # ---- methods that scripts call ----

    def train(self) -> dict[str, Any]:
        """Does one step. Returns its metrics, and those of Ray Tune: `training_iteration`, `time_this_iter_s`, `time_total_s`, `done`, `config` and others.

        Raises
        ------
        TypeError
            If `step()` does not return a dict.
        """
        begin_s = time.monotonic()
        returned = self.step()
        if not isinstance(returned, dict):
            raise TypeError(f"{type(self).__name__}.step() returned a {type(returned).__name__}; it must return a dict of metrics")
        self._last_step = dict(returned)
        given_s = returned.get("time_this_iter_s")
        seconds = time.monotonic() - begin_s if given_s is None else given_s
        self._iteration += 1
        self._iterations_since_restore += 1
        self._time_total += seconds
        self._time_since_restore += seconds
        for name, total in _SUMS.items():
            if returned.get(name) is not None:
                self._totals[total] = self._totals.get(total, 0) + returned[name]
        now = time.time()
        result = {"done": False, "training_iteration": self._iteration, "timestamp": int(now), **self._totals, **returned, "trial_id": self.trial_id,
                  "date": time.strftime("%Y-%m-%d_%H-%M-%S", time.localtime(now)), "time_this_iter_s": seconds, "time_total_s": self._time_total,
                  "time_since_restore": self._time_since_restore, "iterations_since_restore": self._iterations_since_restore, "config": self.config,
                  **_this_process.facts()}
        self.log_result(result)
        self._last_result = result
        return result

    def save(self, checkpoint_dir: str | None = None) -> TrainingResult:
        """Saves a checkpoint into a directory, by default a new temporary one. Returns (checkpoint, metrics), which `restore()` accepts.

        Raises
        ------
        TypeError
            If `save_checkpoint()` returns neither a dict nor a path nor `None`, or a dict with other values than numbers, strings, arrays and such.
        ValueError
            If it returns another path than `checkpoint_dir`.
        """
        folder = checkpoint_dir or tempfile.mkdtemp(prefix="trainable_")
        os.makedirs(folder, exist_ok=True)
        returned = self.save_checkpoint(folder)
        if isinstance(returned, dict):
            os.makedirs(os.path.join(folder, _VALUES), exist_ok=True)
            _plain_tree.save(os.path.join(folder, _VALUES), returned)
        elif returned is not None:
            self._check_path(returned, folder)
        counters = {"iteration": self._iteration, "time_total_s": self._time_total, "totals": self._totals}
        with open(os.path.join(folder, _COUNTERS), "w", encoding="utf-8") as file:
            json.dump(counters, file)
        return TrainingResult(Checkpoint(folder), dict(self._last_result or {}))

    def _check_path(self, returned: Any, folder: str) -> None:
        if not isinstance(returned, (str, os.PathLike)):
            raise TypeError(f"{type(self).__name__}.save_checkpoint() returned a {type(returned).__name__}; it must return a dict, the path that it was given, "
                            f"or None")
        if os.path.realpath(returned) != os.path.realpath(folder):
            raise ValueError(f"{type(self).__name__}.save_checkpoint() returned the path {os.fspath(returned)!r}; it must write into {folder!r}, and return "
                             f"this path or None")

    def restore(self, checkpoint_path: str | Checkpoint | TrainingResult) -> None:
        """Restores the state and the counters from the result of `save()`, a Checkpoint, or the path of one. Raises FileNotFoundError if it does not
        exist."""
        given = checkpoint_path.checkpoint if isinstance(checkpoint_path, TrainingResult) else checkpoint_path
        checkpoint = given if isinstance(given, Checkpoint) else Checkpoint(os.fspath(given))
        with checkpoint.as_directory() as folder:
            values = os.path.join(folder, _VALUES)
            counters = _counters_in(os.path.join(folder, _COUNTERS))
            self.load_checkpoint(_plain_tree.load(values) if os.path.isdir(values) else folder)
        self._reset_counters()
        self._iteration, self._time_total = counters.get("iteration", 0), counters.get("time_total_s", 0.0)
        self._totals = dict(counters.get("totals") or {})

    def reset(self, new_config: dict[str, Any], storage: Any = None) -> bool:
        """Applies another config by `reset_config()`, and sets the counters to zero. Returns whether `reset_config()` did."""
        del storage
        self.config = new_config
        if not self.reset_config(new_config):
            return False
        self._reset_counters()
        return True

    def export_model(self, export_formats: str | list[str], export_dir: str | None = None) -> dict[str, str]:
        """Calls `_export_model()` of the subclass. The default directory is `logdir`."""
        return self._export_model([export_formats] if isinstance(export_formats, str) else export_formats, export_dir or self.logdir)

    def stop(self) -> None:
        """Calls `cleanup()`."""
        self.cleanup()

    def get_config(self) -> dict[str, Any]:
        """Returns the config."""
        return self.config

    @property
    def training_iteration(self) -> int:
        """Number of steps, including those before a restart. Also `iteration`."""
        return self._iteration

    @property
    def iteration(self) -> int:
        return self._iteration

    @property
    def trial_id(self) -> str:
        """Name of the trial; "default" outside of a Tuner. Also `trial_name`."""
        return self._trial_id

    @property
    def trial_name(self) -> str:
        return self._trial_id

    @property
    def logdir(self) -> str:
        """Directory of the trial; outside of a Tuner, a temporary directory."""
        if self._logdir is None:
            self._logdir = tempfile.mkdtemp(prefix="trainable_log_")
        return self._logdir


def _counters_in(path: str) -> Mapping[str, Any]:
    """Returns the counters of a checkpoint; {} if save() has not written it."""
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return {}
