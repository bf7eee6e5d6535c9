"""RayTrainReportCallback of Transformers."""

import os
import shutil
import tempfile

from ..._sessions import _report
from ... import collective
from ..._results._checkpoint import Checkpoint
from ..._sessions._context import get_context
from ._library import get_last_checkpoint, transformers

_MARK = ".trainrt-rank-"


class RayTrainReportCallback(transformers.TrainerCallback):
    """Whenever the Trainer has saved: reports all metrics that it has logged, the newest of each name, with that checkpoint, which lies in
    `checkpoint` of the reported one. output_dir may be one folder for all ranks, or each rank's own."""

    CHECKPOINT_NAME = "checkpoint"

    def on_save(self, args, state, control, **others):
        metrics = {}
        for logged in state.log_history:
            metrics.update(logged)
        collective.barrier()  # the ranks write their parts by themselves
        saved = get_last_checkpoint(args.output_dir)
        with tempfile.TemporaryDirectory(prefix=".trainrt_", dir=args.output_dir) as folder:
            is_given = _is_for_this_rank(saved)
            if is_given:
                shutil.copytree(saved, os.path.join(folder, self.CHECKPOINT_NAME), copy_function=_linked, ignore=shutil.ignore_patterns(_MARK + "*"))
            _report.report(metrics, checkpoint=Checkpoint.from_directory(folder) if is_given else None)
        return control


def _is_for_this_rank(saved):
    """Whether no lower rank sees the same folder, and gives what is in it."""
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


def _linked(source, target):
    """report() copies."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
