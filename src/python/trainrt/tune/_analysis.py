"""ExperimentAnalysis: the results of tune.run()."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from .._support import _local_files, _notes
from ..train import Checkpoint
from ._restoring import directory_of
from ._results import ResultGrid
from ._spaces import DEFAULT_METRIC
from ._sweep_record import is_sweep
from ._trial import Trial
from .utils._dicts import flatten_dict

if TYPE_CHECKING:
    import pandas


class ExperimentAnalysis:
    """The results of a sweep, by the names of older versions of Ray Tune. ResultGrid has the same results.

    The arguments `metric` and `mode` of the methods default to those of `tune.run()`. Without a default, they must be given; otherwise the methods raise
    ValueError. If no trial has reported the metric, the methods return `None`, with a note.

    Parameters
    ----------
    experiment_checkpoint_path : path
        Directory of the sweep.
    storage_filesystem, trials
        `storage_filesystem` must be local. `trials`: default: all trials in the directory.
    default_metric : str, optional
    default_mode : {"min", "max"}, optional

    Raises
    ------
    ValueError
        The path is not the directory of a sweep, or the mode is invalid.

    Examples
    --------
    >>> import tempfile
    >>> from trainrt import tune
    >>> def train(config):
    ...     tune.report({"loss": (config["x"] - 2) ** 2})
    >>> analysis = tune.run(train, config={"x": tune.grid_search([1, 2])}, storage_path=tempfile.mkdtemp(), metric="loss", mode="min")
    >>> analysis.best_config, analysis.best_result["loss"], len(analysis.trials)
    ({'x': 2}, 0, 2)
    """

    def __init__(self, experiment_checkpoint_path: str | os.PathLike[str], *, storage_filesystem: Any = None, trials: list[Trial] | None = None,
                 default_metric: str | None = None, default_mode: str | None = None, _grid: ResultGrid | None = None) -> None:
        if default_mode not in (None, "", "min", "max"):
            raise ValueError(f"ExperimentAnalysis(default_mode={default_mode!r}): it must be 'min' or 'max'")
        if not _local_files.is_local(storage_filesystem):
            raise ValueError("ExperimentAnalysis(storage_filesystem=...): the directory of a sweep is local; leave the argument out")
        self.default_mode = default_mode or None
        self.default_metric = default_metric or (DEFAULT_METRIC if default_mode else None)
        path = directory_of(experiment_checkpoint_path)
        if _grid is None and not is_sweep(path):
            raise ValueError(f"ExperimentAnalysis({path!r}): it is not the directory of a sweep (storage_path/name)")
        self._grid = _grid or ResultGrid(path, default_metric, default_mode)
        self.trials = trials or [Trial(trial["trial"], trial_id=trial["trial"], _result=result) for trial, result in zip(self._grid._trials, self._grid)]

    def __repr__(self) -> str:
        return f"ExperimentAnalysis({self.experiment_path!r}, {len(self.trials)} trials)"

    @property
    def experiment_path(self) -> str:
        """Directory of the sweep."""
        return self._grid.experiment_path

    def get_best_trial(self, metric: str | None = None, mode: str | None = None, scope: str = "last", filter_nan_and_inf: bool = True) -> Trial | None:
        """Returns the trial with the best metric. The parameters are those of ResultGrid.get_best_result()."""
        try:
            best = self._grid.get_best_result(metric, mode, scope, filter_nan_and_inf)
        except RuntimeError as error:
            _notes.say(f"get_best_trial() returns None: {error}")
            return None
        return next(trial for trial in self.trials if trial.result is best)

    def get_best_config(self, metric: str | None = None, mode: str | None = None, scope: str = "last") -> dict[str, Any] | None:
        """Returns the config of the best trial."""
        best = self.get_best_trial(metric, mode, scope)
        return best.config if best is not None else None

    def get_best_logdir(self, metric: str | None = None, mode: str | None = None, scope: str = "last") -> str | None:
        """Returns the directory of the best trial."""
        best = self.get_best_trial(metric, mode, scope)
        return best.path if best is not None else None

    def get_best_checkpoint(self, trial: Trial, metric: str | None = None, mode: str | None = None) -> Checkpoint | None:
        """Returns the best checkpoint of a trial, or `None` if no checkpoint has the metric. The default metric is training_iteration."""
        metric, mode = self._grid._required("get_best_checkpoint()", metric or self.default_metric or "training_iteration", mode)
        try:
            return trial.result.get_best_checkpoint(metric, mode)
        except RuntimeError as error:
            _notes.say(f"get_best_checkpoint() returns None: {error}")
            return None

    def get_last_checkpoint(self, trial: Trial | None = None, metric: str | None = None, mode: str | None = None) -> Checkpoint | None:
        """Returns the newest checkpoint of a trial, by default of the best one."""
        chosen = trial or self.get_best_trial(metric, mode)
        return chosen.checkpoint if chosen is not None else None

    def get_all_configs(self, prefix: bool = False) -> dict[str, dict[str, Any]]:
        """Returns the configs of all trials, as {trial_id: config}. With `prefix`, the configs are flat: {"config/a/b": value}."""
        return {trial.trial_id: flatten_dict({"config": trial.config}) if prefix else trial.config for trial in self.trials}

    def dataframe(self, metric: str | None = None, mode: str | None = None) -> pandas.DataFrame:
        """Returns a pandas.DataFrame with a row per trial: its last report or, with `metric` and `mode`, its best. Raises ImportError without pandas."""
        return self._grid.get_dataframe(metric, mode)

    # ---- of all trials ----

    @property
    def results(self) -> dict[str, dict[str, Any]]:
        """{trial_id: metrics of the last report}."""
        return {trial.trial_id: trial.last_result for trial in self.trials}

    @property
    def results_df(self) -> pandas.DataFrame:
        """The result of dataframe(), with the column trial_id as index."""
        return self.dataframe().set_index("trial_id")

    @property
    def trial_dataframes(self) -> dict[str, pandas.DataFrame]:
        """{trial_id: pandas.DataFrame with a row per report}."""
        return {trial.trial_id: trial.result.metrics_dataframe for trial in self.trials}

    # ---- of the best trial, by the metric and mode of tune.run() ----

    def _best(self) -> Trial | None:
        """Returns the best trial by the default metric. Raises ValueError without one."""
        if not self.default_metric or not self.default_mode:
            raise ValueError("the best trial needs a metric and a mode: pass them to tune.run(), or use get_best_trial(metric, mode)")
        return self.get_best_trial(self.default_metric, self.default_mode)

    @property
    def best_trial(self) -> Trial | None:
        """The best trial."""
        return self._best()

    @property
    def best_config(self) -> dict[str, Any] | None:
        """Config of the best trial."""
        best = self._best()
        return best.config if best is not None else None

    @property
    def best_logdir(self) -> str | None:
        """Directory of the best trial."""
        best = self._best()
        return best.path if best is not None else None

    @property
    def best_result(self) -> dict[str, Any] | None:
        """Last report of the best trial."""
        best = self._best()
        return best.last_result if best is not None else None

    @property
    def best_checkpoint(self) -> Checkpoint | None:
        """Best checkpoint of the best trial. Raises ValueError if no trial has the metric."""
        best = self._best()
        if best is None:
            raise ValueError(f"best_checkpoint: no trial has reported the metric {self.default_metric!r}")
        return self.get_best_checkpoint(best, self.default_metric, self.default_mode)

    @property
    def best_dataframe(self) -> pandas.DataFrame | None:
        """Reports of the best trial."""
        best = self._best()
        return best.result.metrics_dataframe if best is not None else None

    @property
    def best_result_df(self) -> pandas.DataFrame:
        """Last report of the best trial, as a pandas.DataFrame with the trial_id as index."""
        frame = self.results_df
        best = self._best()
        return frame[frame.index == (best.trial_id if best is not None else None)]
