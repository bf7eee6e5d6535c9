"""The choice of PB2: a Gaussian process of the changes of the metric, over time and hyperparameters, which forgets old results."""

from __future__ import annotations

import copy
import glob
import json
import math
import os
import secrets
from collections.abc import Callable, Mapping
from typing import Any

from ...train._results import _run_directory, _trainer_record

_FILE = "pb2.json"  # in the directory of a clone: the chosen values
_MAX_POINTS, _CANDIDATES = 500, 2000
_LENGTHS, _FORGETTING = (0.02, 0.1, 0.3, 1.0, 3.0), (1e-3, 0.03, 0.1, 0.3)  # hyperparameters of the kernel that are compared
_NOISE = 1e-3


class BanditExplore:
    """The function `explore` of PB2. It reads the results of the other trials from the directory of the sweep, and records its choice, so that a clone that
    is restarted gets the same values.

    Parameters
    ----------
    bounds : dict
        {path: (low, high)}
    then : function, optional
        Called with the new config; returns the config of the clone.
    """

    def __init__(self, bounds: Mapping[tuple, tuple[float, float]], then: Callable[[dict[str, Any]], Any] | None) -> None:
        self._bounds, self._then = dict(bounds), then
        self.metric: str | None = None
        self.mode: str | None = None
        self._run_dir = ""

    def at(self, run_dir: str) -> BanditExplore:
        """Returns the function for the clone in this directory."""
        made = copy.copy(self)
        made._run_dir = run_dir
        return made

    def __call__(self, config: dict[str, Any]) -> Any:
        values = self._recorded()
        if values is None:
            values = self._kept(self._chosen([float(_value_at(config, path)) for path in self._bounds]))
        for path, value in zip(self._bounds, values):
            is_integer = isinstance(_value_at(config, path), int)
            _set(config, path, int(value) if is_integer else value)
        return config if self._then is None else self._then(config)

    def _recorded(self) -> list[float] | None:
        try:
            with open(os.path.join(self._run_dir, _FILE), encoding="utf-8") as file:
                return json.load(file)
        except FileNotFoundError:
            return None

    def _kept(self, values: list[float]) -> list[float]:
        """Records the values, unless another rank of the clone has recorded its own. Returns the recorded ones."""
        aside = os.path.join(self._run_dir, f".{_FILE}.{secrets.token_hex(8)}")
        with open(aside, "x", encoding="utf-8") as file:
            json.dump(values, file)
        try:
            os.link(aside, os.path.join(self._run_dir, _FILE))
        except FileExistsError:
            pass
        finally:
            os.unlink(aside)
        return self._recorded() or values

    # ---- data ----

    def _chosen(self, own: list[float]) -> list[float]:
        """Returns the best values for the clone; the values `own` without results of other trials."""
        import numpy

        points, changes, pending = self._results()
        if len(points) < 2:
            return own
        now = max(point[0] for point in points)
        rewards = [point[1] for point in points if point[0] == now]
        model = Process(numpy.array(points[-_MAX_POINTS:]), numpy.array(changes[-_MAX_POINTS:]), list(self._bounds.values()))
        return model.best([now, max(rewards)], pending)

    def _results(self) -> tuple[list[list[float]], list[float], list[list[float]]]:
        """Returns the points [time, metric before, values...] in the order of time, the change of the metric at each, and the values of clones that have no
        result yet."""
        rows, pending = [], []
        for folder in glob.glob(os.path.join(glob.escape(os.path.dirname(self._run_dir)), "trial_*", "")):
            values = self._values_of(folder)
            reports = [each for each in _run_directory.reports(folder) if _is_number(each.get(self.metric))]
            if values is None:
                continue
            first = _first_iteration(folder)
            own = [each for each in reports if each["_training_iteration"] >= first]
            for before, after in zip(own, own[1:]):
                time = after["_training_iteration"] - before["_training_iteration"]
                if time > 0:
                    rows.append(([after["_training_iteration"], self._reward(before), *values], (self._reward(after) - self._reward(before)) / time))
            if not own and os.path.realpath(folder) != os.path.realpath(self._run_dir):
                pending.append(values)
        rows.sort(key=lambda row: row[0][0])
        return [point for point, _ in rows], [change for _, change in rows], pending

    def _reward(self, report: dict[str, Any]) -> float:
        value = report[self.metric or ""]
        return value if self.mode == "max" else -value

    def _values_of(self, folder: str) -> list[float] | None:
        config, _ = _trainer_record.config_in(_trainer_record.read(folder))
        try:
            return [float(_value_at(config, path)) for path in self._bounds]
        except (KeyError, TypeError, ValueError):
            return None


