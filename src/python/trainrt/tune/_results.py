"""ResultGrid: the results of a sweep, read from its directory."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .._support import _executable, _local_files, _notes
from ..train import Result
from ..train._results import _auto_metrics, _run_state, _trainer_record
from ..train.errors import TrainingFailedError
from ._decisions.searching import suggested, without_unsuggested
from ._nested_values import merged
from ._param_space import ParamSpace
from ._trainable import FunctionTrainer, trial_number

if TYPE_CHECKING:
    import pandas


_PROGRAM = re.compile(r"^the program of rank \d+ on \S+ \(train\.program, process \d+\) (?:failed: )?")  # text that precedes the error of a rank

_SCOPES = {"last": 1, "all": 0, "avg": 0, "last-5-avg": 5, "last-10-avg": 10}  # number of the last reports that are compared; 0: all


def trials_of(path: str) -> list[dict[str, Any]]:
    """Returns the trials of the sweep in that directory, as `trainrt tune status --json` prints them. Raises RuntimeError if that fails."""
    done = subprocess.run([_executable.trainrt(), "tune", "status", path, "--json"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    return json.loads(done.stdout)


def config_of(trial: dict[str, Any], space: ParamSpace | None, under: Any) -> Any:
    """Returns the trial's config in the form of the param_space; for a Trainer with the complete {'train_loop_config': {...}}. The config of the train
    function is read from the trial's record, or made of its values. In a sweep that was not started by a Tuner the values are strings."""
    record = _trainer_record.read(trial["path"])
    recorded, _ = _trainer_record.config_in(record)
    argument = record.get("config_argument", "" if record.get("trainer") == FunctionTrainer.__name__ else "train_loop_config")
    if recorded is not None and not argument:
        return recorded
    if recorded is not None and (space is None or not space.top_level_keys() - {argument}):
        return {argument: recorded}
    suggestion = suggested(os.path.dirname(trial["path"]), trial["trial"])
    if suggestion is not None:
        return suggestion
    texts = {name[len("loop."):] if name.startswith("loop.") else name: text for name, text in trial["config"].items()}
    config = texts if space is None else space.config(texts, trial_number(trial["trial"]))
    if recorded is not None:
        return {**config, argument: recorded}
    return merged(under, config) if under else config


def _result_of(trial: dict[str, Any], space: ParamSpace | None, under: Any) -> Result:
    try:
        result = Result.from_path(trial["path"])
    except RuntimeError:  # the trial failed before it made a run
        result = Result._of_run(trial["path"], [], [])
    result._state = trial["state"]
    result._set_config(config_of(trial, space, under))
    if trial["state"] == _run_state.FAILED and result.error is None:
        result.error = TrainingFailedError(trial.get("why", "the trial failed; its log has the reason"))
    elif trial["state"] != _run_state.FAILED:
        result.error = None
    return result


