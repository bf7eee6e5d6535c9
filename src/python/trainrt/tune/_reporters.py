"""Progress reporters of Ray Tune: their arguments are accepted, and trainrt prints the progress."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_COLUMNS = ("mean_accuracy", "mean_loss", "time_total_s", "training_iteration", "timesteps_total", "episode_reward_mean")


class ProgressReporter:
    """Base class of the progress reporters. `RunConfig(progress_reporter=...)` and `tune.run(progress_reporter=...)` accept one, with a note that it has no
    effect: the output of `fit()`, and `trainrt tune status`, show the progress.

    Examples
    --------
    >>> from trainrt import tune
    >>> isinstance(tune.CLIReporter(), tune.ProgressReporter)
    True
    """

    def setup(self, start_time: float | None = None, total_samples: int | None = None, metric: str | None = None, mode: str | None = None,
              **kwargs: Any) -> None:
        """Not called."""

    def should_report(self, trials: Sequence[Any], done: bool = False) -> bool:
        """Returns whether the progress is printed now. Not called."""
        raise NotImplementedError(f"{type(self).__name__} does not define should_report()")

    def report(self, trials: Sequence[Any], done: bool, *sys_info: Any) -> None:
        """Prints the progress. Not called."""
        raise NotImplementedError(f"{type(self).__name__} does not define report()")


class CLIReporter(ProgressReporter):
    """Accepted, without an effect, as each ProgressReporter.

    Parameters
    ----------
    metric_columns, parameter_columns : list of str or dict, optional
        Names of the columns; a dict has their titles.
    metric, mode : str, optional
        Together, or both left out.
    **others
        Further arguments of Ray Tune, which are ignored.

    Raises
    ------
    ValueError
        One of metric and mode is missing, or the mode is invalid.

    Examples
    --------
    >>> from trainrt import tune
    >>> reporter = tune.CLIReporter(metric_columns=["loss"])
    >>> reporter.add_metric_column("accuracy")
    """

    def __init__(self, *, metric_columns: Sequence[str] | Mapping[str, str] | None = None, parameter_columns: Sequence[str] | Mapping[str, str] | None = None,
                 total_samples: int | None = None, max_progress_rows: int = 20, max_error_rows: int = 20, max_column_length: int = 20,
                 max_report_frequency: int = 5, infer_limit: int = 3, print_intermediate_tables: bool | None = None, metric: str | None = None,
                 mode: str | None = None, sort_by_metric: bool = False) -> None:
        del total_samples, max_progress_rows, max_error_rows, max_column_length, max_report_frequency, infer_limit, print_intermediate_tables, sort_by_metric
        if (metric is None) != (mode is None):
            raise ValueError(f"{type(self).__name__}(metric={metric!r}, mode={mode!r}): pass both or neither")
        if mode not in (None, "min", "max"):
            raise ValueError(f"{type(self).__name__}(mode={mode!r}): it must be 'min' or 'max'")
        self._metric_columns = _titles(metric_columns if metric_columns is not None else _COLUMNS)
        self._parameter_columns = _titles(parameter_columns or ())

    def add_metric_column(self, metric: str, representation: str | None = None) -> None:
        """Adds a column. Raises ValueError if it exists."""
        _add(self._metric_columns, metric, representation)

    def add_parameter_column(self, parameter: str, representation: str | None = None) -> None:
        """Adds a column. Raises ValueError if it exists."""
        _add(self._parameter_columns, parameter, representation)


class JupyterNotebookReporter(CLIReporter):
    """As CLIReporter. `overwrite` is ignored.

    Examples
    --------
    >>> from trainrt import tune
    >>> reporter = tune.JupyterNotebookReporter()
    """

    def __init__(self, *, overwrite: bool = True, **arguments: Any) -> None:
        del overwrite
        super().__init__(**arguments)


def _titles(given: Sequence[str] | Mapping[str, str]) -> dict[str, str]:
    return dict(given) if isinstance(given, Mapping) else {name: name for name in given}


def _add(columns: dict[str, str], name: str, title: str | None) -> None:
    if name in columns:
        raise ValueError(f"the column {name!r} exists already; add each column once")
    columns[name] = title or name