class Process:
    """A Gaussian process. `points` are rows [time, metric before, values...], `changes` the targets, `bounds` the bounds of the values."""

    def __init__(self, points: Any, changes: Any, bounds: list[tuple[float, float]]) -> None:
        import numpy

        self._np, self._bounds = numpy, bounds
        low, high = points.min(axis=0), points.max(axis=0)
        low[2:], high[2:] = [bound[0] for bound in bounds], [bound[1] for bound in bounds]
        self._low, self._width = low, numpy.where(high > low, high - low, 1.0)
        self._time_unit = max(1.0, float(self._width[0]))
        self._points = (points - low) / self._width
        self._targets = numpy.clip((changes - changes.mean()) / (changes.std() + 1e-8), -2, 2)
        self._length, self._forgetting = max(((length, each) for length in _LENGTHS for each in _FORGETTING), key=self._likelihood)

    def _kernel(self, one: Any, other: Any) -> Any:
        numpy = self._np
        ages = numpy.abs(one[:, None, 0] - other[None, :, 0]) * self._time_unit
        distances = ((one[:, None, 1:] - other[None, :, 1:]) ** 2).sum(axis=2)
        return numpy.exp(-distances / self._length) * (1 - self._forgetting) ** (ages / 2)

    def _likelihood(self, parameters: tuple[float, float]) -> float:
        """Returns the logarithm of the marginal likelihood, up to a constant."""
        numpy = self._np
        self._length, self._forgetting = parameters
        factor = numpy.linalg.cholesky(self._kernel(self._points, self._points) + _NOISE * numpy.eye(len(self._points)))
        solved = numpy.linalg.solve(factor, self._targets)
        return float(-0.5 * solved @ solved - numpy.log(numpy.diag(factor)).sum())

    def best(self, now: list[float], pending: list[list[float]]) -> list[float]:
        """Returns the values with the highest upper confidence bound at the time and metric `now`. Values that other clones try count as known."""
        numpy = self._np
        draws = numpy.random.uniform(size=(_CANDIDATES, len(self._bounds)))
        context = (numpy.array(now) - self._low[:2]) / self._width[:2]
        candidates = numpy.hstack([numpy.tile(context, (_CANDIDATES, 1)), draws])
        mean, _ = self._predicted(candidates, self._points, self._targets)
        tried = (numpy.array([[*now, *values] for values in pending]).reshape(-1, len(self._low)) - self._low) / self._width
        _, variance = self._predicted(candidates, numpy.vstack([self._points, tried]), numpy.zeros(len(self._points) + len(tried)))
        weight = math.sqrt(0.2 + max(0.0, math.log(0.4 * len(self._points))))
        chosen = draws[int(numpy.argmax(mean + weight * numpy.sqrt(variance)))]
        return [float(low + unit * (high - low)) for unit, (low, high) in zip(chosen, self._bounds)]

    def _predicted(self, at: Any, points: Any, targets: Any) -> tuple[Any, Any]:
        """Returns the means and the variances at the rows `at`."""
        numpy = self._np
        factor = numpy.linalg.cholesky(self._kernel(points, points) + _NOISE * numpy.eye(len(points)))
        across = numpy.linalg.solve(factor, self._kernel(points, at))
        return across.T @ numpy.linalg.solve(factor, targets), numpy.maximum(1 - (across ** 2).sum(axis=0), 0)


def _first_iteration(folder: str) -> int:
    """Returns the iteration of the checkpoint that a clone has started from; 0 for other trials."""
    start = ((_run_directory.run_record(folder) or {}).get("config") or {}).get("run.resume_from_checkpoint")
    if not start:
        return 0
    reports = _run_directory.reports(folder)
    own = [each["_training_iteration"] for each in reports if "_iterations_since_restore" not in each or each["_iterations_since_restore"] == 1]
    return min(own, default=0)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _value_at(config: Any, path: tuple) -> Any:
    for key in path:
        config = config[key]
    return config


def _set(config: Any, path: tuple, value: Any) -> None:
    for key in path[:-1]:
        config = config[key]
    config[path[-1]] = value
