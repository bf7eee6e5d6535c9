"""Result: what came out of a run, read from its directory."""

import json
import math
import os
import subprocess
from pathlib import Path

from ..._support import _executable, _notes
from . import _record, _run_directory, _run_state
from ._checkpoint import Checkpoint
from ..errors import TrainingFailedError

# Ray Train's older names of what every report has.
_ALIASES = {"training_iteration": "_training_iteration", "timestamp": "_timestamp", "time_this_iter_s": "_time_this_iter_s"}


def _with_aliases(report):
    return {**{alias: report[name] for alias, name in _ALIASES.items() if name in report}, **report}


class Result:
    """metrics: of the last report. checkpoint: the newest that is kept: of the directories that a train function reported, or else of its
    State (restore(), load_state()). best_checkpoints: [(Checkpoint, metrics)] of those that are kept, the best last. error: why the run
    failed, or None. path: the run directory. return_value: what the train function returned on rank 0, in the process that called fit()."""

    def __init__(self, path, reports, checkpoints, error=None, config=None, return_value=None, state=None):
        self._state = state
        self.path = path
        self.filesystem = None
        self.reports = [_with_aliases(report) for report in reports]
        self.metrics = self.reports[-1] if self.reports else {}
        self._checkpoints = checkpoints  # oldest first
        self.checkpoint = checkpoints[-1][0] if checkpoints else None
        self.best_checkpoints = checkpoints
        self.error = error
        self.config = config
        self.return_value = return_value

    @classmethod
    def from_path(cls, path, storage_filesystem=None, *, return_value=None):
        """The Result of the run in this directory, also while it goes on, and after it failed."""
        if storage_filesystem is not None:
            raise ValueError("Result.from_path(storage_filesystem=...): runs lie in folders that all nodes see; leave it out")
        path = os.path.abspath(os.path.expanduser(os.fspath(path)))
        record = _run_directory.run_record(path)
        if record is None:
            raise RuntimeError(f"Result.from_path({path!r}): no run is there: a run directory has a run.json of trainrt's")
        reports = _run_directory.reports(path)
        error = None
        if record.get("state") == _run_state.FAILED:
            exit_code = _run_directory.last_attempt(path).get("exit_code", 70)
            error = TrainingFailedError(_run_directory.error_text(path) or "the run failed; its log says why", exit_code=exit_code)
        result = cls(path, reports, _reported_checkpoints(path, reports), error, _config_of(path, record), return_value)
        result.best_checkpoints = _ranked(result._checkpoints, record.get("config", {}))
        return result

    def with_config(self, config):
        """Itself, with the config that was given if trainer.json could not hold it."""
        if self.config is None:
            self.config = config
        return self

    @classmethod
    def of_local(cls, session, returned):
        """Of a run without a runtime."""
        reports = [{**metrics, "_training_iteration": number} for number, (metrics, _) in enumerate(session.reports, 1)]
        newest = session.get_checkpoint()
        checkpoints = [(newest, _with_aliases(reports[-1]))] if newest is not None and reports else []
        return cls(None, reports, checkpoints, config=session.job.train_loop_config, return_value=returned, state=_run_state.FINISHED)

    @property
    def state(self):
        """"starting", "running", "finished", "stopped", "failed" or "killed", as `trainrt result` has it when this is read; of a trial also
        "waiting" or "paused", as its ResultGrid found it. RuntimeError if the run directory cannot be read."""
        if self._state is not None:
            return self._state
        done = subprocess.run([_executable.trainrt(), "result", self.path, "--json"], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip())
        return json.loads(done.stdout)["state"]

    @property
    def log_dir(self):
        """Ray's older name of `path`, as a pathlib.Path; None of a run that kept nothing."""
        return Path(self.path) if self.path is not None else None

    @property
    def metrics_dataframe(self):
        """All reports as a pandas.DataFrame, a row each."""
        try:
            import pandas
        except ImportError:
            raise ImportError("Result.metrics_dataframe needs pandas (pip install pandas); Result.reports has the same as a list of "
                              "dicts, and progress.csv of the run directory as a table") from None
        return pandas.DataFrame(self.reports)

    def get_best_checkpoint(self, metric, mode):
        """The kept checkpoint with the highest metric (mode 'max') or the lowest ('min'). NaN is ignored, and a note says so."""
        if mode not in ("max", "min"):
            raise ValueError(f"get_best_checkpoint(mode={mode!r}): it must be 'max' or 'min'")
        scored = [(metrics[metric], checkpoint) for checkpoint, metrics in self._checkpoints if _is_score(metrics.get(metric))]
        if not scored:
            names = sorted({name for _, metrics in self._checkpoints for name in metrics if not name.startswith("_")})
            raise RuntimeError(f"get_best_checkpoint({metric!r}): no checkpoint was reported with that metric as a number; they have: "
                               f"{', '.join(names) or 'none'}")
        ignored = sum(_is_nan(metrics.get(metric)) for _, metrics in self._checkpoints)
        if ignored:
            _notes.say(f"get_best_checkpoint({metric!r}): {ignored} of {len(self._checkpoints)} checkpoints have NaN and were ignored")
        return (max if mode == "max" else min)(scored, key=lambda each: each[0])[1]

    def __repr__(self):
        shown = {name: value for name, value in self.metrics.items() if name not in _ALIASES and not name.startswith("_")}
        return f"Result(metrics={shown}, path={self.path!r}, checkpoint={self.checkpoint}, error={self.error!r})"


def _is_nan(value):
    return isinstance(value, float) and math.isnan(value)


def _is_score(value):
    return isinstance(value, (int, float)) and not math.isnan(value)


def _reported_checkpoints(path, reports):
    """[(Checkpoint, metrics)] of those with files of a train function, or else of the run's State, oldest first; with all metrics of
    their report."""
    by_iteration = {report.get("_training_iteration"): report for report in reports}
    found, made = _run_directory.reported(path), Checkpoint
    if not found:
        found, made = _run_directory.native(path), Checkpoint._of_state
    return [(made(folder), _with_aliases({**(by_iteration.get(manifest.get("iteration")) or _run_directory.metrics_in(manifest)),
                                                **_run_directory.validated_metrics(folder, manifest)}))
            for folder, manifest in found]


def _ranked(checkpoints, config):
    attribute = config.get("checkpoint.score_attribute")
    if not attribute:
        return checkpoints
    sign = -1 if config.get("checkpoint.score_order") == "min" else 1

    def score(each):  # those without a number rank below every number
        value = each[1].get(attribute)
        return (True, sign * value) if _is_score(value) else (False, 0)

    return sorted(checkpoints, key=score)


def _config_of(path, record):
    loop, _ = _record.config_in(_record.read(path))
    return loop if loop is not None else record.get("loop") or None
