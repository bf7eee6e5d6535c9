"""What the trainers of boosted trees share: a report after each round, shards as columns, and the rounds that are left."""

import os
import tempfile

from ._sessions import _report
from ._results._checkpoint import Checkpoint
from ._sessions._context import get_context


class RoundReports:
    """Reports after each boosting round; a checkpoint at every `frequency`-th, and of the last one. metrics: their names, all by default, or
    {name in the report: name of the library's}. results_postprocessing_fn(metrics) makes what is reported. The model is saved by rank 0."""

    def __init__(self, metrics=None, filename="model", frequency=0, checkpoint_at_end=True, results_postprocessing_fn=None):
        if isinstance(frequency, bool) or not isinstance(frequency, int) or frequency < 0:
            raise ValueError(f"RayTrainReportCallback(frequency={frequency!r}): it must be a whole number, 0 for no checkpoint but the last")
        if os.path.basename(filename) != filename or filename in ("", ".", ".."):
            raise ValueError(f"RayTrainReportCallback(filename={filename!r}): it must be the name of a file")
        self._metrics = {metrics: metrics} if isinstance(metrics, str) else metrics if isinstance(metrics, dict) else {
            name: name for name in metrics or ()}
        self._filename, self._frequency, self._at_end = filename, frequency, checkpoint_at_end
        self._postprocess = results_postprocessing_fn
        self._saved_round = None

    def round_done(self, number, found, save):
        """`number`: of the round, from 0. found: {name: value}. save(path) writes the model."""
        metrics = self._chosen(found)
        if self._frequency and (number + 1) % self._frequency == 0:
            self._report(metrics, save)
            self._saved_round = number
        else:
            _report.report(metrics)

    def all_done(self, last, found, save):
        """`last`: the number of the last round."""
        if self._at_end and self._saved_round != last:
            self._report(self._chosen(found), save)

    def _chosen(self, found):
        missing = [name for name in self._metrics.values() if name not in found]
        if missing and found:
            raise ValueError(f"RayTrainReportCallback(metrics=...): there is no metric {', '.join(missing)}; there are: {', '.join(found)}")
        chosen = {name: found[of] for name, of in self._metrics.items()} if self._metrics and found else dict(found)
        return self._postprocess(chosen) if self._postprocess else chosen

    def _report(self, metrics, save):
        if get_context().get_world_rank() != 0:
            return _report.report(metrics)
        with tempfile.TemporaryDirectory() as folder:
            save(os.path.join(folder, self._filename))
            return _report.report(metrics, checkpoint=Checkpoint.from_directory(folder))


def table_of(name, label_column):
    """This rank's shard of a dataset: ({column: array}, labels). The same after a restart."""
    shard = _report.get_dataset_shard(name)
    if shard is None:
        raise KeyError(f"there is no dataset '{name}'")
    columns = shard.columns_at_once()
    if label_column not in columns:
        raise ValueError(f"label_column={label_column!r}: the dataset '{name}' has the columns {', '.join(columns)}")
    return columns, columns.pop(label_column)


def matrix_of(columns, name):
    """[rows, columns], and the names of the columns. A column of vectors is several."""
    import numpy
    names, parts = [], []
    for column, values in columns.items():
        if values.dtype == object:
            raise ValueError(f"the dataset '{name}' has texts in its column '{column}': leave it out by drop_columns(['{column}']), or make numbers "
                             f"of it by map_batches()")
        values = values.reshape(len(values), -1) if len(values) else values.reshape(0, int(numpy.prod(values.shape[1:], dtype=int)))
        names += [column] if values.shape[1] == 1 else [f"{column}_{number}" for number in range(values.shape[1])]
        parts.append(values)
    if not parts:
        raise ValueError(f"the dataset '{name}' has no column but the labels")
    return numpy.concatenate(parts, axis=1), names


def mixed_seed(seed, number):
    """31 bits that hang on both (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014: SplitMix64's finalizer)."""
    mask = 2**64 - 1
    mixed = (seed * 0x9E3779B97F4A7C15 + number + 1) & mask
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = ((mixed ^ (mixed >> shift)) * factor) & mask
    return (mixed ^ (mixed >> 31)) >> 33


def segments(done, rounds, frequency):
    """[(first, end)] of the rounds that are left: each ends where a checkpoint is taken, and begins with nothing but what a restart has there.
    So a run that was stopped anywhere makes the same trees as one that never was."""
    ends = [*range((done // frequency + 1) * frequency, rounds, frequency), rounds] if frequency else [rounds]
    return list(zip([done, *ends[:-1]], ends)) if done < rounds else []


def checked_arguments(trainer, function, legacy):
    """Which generation of a trainer's arguments was given: whether it is the one without a train function."""
    given = [name for name, value in legacy.items() if value is not None]
    if function is not None and given:
        raise ValueError(f"{trainer}: {', '.join(given)} are of its older form, without train_loop_per_worker; give the one or the other")
    if function is None:
        missing = [name for name in ("params", "label_column") if legacy.get(name) is None]
        if missing:
            raise ValueError(f"{trainer} takes train_loop_per_worker, or params and label_column; {' and '.join(missing)} missing")
    return function is None


def notes_of(notes, is_older):
    """Without the line that CheckpointConfig's frequency changes nothing, where it does."""
    return [line for line in notes if not (is_older and line.startswith("CheckpointConfig: checkpoint_frequency"))]


def checkpoint_rules(run_config):
    """(frequency, whether at the end) as the CheckpointConfig says."""
    config = getattr(run_config, "checkpoint_config", None)
    if config is None:
        return 0, True
    return config.checkpoint_frequency or 0, True if config.checkpoint_at_end is None else bool(config.checkpoint_at_end)
