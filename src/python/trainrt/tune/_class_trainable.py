"""Trainable: the base class of trainables that are classes."""

from __future__ import annotations

import copy
import os
import tempfile
import time
from typing import Any, NamedTuple

from .._client.values import kind_of
from .._support import _plain_tree, _this_process
from ..train import Checkpoint
from ..train._sessions import _current
from ._trainable_counters import TrainableCounters, counters_in
from .utils._monitor import UtilMonitor

_VALUES = ".trainable_values"  # folder with a dict, in a checkpoint


class TrainingResult(NamedTuple):
    """A checkpoint of `Trainable.save()`, and the newest result before it."""

    checkpoint: Checkpoint
    metrics: dict[str, Any]


class Trainable(TrainableCounters):
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
        self._last_step: dict[str, Any] = {}  # the newest result as step() returned it
        self.setup(copy.deepcopy(self.config), **parameters)
        self._monitor = UtilMonitor() if self.config.get("log_sys_usage") else None

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

    @classmethod
    def default_resource_request(cls, config: dict[str, Any]) -> Any:
        """Returns the resources of a trial with this config, as with_resources() takes them, or `None` for the default ones. All trials of a sweep get the
        maximum for all configs."""
        del config
        return None

    @classmethod
    def resource_help(cls, config: dict[str, Any]) -> str:
        """Returns a description of the resources that the class needs."""
        del config
        return ""

    def reset_config(self, new_config: dict[str, Any]) -> bool:
        """Applies another config without `setup()`. Returns whether that is possible. Trials do not call it: each has processes of its own."""
        del new_config
        return False

    def log_result(self, result: dict[str, Any]) -> None:
        """Called with each result of `train()`."""

    def cleanup(self) -> None:
        """Releases resources. Called by `stop()`."""

    def _export_model(self, export_formats: list[str], export_dir: str) -> dict[str, str]:
        """Returns the paths of exported models, as {format: path}."""
        del export_formats, export_dir
        return {}

    # ---- methods that scripts call ----

    def train(self) -> dict[str, Any]:
        """Does one step. Returns its metrics, and those of Ray Tune: `training_iteration`, `time_this_iter_s`, `time_total_s`, `done`, `config` and others.

        Raises
        ------
        AssertionError
            If `step()` does not return a dict.
        """
        begin_s = time.monotonic()
        returned = self.step()
        if not isinstance(returned, dict):
            raise AssertionError(f"{type(self).__name__}.step() returned {kind_of(returned)}; it must return a dict of metrics")
        self._last_step = dict(returned)
        given_s = returned.get("time_this_iter_s")
        seconds = time.monotonic() - begin_s if given_s is None else given_s
        self._count(returned, seconds)
        result = {**returned, "done": returned.get("done", False),
                  **{name: returned.get(name, value) for name, value in {**self._totals, "training_iteration": self._iteration}.items()},
                  **self.get_auto_filled_metrics(time_this_iter=seconds, timestamp=returned.get("timestamp"))}
        if self._monitor is not None:
            result.update(self._monitor.get_data())
        self.log_result(result)
        self._last_result = result
        return result

    def train_buffered(self, buffer_time_s: float, max_buffer_length: int = 1000) -> list[dict[str, Any]]:
        """Calls `train()` for `buffer_time_s` seconds, at least once and at most `max_buffer_length` times, and until a result is done or asks for a
        checkpoint. Returns the results."""
        results: list[dict[str, Any]] = []
        end_s = time.monotonic() + buffer_time_s
        while not results or (time.monotonic() < end_s and len(results) < max_buffer_length):
            results.append(self.train())
            if results[-1].get("done") or results[-1].get("should_checkpoint"):
                break
        return results

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
        self._write_counters(folder)
        return TrainingResult(Checkpoint(folder), dict(self._last_result or {}))

    def _check_path(self, returned: Any, folder: str) -> None:
        if not isinstance(returned, (str, os.PathLike)):
            raise TypeError(f"{type(self).__name__}.save_checkpoint() returned {kind_of(returned)}; it must return a dict, the path that it was given, "
                            f"or None")
        if os.path.realpath(returned) != os.path.realpath(folder):
            raise ValueError(f"{type(self).__name__}.save_checkpoint() returned the path {os.fspath(returned)!r}; it must write into {folder!r}, and return "
                             f"this path or None")

    def restore(self, checkpoint_path: str | Checkpoint | TrainingResult) -> None:
        """Restores the state and the counters from the result of `save()`, a Checkpoint, or the path of a checkpoint. Raises FileNotFoundError if the
        checkpoint does not exist."""
        given = checkpoint_path.checkpoint if isinstance(checkpoint_path, TrainingResult) else checkpoint_path
        checkpoint = given if isinstance(given, Checkpoint) else Checkpoint(os.fspath(given))
        with checkpoint.as_directory() as folder:
            values = os.path.join(folder, _VALUES)
            counters = counters_in(folder)
            self.load_checkpoint(_plain_tree.load(values) if os.path.isdir(values) else folder)
        self._set_counters(counters)

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
        if self._monitor is not None:
            self._monitor.stop()
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
    def trial_resources(self) -> Any:
        """Always `None`: Slurm allocates the resources."""
        return None

    def get_current_ip_pid(self) -> tuple[str, int]:
        """Returns the IP address of this node and the ID of this process."""
        facts = _this_process.facts()
        return facts["node_ip"], facts["pid"]

    @property
    def logdir(self) -> str:
        """Directory of the trial; outside of a Tuner, a temporary directory."""
        if self._logdir is None:
            self._logdir = tempfile.mkdtemp(prefix="trainable_log_")
        return self._logdir
