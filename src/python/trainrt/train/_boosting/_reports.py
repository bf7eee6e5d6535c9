"""RoundReports: the report after each boosting round."""

import os
import tempfile
from typing import Any, Callable, Optional, Union

from .._results._checkpoint import Checkpoint
from .._sessions import _report
from .._sessions._context import get_context

Metrics = Union[str, list[str], dict[str, str], None]
Postprocess = Optional[Callable[[dict[str, Any]], dict[str, Any]]]


class RoundReports:
    """Reports the metrics of each boosting round, and the model of some rounds as a checkpoint of rank 0.

    Parameters
    ----------
    metrics : str, list of str or dict, optional
        Names of the library's metrics, or {reported name: name of the library}. Default: all.
    filename : str, default 'model'
        Name of the model's file.
    frequency : int, default 0
        Rounds per checkpoint; 0 saves no checkpoint before the last round.
    checkpoint_at_end : bool, default True
        Whether the last round has a checkpoint.
    results_postprocessing_fn : callable, optional
        Returns the metrics to report, given the chosen ones.

    Raises
    ------
    ValueError
        If `frequency` or `filename` is invalid.
    """

    def __init__(self, metrics: Metrics = None, filename: str = "model", frequency: int = 0, checkpoint_at_end: bool = True,
                 results_postprocessing_fn: Postprocess = None):
        if isinstance(frequency, bool) or not isinstance(frequency, int) or frequency < 0:
            raise ValueError(f"RayTrainReportCallback(frequency={frequency!r}): it must be an integer, 0 or more; 0 saves no checkpoint before the last round")
        if os.path.basename(filename) != filename or filename in ("", ".", ".."):
            raise ValueError(f"RayTrainReportCallback(filename={filename!r}): it must be the name of a file")
        names = [metrics] if isinstance(metrics, str) else metrics or ()
        self._metrics = metrics if isinstance(metrics, dict) else {name: name for name in names}
        self._filename, self._frequency, self._at_end = filename, frequency, checkpoint_at_end
        self._postprocess = results_postprocessing_fn
        self._saved_round: Optional[int] = None  # number of the last round with a checkpoint

    def round_done(self, number: int, found: dict[str, Any], save: Callable[[str], Any]) -> None:
        """Reports a round. `number`: number of the round, from 0; `found`: its metrics; `save(path)` writes the model. Collective."""
        metrics = self._chosen(found)
        if self._frequency and (number + 1) % self._frequency == 0:
            self._report_with_model(metrics, save)
            self._saved_round = number
        else:
            _report.report(metrics)

    def all_done(self, last: int, found: dict[str, Any], save: Callable[[str], Any]) -> None:
        """Reports the model of the last round if checkpoint_at_end is set and that round has no checkpoint yet. `last`: its number. Collective."""
        if self._at_end and self._saved_round != last:
            self._report_with_model(self._chosen(found), save)

    def _chosen(self, found):
        missing = [name for name in self._metrics.values() if name not in found]
        if missing and found:
            raise ValueError(f"RayTrainReportCallback(metrics=...): there is no metric {', '.join(missing)}; the metrics are: {', '.join(found)}")
        chosen = {reported: found[name] for reported, name in self._metrics.items()} if self._metrics and found else dict(found)
        return self._postprocess(chosen) if self._postprocess else chosen

    def _report_with_model(self, metrics, save):
        if get_context().get_world_rank() != 0:
            return _report.report(metrics)
        with tempfile.TemporaryDirectory() as folder:
            save(os.path.join(folder, self._filename))
            return _report.report(metrics, checkpoint=Checkpoint.from_directory(folder))
