"""Result: metrics, checkpoints and error of a run, read from its run directory."""

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional, Union

from ..._support import _executable, _local_files, _notes, _object_store, _this_process
from ..errors import TrainingFailedError
from . import _auto_metrics, _kept, _run_directory, _run_state, _trainer_record
from ._checkpoint import Checkpoint

if TYPE_CHECKING:
    import pandas


class Result:
    """Outcome of a run. Returned by `fit()`, and read from a run directory by `Result.from_path()`.

    Attributes
    ----------
    metrics : dict
        Metrics of the last report, with those of Ray Tune such as `time_total_s`, which `==` ignores if the other dict lacks them; {} before the first report.
    reports : list of dict
        Metrics of all reports, oldest first.
    checkpoint : Checkpoint, optional
        Newest checkpoint that was kept: of the reported directories, or of the run's State if no directory was reported.
    best_checkpoints : list of (Checkpoint, dict)
        Checkpoints that were kept, with their metrics. With `checkpoint_score_attribute` the best is the last, else the newest.
    error : TrainingFailedError, optional
        Why the run failed.
    path : str, optional
        Run directory, or its URL in an object store if `from_path()` was called with one, or `None` for a run with `num_workers=0`.
    config : dict, optional
        The `train_loop_config`.
    return_value : object
        Value that the train function returned on rank 0, or `None` in a Result that was read from a directory.
    filesystem : pyarrow.fs.LocalFileSystem, optional
        File system of `path`. `None` if pyarrow is not installed.

    Examples
    --------
    >>> from trainrt import train
    >>> from trainrt.train import DataParallelTrainer, ScalingConfig
    >>> def train_func():
    ...     for epoch in range(2):
    ...         train.report({"loss": 1.0 / (epoch + 1)})
    >>> result = DataParallelTrainer(train_func, scaling_config=ScalingConfig(num_workers=0)).fit()
    >>> result.metrics["loss"], len(result.reports)
    (0.5, 2)
    """

    def __init__(self, metrics: Optional[dict[str, Any]] = None, checkpoint: Optional[Checkpoint] = None, error: Optional[Exception] = None,
                 path: Optional[str] = None, metrics_dataframe: "Optional[pandas.DataFrame]" = None,
                 best_checkpoints: Optional[list[tuple[Checkpoint, dict[str, Any]]]] = None, _storage_filesystem: Any = None, return_value: Any = None):
        self._state: Optional[str] = None
        self.path = path
        self.metrics = {} if metrics is None else metrics
        self.reports = [self.metrics] if self.metrics else []
        self.checkpoint = checkpoint
        self.best_checkpoints = best_checkpoints or []
        self._checkpoints = self.best_checkpoints  # oldest first
        self.error = error
        self.config = self.metrics.get("config")
        self.return_value = return_value
        self._metrics_dataframe, self._storage_filesystem = metrics_dataframe, _storage_filesystem

    @classmethod
    def _of_run(cls, path: Optional[str], reports: list[dict[str, Any]], checkpoints: list[tuple[Checkpoint, dict[str, Any]]],
                error: Optional[TrainingFailedError] = None, config: Optional[dict[str, Any]] = None, return_value: Any = None,
                state: Optional[str] = None) -> "Result":
        """Returns the Result of all reports and kept checkpoints, both oldest first."""
        made = cls(reports[-1] if reports else {}, checkpoints[-1][0] if checkpoints else None, error, path, best_checkpoints=checkpoints,
                   return_value=return_value)
        made._state, made.reports, made.config = state, reports, config
        return made

    @classmethod
    def from_path(cls, path: Union[str, "os.PathLike[str]"], storage_filesystem: Any = None, *, return_value: Any = None) -> "Result":
        """Reads the Result of a run, which may be running, finished or failed.

        Parameters
        ----------
        path : str or path-like
            Run directory, or STORAGE_PATH/NAME of a run in an object store: `s3://BUCKET/PREFIX/NAME`. From an object store, the records are downloaded
            now, and a checkpoint when it is needed.
        storage_filesystem : pyarrow.fs.LocalFileSystem, optional
            A file system for local files; others raise an error.
        return_value : object, optional
            Value for `return_value` of the Result.

        Returns
        -------
        Result

        Raises
        ------
        RuntimeError
            If there is no run at `path`.
        ValueError
            If `storage_filesystem` is not for local files, or result.json is damaged.
        OSError
            If the object store cannot be read. The message names the URL.
        """
        if not _local_files.is_local(storage_filesystem):
            raise ValueError(f"Result.from_path(storage_filesystem={storage_filesystem!r}) is not supported: run directories are in file systems that all "
                             f"nodes see. Leave it out")
        reader = _object_store.reader_of(path)
        if reader is None:
            full = os.path.abspath(os.path.expanduser(_object_store.local_path(path)))
            return cls._of_records(full, full, return_value)
        with reader.fetched(*_run_directory.RECORDS) as folder:
            return cls._of_records(reader.url, folder, return_value)

    @classmethod
    def _of_records(cls, path, run_dir, returned):
        """Returns the Result of the run at `path`, a directory or URL. `run_dir` has its records."""
        record, is_remote = _run_directory.run_record(run_dir), path != run_dir
        if record is None:
            missing = f"Experiment folder {path} doesn't exist. " if not is_remote and not os.path.exists(path) else ""
            raise RuntimeError(f"{missing}Result.from_path({path!r}): this is not a run directory, which has a run.json written by trainrt"
                               f"{_run_directory.similar_run(run_dir) if not is_remote else ''}")
        config = _config_of(run_dir, record)
        reports = _completed_reports(run_dir, record, config)
        error = None
        if record.get("state") == _run_state.FAILED:
            exit_code = _run_directory.last_attempt(run_dir).get("exit_code", 70)
            logs = "its logs are in its local directory, not in the store" if is_remote else f"see the logs in {path}/logs"
            error = TrainingFailedError(_run_directory.error_text(run_dir) or f"the run failed; {logs}", exit_code=exit_code)
        checkpoints = _kept.kept_checkpoints(run_dir, reports) if not is_remote else _kept.stored_checkpoints(path, run_dir, reports)
        result = cls._of_run(path, reports, checkpoints, error, config, returned, record.get("state") if is_remote else None)
        result.best_checkpoints = _kept.ranked(result._checkpoints, record.get("config", {}))
        return result

    def _with_checkpoints_of(self, kind):
        """Converts the checkpoints to objects of `kind`, a subclass of Checkpoint, and returns this Result."""
        self.checkpoint = None if self.checkpoint is None else kind(self.checkpoint.path)
        self.best_checkpoints = [(kind(checkpoint.path), metrics) for checkpoint, metrics in self.best_checkpoints]
        self._checkpoints = [(kind(checkpoint.path), metrics) for checkpoint, metrics in self._checkpoints]
        return self

    @classmethod
    def _of_local(cls, session, returned):
        """Returns the Result of a LocalSession. `returned`: value that the train function returned."""
        config = session.spec.train_loop_config
        reports = [{**metrics, "_training_iteration": number, "_timestamp": int(unix_s), "_time_this_iter_s": seconds}
                   for number, ((metrics, _), (unix_s, seconds)) in enumerate(zip(session.reports, session.times), 1)]
        kept = {number for number, (_, checkpoint) in enumerate(session.reports, 1) if checkpoint is not None}
        reports = _auto_metrics.completed(reports, session.run_id, config, True, workers=[_this_process.facts()], checkpointed=kept)
        checkpoints = [(checkpoint, report) for (_, checkpoint), report in zip(session.reports, reports) if checkpoint is not None][-1:]
        made = cls._of_run(None, reports, checkpoints, config=config, return_value=returned, state=_run_state.FINISHED)
        made.checkpoint = session.get_checkpoint()
        return made

    def _with_config(self, config):
        """Sets the config if trainer.json does not contain it. Returns this Result."""
        if self.config is None:
            self._set_config(config)
        return self

    def _set_config(self, config):
        self.config = config
        _auto_metrics.with_config(self.reports, config)

    @property
    def filesystem(self) -> Any:
        """pyarrow.fs.LocalFileSystem for a run directory; `None` if pyarrow is not installed, and for a URL of an object store."""
        if self._storage_filesystem is not None:
            return self._storage_filesystem
        return _local_files.filesystem() if self.path is None or _object_store.reader_of(self.path) is None else None

    @property
    def state(self) -> str:
        """Current state of the run: 'starting', 'running', 'finished', 'stopped', 'failed' or 'killed'.

        A trial in a ResultGrid can also be "waiting" or "paused". In an object store: the state when run.json was last copied there.
        Raises RuntimeError if the run directory cannot be read.
        """
        if self._state is not None or self.path is None:
            return self._state or _run_state.FINISHED
        done = subprocess.run([_executable.trainrt(), "result", self.path, "--json"], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip())
        return json.loads(done.stdout)["state"]

    @property
    def log_dir(self) -> Optional[Path]:
        """`path` as a pathlib.Path (an older name of Ray Train), or `None` if the run has no directory on this machine."""
        return Path(self.path) if self.path is not None and _object_store.reader_of(self.path) is None else None

    @property
    def metrics_dataframe(self) -> "pandas.DataFrame":
        """All reports as a table with a row per report; values of the config are columns such as `config/lr`. Raises ImportError if pandas is not installed."""
        if self._metrics_dataframe is not None:
            return self._metrics_dataframe
        try:
            import pandas
        except ImportError:
            raise ImportError("Result.metrics_dataframe needs pandas (pip install pandas). Without it, use Result.reports, a list of dicts, or "
                              "progress.csv in the run directory") from None
        return pandas.DataFrame([_auto_metrics.flat(report) for report in self.reports])

    def get_best_checkpoint(self, metric: str, mode: str) -> Checkpoint:
        """Returns the kept checkpoint with the highest or lowest value of a metric.

        Checkpoints whose value is NaN are ignored, with a note.

        Parameters
        ----------
        metric : str
            Name of a reported metric.
        mode : {'max', 'min'}
            Whether the highest or the lowest value is best.

        Returns
        -------
        Checkpoint

        Raises
        ------
        ValueError
            If `mode` is invalid.
        RuntimeError
            If no checkpoint was reported with this metric as a number.
        """
        if mode not in ("max", "min"):
            raise ValueError(f"Unsupported mode: {mode}. Please choose from [min, max]! It is an argument of get_best_checkpoint()")
        scored = [(metrics[metric], checkpoint) for checkpoint, metrics in self._checkpoints if _kept.is_score(metrics.get(metric))]
        if not scored:
            names = sorted({name for _, metrics in self._checkpoints for name in metrics if not _auto_metrics.is_added(name)})
            first = (f"Invalid metric name {metric}! You may choose from the following metrics: {', '.join(names)}." if self._checkpoints else
                     "No checkpoint exists in the trial directory!")
            raise RuntimeError(f"{first} get_best_checkpoint({metric!r}): no checkpoint was reported with this metric as a number; their metrics are: "
                               f"{', '.join(names) or '(no metrics)'}")
        ignored = sum(_kept.is_nan(metrics.get(metric)) for _, metrics in self._checkpoints)
        if ignored:
            _notes.say(f"get_best_checkpoint({metric!r}): {ignored} of {len(self._checkpoints)} checkpoints have NaN and were ignored")
        return (max if mode == "max" else min)(scored, key=lambda each: each[0])[1]

    def __eq__(self, other: object) -> bool:
        """Compares metrics, checkpoints, path and returned value, and errors by their type and text."""
        if not isinstance(other, Result):
            return NotImplemented
        return self._compared() == other._compared()

    def __hash__(self) -> int:
        return hash(self.path)

    def _compared(self):
        error = (type(self.error), str(self.error)) if self.error is not None else None
        return self.path, self.metrics, self.checkpoint, error, self.best_checkpoints, self.return_value

    def __repr__(self) -> str:
        shown = {name: value for name, value in self.metrics.items() if not _auto_metrics.is_added(name)}
        return f"Result(metrics={shown}, checkpoint={self.checkpoint}, error={self.error!r}, path={self.path!r})"


def _completed_reports(path, record, config):
    """Returns the reports of the run with the metrics that Ray Tune adds."""
    kept = {manifest.get("iteration") for _, manifest in _run_directory.checkpoints(path)}
    return _auto_metrics.completed(_run_directory.reports(path), record.get("run_id"), config, record.get("state") == _run_state.FINISHED,
                                   _run_directory.attempts(path), _trainer_record.workers_in(_trainer_record.read(path)), kept)


def _config_of(path, record):
    loop, _ = _trainer_record.config_in(_trainer_record.read(path))
    if loop is not None:
        return loop
    return {key: value for key, value in record.get("loop", {}).items() if not key.startswith("train_loop_")} or None  # those describe the script