class ResultGrid:
    """The Results of all trials, as Tuner.fit() returns them, in the order of their numbers: len(grid), grid[0], iteration.

    Parameters
    ----------
    path : str
        Directory of the sweep.
    metric : str, optional
        Default metric of the methods.
    mode : {"min", "max"}, optional
        Whether a lower or a higher metric is better.
    space, under
        Used by the Tuner: the param_space, and the argument with the config of its Trainer, to which trials add values.

    Examples
    --------
    >>> import tempfile
    >>> from trainrt import tune
    >>> def train(config):
    ...     tune.report({"loss": (config["x"] - 2) ** 2})
    >>> tuner = tune.Tuner(train, param_space={"x": tune.grid_search([1, 2])},
    ...                    run_config=tune.RunConfig(name="grid", storage_path=tempfile.mkdtemp()))
    >>> grid = tuner.fit()
    >>> len(grid), grid.num_errors, grid.get_best_result("loss", "min").config
    (2, 0, {'x': 2})
    """

    def __init__(self, path: str, metric: str | None = None, mode: str | None = None, space: ParamSpace | None = None, under: Any = None) -> None:
        self.experiment_path, self._metric, self._mode = path, metric, mode
        self._trials = without_unsuggested(path, trials_of(path))
        self._results = [_result_of(trial, space, under) for trial in self._trials]

    @property
    def filesystem(self) -> Any:
        """pyarrow.fs.LocalFileSystem, since the directory is in a file system that all nodes see; `None` if pyarrow is not installed."""
        return _local_files.filesystem()

    def __len__(self) -> int:
        return len(self._results)

    def __getitem__(self, number: int) -> Result:
        return self._results[number]

    def __iter__(self) -> Iterator[Result]:
        return iter(self._results)

    def __repr__(self) -> str:
        results = ",\n".join(textwrap.indent(repr(result), "  ") for result in self)
        return f"ResultGrid<[\n{results}\n]>"

    @property
    def errors(self) -> list[Exception]:
        """The errors of the failed trials."""
        return [result.error for result in self._results if result.error is not None]

    @property
    def num_errors(self) -> int:
        """Number of failed trials."""
        return len(self.errors)

    @property
    def num_terminated(self) -> int:
        """Number of trials that have finished without an error."""
        return sum(trial["state"] == _run_state.FINISHED for trial in self._trials)

    def get_best_result(self, metric: str | None = None, mode: str | None = None, scope: str = "last", filter_nan_and_inf: bool = True) -> Result:
        """Returns the Result with the best metric.

        Parameters
        ----------
        metric, mode : str, optional
            Default: those of the TuneConfig. Not needed for the result of a single trial.
        scope : {"last", "all", "avg", "last-5-avg", "last-10-avg"}
            Compares the last report, the best report, or the mean of the reports, or of the last 5 or 10 reports, of each trial.
        filter_nan_and_inf : bool
            False also compares infinities. NaN is always ignored. A note reports ignored values.

        Raises
        ------
        RuntimeError
            No trial has reported the metric as a number.
        """
        if len(self) == 1:
            return self._results[0]
        metric, mode = self._required("get_best_result()", metric, mode)
        if scope not in _SCOPES:
            raise ValueError(f"get_best_result(scope={scope!r}): it must be one of {', '.join(_SCOPES)}")
        sign = 1 if mode == "max" else -1
        scores = [(_score(result, metric, sign, scope, filter_nan_and_inf), result) for result in self._results]
        scored = [(sign * score, result) for score, result in scores if score is not None]
        count = sum(not math.isfinite(report[metric]) for result in self._results for report in _reports_of(result, scope)
                      if _is_number(report.get(metric)) and (filter_nan_and_inf or math.isnan(report[metric])))
        ignored = f"{count} reports have {'NaN or infinity' if filter_nan_and_inf else 'NaN'}" if count else ""
        if not scored:
            if self.num_errors == len(self) > 0 and not any(result.reports for result in self._results):
                raise RuntimeError(f"get_best_result(metric={metric!r}): {self._failure_of_all()}")
            names = sorted({name for result in self._results for name in result.metrics if not _auto_metrics.is_added(name)})
            raise RuntimeError(f"get_best_result(metric={metric!r}): no trial has reported it as a number{ignored and f' ({ignored})'}; they have: "
                               f"{', '.join(names) or 'no metrics'}")
        if ignored:
            _notes.say(f"get_best_result({metric!r}): {ignored} and were ignored")
        return max(scored, key=lambda each: each[0])[1]

    def _failure_of_all(self) -> str:
        """Returns a description of the errors of the trials if all have failed, else ""."""
        if not 0 < len(self) == self.num_errors:
            return ""
        causes = list(dict.fromkeys(_PROGRAM.sub("", trial.get("why", "for an unknown reason")) for trial in self._trials))
        path = self._trials[0]["path"]
        file = os.path.join(path, "error.txt")
        others = f"; {len(causes) - 1} other errors" if len(causes) > 1 else ""
        return (f"{'the only trial' if len(self) == 1 else f'all {len(self)} trials'} failed: {causes[0]}{others}. "
                f"See {file if os.path.exists(file) else path + '.log'}")

    def _required(self, call: str, metric: str | None, mode: str | None) -> tuple[str, str]:
        """Returns the given metric and mode, or the default ones. Raises ValueError, which names `call`, if one is missing or invalid."""
        metric, mode = metric or self._metric, mode or self._mode
        if metric is None or mode is None:
            raise ValueError(f"{call} needs a metric and a mode: pass them here, or to the TuneConfig")
        if mode not in ("min", "max"):
            raise ValueError(f"mode={mode!r}: it must be 'min' or 'max'")
        return metric, mode

    def get_dataframe(self, filter_metric: str | None = None, filter_mode: str | None = None) -> pandas.DataFrame:
        """Returns a pandas.DataFrame with one row per trial: the values of its config as config/NAME, and its last report, or its best by
        `filter_metric`, where NaN is ignored. Raises ImportError without pandas, and ValueError for an invalid mode, or a mode without a metric."""
        if filter_mode not in (None, "min", "max"):
            raise ValueError(f"mode={filter_mode!r}: it must be 'min' or 'max'")
        if filter_mode is not None and filter_metric is None:
            raise ValueError(f"mode={filter_mode!r} needs a metric, too")
        try:
            import pandas
        except ImportError:
            raise ImportError("ResultGrid.get_dataframe() needs pandas (pip install pandas); each Result has the same metrics and config") from None
        rows = []
        for trial, result in zip(self._trials, self._results):
            report = result.metrics
            if filter_metric is not None and result.reports:
                _, mode = self._required("get_dataframe()", filter_metric, filter_mode)
                scored = [each for each in result.reports if _is_number(each.get(filter_metric)) and not math.isnan(each[filter_metric])]
                report = (max if mode == "max" else min)(scored, key=lambda each: each[filter_metric], default=result.metrics)
            report = {name: value for name, value in report.items() if name != "config"}
            rows.append({**report, "trial_id": trial["trial"], "logdir": result.path, **_flat_config(result.config or {})})
        return pandas.DataFrame(rows)


def _score(result: Result, metric: str, sign: int, scope: str, filters: bool) -> float | None:
    """Returns the number by which the trial is compared with others, or `None` if no report has such a number."""
    numbers = [report[metric] for report in _reports_of(result, scope) if _is_number(report.get(metric))]
    numbers = [number for number in numbers if (math.isfinite(number) if filters else not math.isnan(number))]
    if not numbers:
        return None
    score = sum(numbers) / len(numbers) if scope.endswith("avg") else (max if sign > 0 else min)(numbers)
    return None if math.isnan(score) else score  # the mean of inf and -inf


def _reports_of(result: Result, scope: str) -> list[dict[str, Any]]:
    return result.reports[-_SCOPES[scope]:] if _SCOPES[scope] else result.reports


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _flat_config(config: dict[str, Any], path: str = "config") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in config.items():
        found.update(_flat_config(value, f"{path}/{key}") if isinstance(value, dict) else {f"{path}/{key}": value})
    return found
