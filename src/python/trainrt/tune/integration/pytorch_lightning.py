"""Callbacks of Lightning for trials."""

import os
import tempfile
import warnings
from typing import Any, Union

from ...train._results._checkpoint import Checkpoint
from ...train._sessions import _report
from ...train.lightning._library import pl

__all__ = ["TuneCallback", "TuneReportCallback", "TuneReportCheckpointCallback"]

_HOOKS = tuple(name for name in dir(pl.callbacks.Callback) if name.startswith("on_"))


class TuneCallback(pl.callbacks.Callback):
    """Base class of callbacks that act at chosen hooks of Lightning: `_handle(trainer, pl_module)` is called there.

    Parameters
    ----------
    on : str or list of str, default 'validation_end'
        Names of hooks without `on_`.

    Raises
    ------
    ValueError
        If Lightning has no such hook.

    Examples
    --------
    >>> from trainrt.tune.integration.pytorch_lightning import TuneCallback
    >>> class PrintStep(TuneCallback):
    ...     def _handle(self, trainer, pl_module):
    ...         print(trainer.global_step)
    >>> callback = PrintStep(on=["train_epoch_end", "train_end"])
    """

    def __init__(self, on: Union[str, list[str]] = "validation_end"):
        super().__init__()
        self._on = [f"on_{name}" for name in ([on] if isinstance(on, str) else on)]
        for name in self._on:
            if name not in _HOOKS:
                raise ValueError(f"Invalid hook selected: {name[3:]}. Must be one of {', '.join(each[3:] for each in _HOOKS)}")

    def _handle(self, trainer: Any, pl_module: Any) -> None:
        raise NotImplementedError


def _method(name):
    def hook(self, trainer, pl_module=None, *arguments, **options):
        if name in self._on:
            self._handle(trainer, pl_module)

    hook.__name__ = name
    return hook


for each in _HOOKS:
    setattr(TuneCallback, each, _method(each))


class TuneReportCheckpointCallback(TuneCallback):
    """Reports metrics of Lightning, with a checkpoint of Lightning.

    Parameters
    ----------
    metrics : str, list of str or dict, optional
        Metrics of `trainer.callback_metrics`, or {reported name: name of Lightning}. Default: all.
    filename : str, default 'checkpoint'
        Name of the checkpoint's file.
    save_checkpoints : bool, default True
        Whether the reports have checkpoints.
    on : str or list of str, default 'validation_end'
        Hooks at which it reports, without `on_`.

    Raises
    ------
    ValueError
        If Lightning has no such hook.

    Examples
    --------
    >>> from trainrt.tune.integration.pytorch_lightning import TuneReportCheckpointCallback
    >>> callback = TuneReportCheckpointCallback({"loss": "val_loss"}, filename="trainer.ckpt", on="validation_end")
    """

    def __init__(self, metrics: Union[str, list[str], dict[str, str], None] = None, filename: str = "checkpoint", save_checkpoints: bool = True,
                 on: Union[str, list[str]] = "validation_end"):
        super().__init__(on)
        names = [metrics] if isinstance(metrics, str) else metrics or ()
        self._metrics = dict(metrics) if isinstance(metrics, dict) else {name: name for name in names}
        self._filename, self._save_checkpoints = filename, save_checkpoints

    def _handle(self, trainer: Any, pl_module: Any) -> None:
        metrics = self._chosen(trainer)
        if trainer.sanity_checking or not metrics:
            return
        if not self._save_checkpoints:
            _report.report(metrics)
            return
        with tempfile.TemporaryDirectory(prefix="trainrt_lightning_") as folder:
            trainer.save_checkpoint(os.path.join(folder, self._filename))  # collective; some ranks write no file
            _report.report(metrics, checkpoint=Checkpoint.from_directory(folder) if os.listdir(folder) else None)

    def _chosen(self, trainer: Any) -> dict[str, float]:
        found = {name: value.item() for name, value in trainer.callback_metrics.items()}
        missing = [name for name in self._metrics.values() if name not in found]
        if missing and not trainer.sanity_checking:
            warnings.warn(f"TuneReportCheckpointCallback(metrics=...): {', '.join(missing)} not found; trainer.callback_metrics has "
                          f"{', '.join(found) or 'no metrics'}", stacklevel=2)
        return {reported: found[name] for reported, name in self._metrics.items() if name in found} if self._metrics else found


class TuneReportCallback(TuneReportCheckpointCallback):
    """Reports metrics of Lightning without checkpoints. Deprecated: use `TuneReportCheckpointCallback(save_checkpoints=False)`.

    Examples
    --------
    >>> from trainrt.tune.integration.pytorch_lightning import TuneReportCheckpointCallback
    >>> callback = TuneReportCheckpointCallback({"loss": "val_loss"}, save_checkpoints=False)
    """

    def __init__(self, metrics: Union[str, list[str], dict[str, str], None] = None, on: Union[str, list[str]] = "validation_end"):
        warnings.warn("`TuneReportCallback` is deprecated. Use `TuneReportCheckpointCallback(save_checkpoints=False)` instead.", stacklevel=2)
        super().__init__(metrics=metrics, save_checkpoints=False, on=on)
