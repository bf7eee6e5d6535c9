"""ResultGrid: what came out of a sweep, read from its directory."""

import json
import math
import os
import re
import subprocess

from ..train import Result
from .._support import _executable, _notes
from ..train._results import _trainer_record, _run_state
from ..train.errors import TrainingFailedError
from ._trainable import FunctionTrainer, merged


def trials_of(path):
    """What `trainrt tune status --json` says of the sweep in that directory."""
    done = subprocess.run([_executable.trainrt(), "tune", "status", path, "--json"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    return json.loads(done.stdout)


def _config_of(trial, space, under):
    """Returns the trial's config in the form of the param_space; for a Trainer {"train_loop_config": {...}}, complete. It is read from the
    trial's own record, or made of its values. In a sweep that no Tuner began the values are texts."""
    record = _trainer_record.read(trial["path"])
    recorded, _ = _trainer_record.config_in(record)
    if recorded is not None:
        return recorded if record.get("trainer") == FunctionTrainer.__name__ else {"train_loop_config": recorded}
    texts = {name[len("loop."):] if name.startswith("loop.") else name: text for name, text in trial["config"].items()}
    config = texts if space is None else space.config(texts, int(re.match(r"trial_(\d+)", trial["trial"])[1]))
    return merged({"train_loop_config": under}, config) if under else config


def _result_of(trial, space, under):
    try:
        result = Result.from_path(trial["path"])
    except RuntimeError:  # it did not come to make a run
        result = Result(trial["path"], [], [])
    result._state = trial["state"]
    result.config = _config_of(trial, space, under)
    if trial["state"] == _run_state.FAILED and result.error is None:
        result.error = TrainingFailedError(trial.get("why", "the trial failed; its log says why"))
    elif trial["state"] != _run_state.FAILED:
        result.error = None
    return result


class ResultGrid:
    """The trials' Results, in the order of their numbers: len(grid), grid[0], iteration. `under`: the train_loop_config of the Trainer, which
    trials complete."""

    def __init__(self, path, metric, mode, space=None, under=None):
        self.experiment_path, self._metric, self._mode = path, metric, mode
        self._trials = trials_of(path)
        self._results = [_result_of(trial, space, under) for trial in self._trials]

    @property
    def filesystem(self):
        """None: it is a folder that all nodes see."""
        return None

    def __len__(self):
        return len(self._results)

    def __getitem__(self, number):
        return self._results[number]

    def __iter__(self):
        return iter(self._results)

    def __repr__(self):
        return f"ResultGrid({self.experiment_path!r}, {len(self)} trials, {self.num_errors} errors)"

    @property
    def errors(self):
        """Of the trials that have failed."""
        return [result.error for result in self._results if result.error is not None]

    @property
    def num_errors(self):
        return len(self.errors)

    @property
    def num_terminated(self):
        """Trials that have ended well."""
        return sum(trial["state"] == _run_state.FINISHED for trial in self._trials)

    def get_best_result(self, metric=None, mode=None, scope="last", filter_nan_and_inf=True):
        """The Result with the best metric: scope 'last': of the last report; 'all': of any; 'avg': of their mean. NaN and, unless
        filter_nan_and_inf=False, infinities are ignored, and a note says so."""
        metric, mode = self._asked(metric, mode)
        if scope not in ("last", "all", "avg"):
            raise ValueError(f"get_best_result(scope={scope!r}): it must be 'last', 'all' or 'avg'")
        sign = 1 if mode == "max" else -1
        scored = [(sign * score, result) for result, score in ((each, _score(each, metric, sign, scope, filter_nan_and_inf)) for each in self._results)
                  if score is not None]
        ignored = sum(not math.isfinite(report[metric]) for result in self._results for report in _reports_of(result, scope)
                      if _is_number(report.get(metric)) and (filter_nan_and_inf or math.isnan(report[metric])))
        ignored = f"{ignored} reports have {'NaN or infinity' if filter_nan_and_inf else 'NaN'}" if ignored else ""
        if not scored:
            names = sorted({name for result in self._results for name in result.metrics if not name.startswith("_")})
            raise RuntimeError(f"get_best_result(metric={metric!r}): no trial has reported it as a number{ignored and f' ({ignored})'}; they have: "
                               f"{', '.join(names) or 'none'}")
        if ignored:
            _notes.say(f"get_best_result({metric!r}): {ignored} and were ignored")
        return max(scored, key=lambda each: each[0])[1]

    def _asked(self, metric, mode):
        metric, mode = metric or self._metric, mode or self._mode
        if metric is None or mode is None:
            raise ValueError("get_best_result() needs a metric and a mode: give them here, or to the TuneConfig")
        if mode not in ("min", "max"):
            raise ValueError(f"mode={mode!r}: it must be 'min' or 'max'")
        return metric, mode

    def get_dataframe(self, filter_metric=None, filter_mode=None):
        """A pandas.DataFrame with a row a trial: its last report, or with filter_metric its best, of which NaN is none; and config/NAME of
        its values."""
        try:
            import pandas
        except ImportError:
            raise ImportError("ResultGrid.get_dataframe() needs pandas (pip install pandas); each Result's metrics and config have the same") from None
        rows = []
        for trial, result in zip(self._trials, self._results):
            report = result.metrics
            if filter_metric is not None and result.reports:
                _, mode = self._asked(filter_metric, filter_mode)
                scored = [each for each in result.reports if _is_number(each.get(filter_metric)) and not math.isnan(each[filter_metric])]
                report = (max if mode == "max" else min)(scored, key=lambda each: each[filter_metric], default=result.metrics)
            rows.append({**report, "trial_id": trial["trial"], "logdir": result.path, **_flat_config(result.config or {})})
        return pandas.DataFrame(rows)


def _score(result, metric, sign, scope, filters):
    """None of a trial without such a number."""
    numbers = [report[metric] for report in _reports_of(result, scope) if _is_number(report.get(metric))]
    numbers = [number for number in numbers if (math.isfinite(number) if filters else not math.isnan(number))]
    if not numbers:
        return None
    score = sum(numbers) / len(numbers) if scope == "avg" else (max if sign > 0 else min)(numbers)
    return None if math.isnan(score) else score  # the mean of inf and -inf


def _reports_of(result, scope):
    return result.reports[-1:] if scope == "last" else result.reports


def _is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _flat_config(config, path="config"):
    found = {}
    for key, value in config.items():
        found.update(_flat_config(value, f"{path}/{key}") if isinstance(value, dict) else {f"{path}/{key}": value})
    return found
