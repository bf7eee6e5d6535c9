"""Loggers that write the results of a trial into files of its directory."""

from __future__ import annotations

import csv
import json
import math
import os
from typing import Any, TextIO

from ..._support import _notes
from .._live_trial import LiveTrial
from ..utils._dicts import flatten_dict
from ._base import LoggerCallback

_NOT_SCALARS = ("config", "pid", "timestamp", "time_total_s", "training_iteration")  # values that TensorBoard does not show as curves


class _FileLogger(LoggerCallback):
    """A logger whose files the runtime writes for each trial of a sweep. For other trials, it writes them itself."""

    _SAVED_FILE_TEMPLATES: list[str] = []

    def setup(self, stop: Any = None, num_samples: int | None = None, total_num_samples: int | None = None, **info: Any) -> None:
        _notes.say(f"{type(self).__name__} has no effect: each trial's directory has {', '.join(self._SAVED_FILE_TEMPLATES)} without it")

    def _writes(self, trial: Any) -> bool:
        """Returns whether this object writes the files of the trial. In this case, makes the directory of the trial."""
        if isinstance(trial, LiveTrial):
            return False
        if hasattr(trial, "init_local_path"):
            trial.init_local_path()
        os.makedirs(trial.local_path, exist_ok=True)
        return True


class CSVLoggerCallback(_FileLogger):
    """Writes progress.csv, a row for each result: nested values as "a/b", without the config. The columns are those of the first result.

    In a sweep it has no effect, with a note: the runtime writes the file.

    Examples
    --------
    >>> from trainrt.tune.logger import CSVLoggerCallback
    >>> callback = CSVLoggerCallback()
    """

    _SAVED_FILE_TEMPLATES = ["progress.csv"]

    def __init__(self) -> None:
        self._files: dict[Any, tuple[TextIO, bool, list[Any]]] = {}  # trial -> (file, whether it has a header, its writer)

    def log_trial_result(self, iteration: int, trial: Any, result: dict[str, Any]) -> None:
        if trial not in self._files:
            if not self._writes(trial):
                return
            path = os.path.join(trial.local_path, "progress.csv")
            has_header = os.path.exists(path) and os.path.getsize(path) > 0
            self._files[trial] = (open(path, "a", encoding="utf-8", newline=""), has_header, [])
        file, has_header, writers = self._files[trial]
        row = flatten_dict({name: value for name, value in result.items() if name != "config"})
        if not writers:
            writers.append(csv.DictWriter(file, list(row)))
            if not has_header:
                writers[0].writeheader()
        writers[0].writerow({name: value for name, value in row.items() if name in writers[0].fieldnames})
        file.flush()

    def log_trial_end(self, trial: Any, failed: bool = False) -> None:
        if trial in self._files:
            self._files.pop(trial)[0].close()


class JsonLoggerCallback(_FileLogger):
    """Writes result.json, a JSON object per line for each result, and params.json, the config.

    In a sweep it has no effect, with a note: the runtime writes the files. params.pkl is not written, since loading a pickle can run any code.

    Examples
    --------
    >>> from trainrt.tune.logger import JsonLoggerCallback
    >>> callback = JsonLoggerCallback()
    """

    _SAVED_FILE_TEMPLATES = ["result.json", "params.json"]

    def __init__(self) -> None:
        self._files: dict[Any, TextIO] = {}

    def log_trial_start(self, trial: Any) -> None:
        self.log_trial_end(trial)
        if self._writes(trial):
            self.update_config(trial, trial.config)
            self._files[trial] = open(os.path.join(trial.local_path, "result.json"), "a", encoding="utf-8")

    def log_trial_result(self, iteration: int, trial: Any, result: dict[str, Any]) -> None:
        if trial not in self._files:
            self.log_trial_start(trial)
        if trial in self._files:
            json.dump(result, self._files[trial], default=_plain)
            self._files[trial].write("\n")
            self._files[trial].flush()

    def log_trial_end(self, trial: Any, failed: bool = False) -> None:
        if trial in self._files:
            self._files.pop(trial).close()

    def update_config(self, trial: Any, config: dict[str, Any]) -> None:
        """Writes params.json."""
        with open(os.path.join(trial.local_path, "params.json"), "w", encoding="utf-8") as file:
            json.dump(config, file, indent=2, sort_keys=True, default=_plain)


class TBXLoggerCallback(_FileLogger):
    """Writes events for TensorBoard with the package tensorboardX: numbers as "ray/tune/NAME", lists and arrays as histograms.

    In a sweep it has no effect, with a note: the runtime writes the events.

    Raises
    ------
    ImportError
        A trial outside of a sweep is logged, and tensorboardX is not installed.

    Examples
    --------
    >>> from trainrt.tune.logger import TBXLoggerCallback
    >>> callback = TBXLoggerCallback()
    """

    _SAVED_FILE_TEMPLATES = ["events.out.tfevents.*"]

    def __init__(self) -> None:
        self._writers: dict[Any, Any] = {}

    def log_trial_start(self, trial: Any) -> None:
        self.log_trial_end(trial)
        if not self._writes(trial):
            return
        try:
            from tensorboardX import SummaryWriter
        except ImportError:
            raise ImportError("TBXLoggerCallback needs tensorboardX (pip install tensorboardX)") from None
        self._writers[trial] = SummaryWriter(trial.local_path, flush_secs=30)

    def log_trial_result(self, iteration: int, trial: Any, result: dict[str, Any]) -> None:
        if trial not in self._writers:
            self.log_trial_start(trial)
        if trial not in self._writers:
            return
        step = result.get("timesteps_total") or result["training_iteration"]
        for name, value in flatten_dict({name: value for name, value in result.items() if name not in _NOT_SCALARS}).items():
            _log_value(self._writers[trial], f"ray/tune/{name}", value, step)
        self._writers[trial].flush()

    def log_trial_end(self, trial: Any, failed: bool = False) -> None:
        if trial in self._writers:
            self._writers.pop(trial).close()


def _log_value(writer: Any, name: str, value: Any, step: int) -> None:
    number = value.item() if type(value).__module__ == "numpy" and getattr(value, "ndim", None) == 0 else value
    if isinstance(number, (int, float)) and not isinstance(number, bool):
        if not math.isnan(number):
            writer.add_scalar(name, number, global_step=step)
        return
    shape = getattr(value, "shape", None)
    if not (isinstance(value, list) and value) and not (shape and 0 not in shape):
        return
    add = {3: writer.add_image, 4: writer.add_images}.get(len(shape) if shape else 1, writer.add_histogram)
    try:
        add(name, value, global_step=step)
    except (ValueError, TypeError) as error:
        _notes.say(f"TBXLoggerCallback: the value of {name} is not logged: {error}")


def _plain(value: Any) -> Any:
    """Returns a value that JSON can represent: NumPy's numbers and arrays as numbers and lists, other objects as text."""
    return value.tolist() if hasattr(value, "tolist") else str(value)
