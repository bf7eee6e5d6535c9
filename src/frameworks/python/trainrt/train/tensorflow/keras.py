"""ReportCheckpointCallback: what Keras' fit() reports and saves."""

import os
import tempfile

from .. import _report
from .._checkpoint import Checkpoint
from .._context import get_context
from ._library import tensorflow

_EVENTS = ("epoch_begin", "epoch_end", "train_batch_begin", "train_batch_end", "test_batch_begin", "test_batch_end", "predict_batch_begin",
           "predict_batch_end", "train_begin", "train_end", "test_begin", "test_end", "predict_begin", "predict_end")


def _events(name, given):
    events = [given] if isinstance(given, str) else list(given)
    unknown = [event for event in events if event not in _EVENTS]
    if unknown:
        raise ValueError(f"ReportCheckpointCallback({name}={given!r}): there is no {', '.join(map(repr, unknown))}; there are: {', '.join(_EVENTS)}")
    return events


class ReportCheckpointCallback(tensorflow.keras.callbacks.Callback):
    """Ray Train's arguments: events of Keras, "epoch_end" by default, at which Keras' logs are reported, and at which the model is saved too, as
    `model.keras` in a checkpoint, by rank 0. metrics: names of logs, all by default, or {name in the report: name of Keras'}. The checkpoint's
    metadata has "epochs": those that are complete."""

    CHECKPOINT_NAME = "model.keras"

    def __init__(self, checkpoint_on="epoch_end", report_metrics_on="epoch_end", metrics=None):
        super().__init__()
        self._checkpoint_on = _events("checkpoint_on", checkpoint_on)
        self._report_on = _events("report_metrics_on", report_metrics_on)
        self._names = {metrics: metrics} if isinstance(metrics, str) else metrics if isinstance(metrics, dict) else {name: name for name in metrics or ()}
        self._epochs = 0
        for event in {*self._checkpoint_on, *self._report_on} - {"epoch_begin", "epoch_end"}:  # others would cost time at each batch
            setattr(self, f"on_{event}", self._hook(event))

    def _hook(self, event):
        return lambda *arguments, logs=None: self._handle(event, arguments[-1] if arguments and isinstance(arguments[-1], dict) else logs)

    @classmethod
    def get_model(cls, checkpoint):
        """The compiled model in a checkpoint, with the state of its optimizer; within strategy.scope()."""
        with checkpoint.as_directory() as folder:
            return tensorflow.keras.models.load_model(os.path.join(folder, cls.CHECKPOINT_NAME))

    def on_epoch_begin(self, epoch, logs=None):
        self._epochs = epoch
        self._handle("epoch_begin", logs)

    def on_epoch_end(self, epoch, logs=None):
        self._epochs = epoch + 1
        self._handle("epoch_end", logs)

    def _handle(self, event, logs):
        if event not in self._checkpoint_on and event not in self._report_on:
            return
        metrics = self._chosen(logs or {})
        if event not in self._checkpoint_on:
            return _report.report(metrics)
        with tempfile.TemporaryDirectory(prefix="trainrt_keras_") as folder:
            self.model.save(os.path.join(folder, self.CHECKPOINT_NAME))  # on all ranks: they read variables together
            if get_context().get_world_rank() != 0:
                return _report.report(metrics)
            given = Checkpoint.from_directory(folder)
            given.set_metadata({"epochs": self._epochs})
            return _report.report(metrics, checkpoint=given)

    def _chosen(self, logs):
        missing = [name for name in self._names.values() if name not in logs]
        if missing:
            raise ValueError(f"ReportCheckpointCallback(metrics=...): Keras has no {', '.join(missing)} here; it has: {', '.join(logs) or 'nothing'}")
        return {name: logs[of] for name, of in self._names.items()} if self._names else dict(logs)

