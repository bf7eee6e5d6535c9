"""RayTrainReportCallback of Lightning."""

import os
import tempfile
from typing import Optional, Union

from .._results._checkpoint import Checkpoint
from .._sessions import _report
from .._sessions._validation import ValidationTaskConfig
from ._library import pl


class RayTrainReportCallback(pl.callbacks.Callback):
    """Reports `callback_metrics`, `epoch` and `step` at the end of each training epoch, with a checkpoint of Lightning as the file `checkpoint.ckpt`.

    Parameters
    ----------
    checkpoint_upload_mode : CheckpointUploadMode, optional
        As in `report()`.
    validation : bool or ValidationTaskConfig, default False
        As in `report()`.
    every_n_train_steps : int, optional
        Number of optimizer steps per additional report within epochs; Ray Train lacks this argument. To resume within an epoch, the loaders must save
        their position: use `trainrt.train.torch.prepare_data_loader()`.

    Raises
    ------
    ValueError
        If `every_n_train_steps` is invalid.

    Examples
    --------
    >>> from trainrt.train.lightning import RayTrainReportCallback
    >>> callback = RayTrainReportCallback(every_n_train_steps=100)
    """

    CHECKPOINT_NAME = "checkpoint.ckpt"

    def __init__(self, checkpoint_upload_mode: Optional[_report.CheckpointUploadMode] = None, validation: Union[bool, ValidationTaskConfig] = False,
                 every_n_train_steps: Optional[int] = None):
        super().__init__()
        if every_n_train_steps is not None and (type(every_n_train_steps) is not int or every_n_train_steps < 1):
            raise ValueError(f"RayTrainReportCallback(every_n_train_steps={every_n_train_steps!r}): it must be an integer, 1 or more")
        self._mode, self._validation, self._every = checkpoint_upload_mode, validation, every_n_train_steps
        self._last_step, self._is_within_epoch = 0, False

    def on_train_start(self, trainer, pl_module):
        self._last_step = trainer.global_step

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        stepped = trainer.global_step != self._last_step  # False while gradients are accumulated
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
        """Marks the current batch as completed in a checkpoint within an epoch: Lightning does this only after on_train_batch_end(), and would
        otherwise train the batch again."""
        if self._is_within_epoch:
            loop = checkpoint["loops"]["fit_loop"]
            for counts in (loop["epoch_loop.batch_progress"]["total"], loop["epoch_loop.batch_progress"]["current"]):
                counts["completed"] = counts["processed"]
            loop["epoch_loop.state_dict"]["_batches_that_stepped"] += 1

    def _report(self, trainer):
        metrics = {name: value.item() for name, value in trainer.callback_metrics.items()}
        metrics.update(epoch=trainer.current_epoch, step=trainer.global_step)
        with tempfile.TemporaryDirectory(prefix="trainrt_lightning_") as folder:
            trainer.save_checkpoint(os.path.join(folder, self.CHECKPOINT_NAME), weights_only=False)  # collective; some ranks write no file
            given = Checkpoint.from_directory(folder) if os.listdir(folder) or self._validation else None
            _report.report(metrics, checkpoint=given, checkpoint_upload_mode=_without_removal(self._mode), delete_local_checkpoint_after_upload=False,
                           validation=self._validation)


def _without_removal(mode):
    """Replaces ASYNC by SYNC, so that report() does not remove the directory: the callback removes it."""
    return _report.CheckpointUploadMode.SYNC if mode is _report.CheckpointUploadMode.ASYNC else mode
