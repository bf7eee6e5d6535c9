"""RayTrainReportCallback of Lightning."""

import os
import tempfile

from .. import _report
from .._checkpoint import Checkpoint
from ._library import pl


class RayTrainReportCallback(pl.callbacks.Callback):
    """At the end of each training epoch: reports callback_metrics, epoch and step, with a checkpoint of Lightning's, `checkpoint.ckpt`.
    validation: as of report()."""

    CHECKPOINT_NAME = "checkpoint.ckpt"

    def __init__(self, checkpoint_upload_mode=None, validation=False):
        super().__init__()
        self._mode, self._validation = checkpoint_upload_mode, validation

    def on_train_epoch_end(self, trainer, pl_module):
        metrics = {name: value.item() for name, value in trainer.callback_metrics.items()}
        metrics.update(epoch=trainer.current_epoch, step=trainer.global_step)
        with tempfile.TemporaryDirectory(prefix="trainrt_lightning_") as folder:
            trainer.save_checkpoint(os.path.join(folder, self.CHECKPOINT_NAME), weights_only=False)  # with all ranks, some of which write
            given = Checkpoint.from_directory(folder) if os.listdir(folder) or self._validation else None
            _report.report(metrics, checkpoint=given, checkpoint_upload_mode=_kept(self._mode), delete_local_checkpoint_after_upload=False,
                           validation=self._validation)


def _kept(mode):
    """The folder is ours, and goes when report() has copied it."""
    return _report.CheckpointUploadMode.SYNC if mode is _report.CheckpointUploadMode.ASYNC else mode
