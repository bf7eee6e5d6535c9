"""Progress reporters of Ray Tune, which are accepted and have no effect: trainrt prints the progress."""

from __future__ import annotations

from typing import Any


class CLIReporter:
    """Accepted by RunConfig(progress_reporter=...) and tune.run(progress_reporter=...), which print a note: the output of `fit()`, and `trainrt tune status`,
    show the progress.

    Examples
    --------
    >>> from trainrt import tune
    >>> reporter = tune.CLIReporter(metric_columns=["loss"])
    >>> reporter.add_metric_column("accuracy")
    """

    def __init__(self, *_given: Any, **_named: Any) -> None:
        pass

    def add_metric_column(self, metric: str, representation: str | None = None) -> None:
        """Has no effect."""

    def add_parameter_column(self, parameter: str, representation: str | None = None) -> None:
        """Has no effect."""


class JupyterNotebookReporter(CLIReporter):
    """As CLIReporter.

    Examples
    --------
    >>> from trainrt import tune
    >>> reporter = tune.JupyterNotebookReporter()
    """
