"""RayTrainReportCallback of Transformers."""

import os
import shutil
import tempfile

from ... import collective
from ..._results._checkpoint import Checkpoint
from ..._sessions import _report
from ..._sessions._context import get_context
from ._library import get_last_checkpoint, transformers

_MARK = ".trainrt-rank-"


class RayTrainReportCallback(transformers.TrainerCallback):
    """Reports each checkpoint that the Trainer saves, with the newest value of every metric that it has logged.

    The Trainer's files are in the directory `checkpoint` of the reported checkpoint. `output_dir` may be the same directory on all ranks, or a different
    one on each.

    Examples
    --------
    >>> from trainrt.train.huggingface.transformers import RayTrainReportCallback
    >>> callback = RayTrainReportCallback()
    """

    CHECKPOINT_NAME = "checkpoint"

    def on_save(self, args, state, control, **others):
        metrics = {}
        for logged in state.log_history:
            metrics.update(logged)
        collective.barrier()  # each rank writes its part of the checkpoint
        saved = get_last_checkpoint(args.output_dir)
        with tempfile.TemporaryDirectory(prefix=".trainrt_", dir=args.output_dir) as folder:
            reports_files = _is_lowest_rank_with(saved)
            if reports_files:
                shutil.copytree(saved, os.path.join(folder, self.CHECKPOINT_NAME), copy_function=_link_or_copy,
                                ignore=shutil.ignore_patterns(_MARK + "*"))
            _report.report(metrics, checkpoint=Checkpoint.from_directory(folder) if reports_files else None)
        return control


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
    """Adds a file to the folder to report: as a hard link if the file system allows it, otherwise as a copy."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
