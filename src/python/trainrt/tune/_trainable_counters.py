"""The counters of a Trainable: iterations, times and sums, which checkpoints contain."""

from __future__ import annotations

import datetime
import json
import os
import time
from collections.abc import Mapping
from typing import Any

from .._support import _this_process
from .._version import __version__

_FILE = ".trainable.json"  # in a checkpoint
_DEBUG_METRICS = ("trial_id", "date", "timestamp", "pid", "hostname", "node_ip", "config")
_SUMS = {"timesteps_this_iter": "timesteps_total", "episodes_this_iter": "episodes_total"}


class TrainableCounters:
    """Base class of Trainable."""

    config: dict[str, Any]
    trial_id: Any
    _last_result: dict[str, Any] | None = None

    def _reset_counters(self) -> None:
        self._iteration = self._iterations_since_restore = 0
        self._time_total = self._time_since_restore = 0.0
        self._timesteps_since_restore = 0
        self._totals: dict[str, float] = {}

    def _count(self, returned: dict[str, Any], seconds: float) -> None:
        """Counts a step, which took `seconds` and returned `returned`."""
        self._iteration += 1
        self._iterations_since_restore += 1
        self._time_total += seconds
        self._time_since_restore += seconds
        for name, total in _SUMS.items():
            if returned.get(name) is not None:
                self._totals[total] = self._totals.get(total, 0) + returned[name]
        self._timesteps_since_restore += returned.get("timesteps_this_iter") or 0

    def get_auto_filled_metrics(self, now: datetime.datetime | None = None, time_this_iter: float | None = None, timestamp: int | None = None,
                                debug_metrics_only: bool = False) -> dict[str, Any]:
        """Returns the metrics that `train()` adds to each result. With `debug_metrics_only`, only those that need no result."""
        now = now or datetime.datetime.now()
        found = {"trial_id": self.trial_id, "date": now.strftime("%Y-%m-%d_%H-%M-%S"), "timestamp": timestamp or int(time.mktime(now.timetuple())),
                 "time_this_iter_s": time_this_iter, "time_total_s": self._time_total, **_this_process.facts(), "config": self.config,
                 "time_since_restore": self._time_since_restore, "iterations_since_restore": self._iterations_since_restore}
        if self._timesteps_since_restore:
            found["timesteps_since_restore"] = self._timesteps_since_restore
        return {name: value for name, value in found.items() if name in _DEBUG_METRICS} if debug_metrics_only else found

    def get_state(self) -> dict[str, Any]:
        """Returns the counters and the last result."""
        return {"iteration": self._iteration, "timesteps_total": self._totals.get("timesteps_total"), "time_total": self._time_total,
                "episodes_total": self._totals.get("episodes_total"), "last_result": self._last_result, "ray_version": __version__}

    def _write_counters(self, folder: str) -> None:
        """Writes the counters, and the values of the last result that JSON can represent, into a checkpoint."""
        result = None if self._last_result is None else {name: value for name, value in self._last_result.items() if _is_json(value)}
        counters = {"iteration": self._iteration, "time_total_s": self._time_total, "totals": self._totals, "last_result": result}
        with open(os.path.join(folder, _FILE), "w", encoding="utf-8") as file:
            json.dump(counters, file)

    def _set_counters(self, counters: Mapping[str, Any]) -> None:
        """Sets the counters to those of a checkpoint."""
        self._reset_counters()
        self._iteration, self._time_total = counters.get("iteration", 0), counters.get("time_total_s", 0.0)
        self._totals = dict(counters.get("totals") or {})
        self._last_result = counters.get("last_result")


def counters_in(folder: str) -> Mapping[str, Any]:
    """Returns the counters in a checkpoint; {} if the checkpoint was not written by save()."""
    try:
        with open(os.path.join(folder, _FILE), encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return {}


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return False
    return True
