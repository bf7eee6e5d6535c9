"""LogReports: the callback with which TransformersTrainer reports metrics and checkpoints to the run."""

import contextlib
import os
import shutil
import tempfile

from ... import collective
from ..._results._checkpoint import Checkpoint
from ..._sessions import _report
from ..._sessions._context import get_context
from ._library import get_last_checkpoint, transformers

_MARK = ".trainrt-rank-"


class LogReports(transformers.TrainerCallback):
    """Reports the metrics of each log, and a checkpoint with each save. Saves at the end of the training, too."""

    def __init__(self):
        self._logged = {}  # metrics that were not reported so far
        self._last = {}  # metrics of the last report
        self._logged_step = self._saved_step = self._evaluated_step = None

    def on_log(self, args, state, control, logs=None, **others):
        self._logged.update({**(logs or {}), "step": state.global_step, "epoch": state.epoch})
        self._logged_step = state.global_step

    def on_evaluate(self, args, state, control, **others):
        self._evaluated_step = state.global_step

    def on_save(self, args, state, control, **others):
        self._saved_step = state.global_step
        metrics = {**self._last, **self._logged, "step": state.global_step, "epoch": state.epoch}
        with reported_directory(args, state) as checkpoint:
            self._report(metrics, checkpoint)

    def on_step_begin(self, args, state, control, **others):
        self._report_logs()

    def on_step_end(self, args, state, control, **others):
        control.should_save &= not control.should_training_stop  # the last save is left to on_epoch_end(), after the last log and evaluation
        return control

    def on_epoch_begin(self, args, state, control, **others):
        self._report_logs()

    def on_epoch_end(self, args, state, control, **others):
        if control.should_training_stop:
            strategy = getattr(args, "eval_strategy", None) or getattr(args, "evaluation_strategy", "no")
            control.should_log |= self._logged_step != state.global_step
            control.should_evaluate |= getattr(strategy, "value", strategy) != "no" and self._evaluated_step != state.global_step
            control.should_save |= self._saved_step != state.global_step
        return control

    def on_train_end(self, args, state, control, **others):
        self._logged = {**self._last, **self._logged}
        self._report_logs()

    def _report_logs(self):
        if self._logged:
            self._report(self._logged, None)

    def _report(self, metrics, checkpoint):
        self._last, self._logged = metrics, {}
        _report.report(metrics, checkpoint=checkpoint)


@contextlib.contextmanager
def reported_directory(args, state, folder=""):
    """Context manager that returns a Checkpoint of the directory that the Trainer has just saved, or `None` if a lower rank reports this directory. The files
    are in the folder `folder` of the Checkpoint. Collective."""
    collective.barrier()  # each rank writes its part of the checkpoint
    expected = os.path.join(args.output_dir, f"checkpoint-{state.global_step}")
    saved = expected if os.path.isdir(expected) else get_last_checkpoint(args.output_dir) if os.path.isdir(args.output_dir) else None
    if not _is_lowest_rank_with(saved) or saved is None:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix=".trainrt_", dir=args.output_dir) as copy:
        shutil.copytree(saved, os.path.join(copy, folder), copy_function=_link_or_copy, ignore=shutil.ignore_patterns(_MARK + "*"), dirs_exist_ok=True)
        yield Checkpoint.from_directory(copy)


def _is_lowest_rank_with(saved):
    """Returns whether this is the lowest rank that sees the directory `saved`, so that it must report its files. Collective."""
    rank = get_context().get_world_rank()
    mark = saved and os.path.join(saved, f"{_MARK}{rank}")
    if mark:
        open(mark, "w").close()
    collective.barrier()
    is_lowest = saved is not None and not any(os.path.exists(os.path.join(saved, f"{_MARK}{lower}")) for lower in range(rank))
    collective.barrier()
    if mark:
        os.unlink(mark)
    return is_lowest


def _link_or_copy(source, target):
    """Makes `target` a hard link to `source`, or a copy if the file system allows no links. A link suffices, since report() copies the file."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
