"""Base class of the trackers: options, the config of the train function, and checkpoints to upload."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from ..train._results import _run_directory
from ._serve import Begin


def options() -> dict[str, Any] | None:
    """Returns the options of a callback of `trainrt.air.integrations`, which are the only argument of the program, or `None` without an argument."""
    return json.loads(sys.argv[1]) if len(sys.argv) > 1 else None


def config_of(run_dir: str) -> dict[str, Any]:
    """Returns the config of the train function, which the first report of a run always finds in params.json. Returns {} if the file is missing."""
    try:
        with open(os.path.join(run_dir, "params.json"), encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return {}
    found = found.get("train_loop_config", found) if isinstance(found, dict) else {}
    return found if isinstance(found, dict) else {}


def without(config: dict[str, Any], excludes: list[str], prefix: str = "") -> dict[str, Any]:
    """Returns the config without the excluded values. In `excludes`, "model/width" names a value of a nested dict."""
    return {name: without(value, excludes, f"{prefix}{name}/") if isinstance(value, dict) else value
            for name, value in config.items() if f"{prefix}{name}" not in excludes}


def is_excluded(name: str, excludes: list[str]) -> bool:
    """Returns whether the metric `name`, or the dict in which it was reported, is excluded."""
    return any(name == each or name.startswith(each + "/") for each in excludes)


class NewCheckpoints:
    """Finds checkpoints of a run that must be uploaded. Checkpoints up to report number `after` have already been uploaded."""

    def __init__(self, run_dir: str, after: int) -> None:
        self._run_dir, self._after = run_dir, after

    def take(self) -> list[tuple[int, str]]:
        """Returns the number of the report and the directory of each checkpoint that was committed since the last call, oldest first."""
        found = [(manifest.get("iteration") or 0, os.path.join(path, "files")) for path, manifest in _run_directory.reported(self._run_dir)]
        found = [each for each in found if each[0] > self._after]
        self._after = max([self._after, *(iteration for iteration, _ in found)])
        return found


class Tracker:
    """Base class of the trackers. `options` are those of a callback, or `None`; the option `uploads` is whether checkpoints are uploaded."""

    def __init__(self, begin: Begin, options: dict[str, Any] | None, uploads: str = "") -> None:
        self._begin, self._options = begin, options or {}
        self._awaits_config = options is not None  # the config of the train function; otherwise the tracker logs the config of the run
        self._checkpoints = NewCheckpoints(begin.run_dir, begin.after) if self._options.get(uploads) else None

    def _new_checkpoints(self) -> list[tuple[int, str]]:
        """Returns the result of NewCheckpoints.take(), or [] if checkpoints are not uploaded."""
        return self._checkpoints.take() if self._checkpoints else []

    def _config(self) -> dict[str, Any]:
        """Returns the config of the train function."""
        self._awaits_config = False
        return config_of(self._begin.run_dir)
