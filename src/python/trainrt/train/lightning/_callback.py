"""RayTrainReportCallback of Lightning."""

import os
import tempfile

from .._sessions import _report
from .._results._checkpoint import Checkpoint
from ._library import pl


class RayTrainReportCallback(pl.callbacks.Callback):
    """At the end of each training epoch: reports callback_metrics, epoch and step, with a checkpoint of Lightning's, `checkpoint.ckpt`.
    validation: as of report(). every_n_train_steps, which Ray Train has not: the same after so many steps of the optimizer, within epochs too; a run
    that goes on from there needs loaders that know their place, prepare_data_loader()'s."""

    CHECKPOINT_NAME = "checkpoint.ckpt"

    def __init__(self, checkpoint_upload_mode=None, validation=False, every_n_train_steps=None):
        super().__init__()
        if every_n_train_steps is not None and (type(every_n_train_steps) is not int or every_n_train_steps < 1):
            raise ValueError(f"RayTrainReportCallback(every_n_train_steps={every_n_train_steps!r}): it must be a whole number from 1")
        self._mode, self._validation, self._every = checkpoint_upload_mode, validation, every_n_train_steps
        self._last_step, self._is_within_epoch = 0, False

    def on_train_start(self, trainer, pl_module):
        self._last_step = trainer.global_step

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        stepped = trainer.global_step != self._last_step  # not if gradients only add up
        self._last_step = trainer.global_step
        if self._every and stepped and trainer.global_step % self._every == 0 and batch_idx + 1 != trainer.num_training_batches:
            self._is_within_epoch = True
            try:
                self._report(trainer)
            finally:
                self._is_within_epoch = False

    def on_train_epoch_end(self, trainer, pl_module):
        self._report(trainer)

    def on_save_checkpoint(self, trainer, pl_module, checkpoint):
        """Lightning counts a batch as completed only behind on_train_batch_end(): its checkpoint of there would train that batch again."""
        if self._is_within_epoch:
            loop = checkpoint["loops"]["fit_loop"]
            for counts in (loop["epoch_loop.batch_progress"]["total"], loop["epoch_loop.batch_progress"]["current"]):
                counts["completed"] = counts["processed"]
            loop["epoch_loop.state_dict"]["_batches_that_stepped"] += 1

    def _report(self, trainer):
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
