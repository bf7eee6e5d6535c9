"""Kept checkpoints of a run with their metrics, for a Result."""

import math
import os
from typing import Any, Callable

from ..._support import _object_store
from . import _run_directory
from ._checkpoint import Checkpoint
from ._reported_metrics import ReportedMetrics


def is_nan(value):
    return isinstance(value, float) and math.isnan(value)


def is_score(value):
    return isinstance(value, (int, float)) and not math.isnan(value)


def kept_checkpoints(path, reports):
    """Returns [(Checkpoint, metrics)] of the reported directories, or of the run's State if no directory was reported, oldest first."""
    make: Callable[[str], Checkpoint] = Checkpoint
    found = _run_directory.reported(path)
    if not found:
        found, make = _run_directory.native(path), Checkpoint._from_state
    return [(make(folder), metrics) for (folder, _), metrics in zip(found, _metrics_of(found, reports))]


def stored_checkpoints(url, run_dir, reports):
    """Returns kept_checkpoints() of the run at `url` in an object store. `run_dir` has its records and manifests."""
    found, files = _run_directory.reported_by_digests(run_dir), "/files"
    if not found:
        found, files = _run_directory.native(run_dir), ""
    run: Any = _object_store.reader_of(url)
    return [(Checkpoint(run.below(os.path.basename(folder) + files).url), metrics) for (folder, _), metrics in zip(found, _metrics_of(found, reports))]


def _metrics_of(found, reports):
    """Returns, for each (path, manifest), the metrics of its report, and those of its validation."""
    by_iteration = {report.get("_training_iteration"): report for report in reports}
    return [(by_iteration.get(manifest.get("iteration")) or ReportedMetrics(_run_directory.metrics_in(manifest))).with_more(
        _run_directory.validated_metrics(folder, manifest)) for folder, manifest in found]


def ranked(checkpoints, config):
    """Returns the checkpoints sorted by their score, the best last. A checkpoint without a score ranks below all others."""
    attribute = config.get("checkpoint.score_attribute")
    if not attribute:
        return checkpoints
    sign = -1 if config.get("checkpoint.score_order") == "min" else 1

    def rank(each):
        value = each[1].get(attribute)
        return (True, sign * value) if is_score(value) else (False, 0)

    return sorted(checkpoints, key=rank)
