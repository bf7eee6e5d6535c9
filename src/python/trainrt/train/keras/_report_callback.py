"""ReportCheckpointCallback: Ray Train's callback for Keras."""

import os
import sys
import tempfile

from .._sessions import _current
from .._results._checkpoint import Checkpoint
from .._sessions._report import report
from ._event_callback import EventCallback

_MODEL_FILE = "model.keras"
_FILE_KEY = "_model_filename"  # in the metadata, as Ray Train has it


class ReportCheckpointCallback(EventCallback):
    """Reports the metrics of Keras, and the model as files, at the events given: names of Keras' hooks without `on_`. Metrics are reported with each
    checkpoint. metrics: all of the logs; or a name, or a list of names; or {the name to report: that of the log}.

    A checkpoint holds what model.save() writes, with the optimizer: get_model(checkpoint) loads it. Its metadata has "epochs", those that are complete: the
    initial_epoch of fit() after a restart. What it does not hold is the place within an epoch and what other callbacks count: trainrt.train.keras.fit()
    holds both.
    """

    CHECKPOINT_NAME = _MODEL_FILE

    def __init__(self, checkpoint_on="epoch_end", report_metrics_on="epoch_end", metrics=None):
        self._checkpoint_on, self._report_metrics_on = _events(checkpoint_on), _events(report_metrics_on)
        if not isinstance(metrics, (type(None), str, list, tuple, dict)):
            raise TypeError(f"ReportCheckpointCallback(metrics={metrics!r}): it must be a name, a list of names, or a dict {{reported name: name of the log}}")
        self._metrics = metrics
        self._epochs = 0
        super().__init__([*self._checkpoint_on, *self._report_metrics_on])

    @staticmethod
    def get_model(checkpoint):
        """The compiled model in a checkpoint, with the state of its optimizer; under a strategy of TensorFlow within strategy.scope()."""
        with checkpoint.as_directory() as folder:
            return _keras().models.load_model(os.path.join(folder, _MODEL_FILE))

    def on_epoch_begin(self, epoch, logs=None):
        self._epochs = epoch
        super().on_epoch_begin(epoch, logs)

    def on_epoch_end(self, epoch, logs=None):
        self._epochs = epoch + 1
        super().on_epoch_end(epoch, logs)

    def _handle(self, event, number, logs):
        metrics = chosen_metrics(self._metrics, logs)
        if event not in self._checkpoint_on:
            return report(metrics)
        with tempfile.TemporaryDirectory(prefix="trainrt_keras_") as folder:
            report(metrics, checkpoint=self._saved(folder))
        return None

    def _saved(self, folder):
        """Rank 0's files; under a strategy of several workers all of them save, as some variables are read together."""
        model, is_first = self.model, _current.session().world_rank == 0
        if not is_first and not _has_strategy(model):
            return None
        model.save(os.path.join(folder, _MODEL_FILE))
        if not is_first:
            return None
        checkpoint = Checkpoint.from_directory(folder)
        checkpoint.set_metadata({_FILE_KEY: _MODEL_FILE, "epochs": self._epochs})
        return checkpoint


def _keras():
    """The one of TensorFlow, where that is used: it may be Keras 2."""
    if "tensorflow" in sys.modules and os.environ.get("KERAS_BACKEND", "tensorflow") == "tensorflow":
        import tensorflow
        return tensorflow.keras
    import keras
    return keras


def _has_strategy(model):
    strategy = getattr(model, "distribute_strategy", None)
    return strategy is not None and getattr(strategy.extended, "_in_multi_worker_mode", lambda: False)()


def _events(given):
    return [given] if isinstance(given, str) else list(given)


def chosen_metrics(chosen, logs):
    """Of the logs of Keras, as plain numbers."""
    logs = {name: _number(value) for name, value in (logs or {}).items()}
    if chosen is None:
        return logs
    pairs = chosen.items() if isinstance(chosen, dict) else [(name, name) for name in ([chosen] if isinstance(chosen, str) else chosen)]
    for _, name in pairs:
        if name not in logs:
            raise KeyError(f"ReportCheckpointCallback: Keras logs no '{name}' here; it logs {', '.join(sorted(logs)) or 'nothing'}")
    return {reported: logs[name] for reported, name in pairs}


def _number(value):
    value = value.numpy() if hasattr(value, "numpy") else value
    return value.item() if hasattr(value, "item") and getattr(value, "size", 1) == 1 else value
