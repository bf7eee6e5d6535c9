"""DataParallelTrainer: the same function on every rank."""

import inspect
import os

from ._sessions import _datasets
from ._fit import _fit, _restore
from ._config import _recorded_values, _settings
from ._results._checkpoint import Checkpoint
from ._config._data_config import DataConfig
from ._sessions._job import Job
from ._config._run_config import RunConfig
from ._config._scaling_config import ScalingConfig
from ._config._validation_config import ValidationConfig
from .backend import BackendConfig


def _checked(name, value, kind):
    if value is not None and not isinstance(value, kind):
        raise TypeError(f"{name} must be a {kind.__name__}, not a {type(value).__name__}: {value!r}")
    return value


def _checked_function(function):
    if not callable(function):
        raise TypeError(f"train_loop_per_worker must be a function, not {function!r}")
    try:
        required = [each for each in inspect.signature(function).parameters.values()
                    if each.default is each.empty and each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    except (TypeError, ValueError):  # of a built-in: its call will say
        return function
    if len(required) > 1:
        raise ValueError(f"train_loop_per_worker takes no argument, or one: the config. {_name_of(function)} needs "
                         f"{', '.join(each.name for each in required)}")
    return function


def _name_of(function):
    return getattr(function, "__qualname__", repr(function))


def takes_config(function):
    """Whether the function wants the config."""
    try:
        return bool(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return False


class DataParallelTrainer:
    """Ray Train's arguments. fit() runs the function on every rank: in a program that trainrt started, on the ranks that are there;
    elsewhere it starts them."""

    trust_owner = None  # users whose run fit() may continue
    _config_is_unknown = False

    def __init__(self, train_loop_per_worker, *, train_loop_config=None, backend_config=None, scaling_config=None, dataset_config=None,
                 run_config=None, datasets=None, metadata=None, resume_from_checkpoint=None, validation_config=None):
        self.train_loop_per_worker = _checked_function(train_loop_per_worker)
        self.train_loop_config = train_loop_config
        self.backend_config = _checked("backend_config", backend_config, BackendConfig) or BackendConfig()
        self.scaling_config = _checked("scaling_config", scaling_config, ScalingConfig)
        self.dataset_config = _checked("dataset_config", dataset_config, DataConfig)
        self.run_config = _checked("run_config", run_config, RunConfig)
        self.metadata = _checked("metadata", metadata, dict) or {}
        self.resume_from_checkpoint = _checked("resume_from_checkpoint", resume_from_checkpoint, Checkpoint)
        self.validation_config = _checked("validation_config", validation_config, ValidationConfig)
        self.datasets = _datasets.checked(datasets, type(self).__name__)

    def fit(self):
        """Runs the function on all ranks; returns the Result. TrainingFailedError if it fails."""
        return _fit.fit(self)

    @classmethod
    def can_restore(cls, path, storage_filesystem=None):
        """Whether `path` is the directory of a run."""
        del storage_filesystem
        return _restore.can_restore(path)

    @classmethod
    def restore(cls, path, train_loop_per_worker=None, train_loop_config=None, *, trust_owner=None, **arguments):
        """A Trainer that continues the run in the directory `path`: with what it was made with, but for what is given here. The
        function may be left out if this user's processes wrote the run's trainer.json and the function is in this script, or in a module
        that the script has imported from its own folder; else ValueError. Nothing is imported. A run of another user is continued only if `trust_owner` names that
        user (several, separated by commas), or the group is one of trust_group in trainrt.ini."""
        trainer = _restore.restored(cls, path, train_loop_per_worker, train_loop_config, arguments)
        trainer.trust_owner = trust_owner
        return trainer

    def job(self):
        """What the session of the train function learns."""
        callbacks = list(self.run_config.callbacks or ()) if self.run_config else []
        first = self.resume_from_checkpoint
        return Job(type(self).__name__, self.train_loop_config, self.scaling_config, self.run_config, self.metadata, self.datasets, callbacks,
                   first if first is not None and not first.is_native() else None, self.validation_config)

    def settings(self):
        """What its configs say, as keys of trainrt's config."""
        found = _settings.settings(self.scaling_config, self.run_config)
        if self.resume_from_checkpoint is not None and self.resume_from_checkpoint.is_native():
            found["run.resume_from_checkpoint"] = self.resume_from_checkpoint.path
        found.update(self._recorded_config())
        return {**found, **_datasets.settings(self.datasets, self.dataset_config, found.get("run.storage_path"))}

    def _recorded_config(self):
        """The train function's name and its config as keys of [loop], for the record that a later start is compared with. Nothing if
        restore() found no config that JSON could hold."""
        if self._config_is_unknown:
            return {}
        return {**_recorded_values.of_function(self.train_loop_per_worker, "loop.train_loop_per_worker"),
                **_recorded_values.texts(self.train_loop_config or {}, "loop.train_loop_config")}

    def notes(self):
        """A line for each thing that changes nothing here."""
        of_validation = self.validation_config.notes() if self.validation_config else ()
        return [*_settings.notes(self.scaling_config, self.run_config), *of_validation]

    def call_train_function(self):
        """Runs it in this process."""
        if takes_config(self.train_loop_per_worker):
            return self.train_loop_per_worker(self.train_loop_config if self.train_loop_config is not None else {})
        return self.train_loop_per_worker()

    def default_name(self, script):
        """Of a run whose RunConfig has none: stable, so that a start of the same script continues it."""
        return f"{type(self).__name__}_{os.path.splitext(os.path.basename(script))[0] if script else 'interactive'}"
