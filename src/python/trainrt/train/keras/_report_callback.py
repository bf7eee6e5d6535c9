"""ReportCheckpointCallback: Ray Train's callback for Keras."""

import os
import sys
import tempfile
from typing import Any, Union

from .._results._checkpoint import Checkpoint
from .._sessions import _current
from .._sessions._report import report
from ._event_callback import EventCallback
from ._model_file import load_model

__doctest_requires__ = {"ReportCheckpointCallback": ["keras"]}
_MODEL_FILE = "model.keras"
_FILE_KEY = "_model_filename"  # Ray Train's key in the metadata


class ReportCheckpointCallback(EventCallback):
    """Reports the logs of Keras, and the model's files as a checkpoint.

    A checkpoint contains the model that `model.save()` writes, with its optimizer. Its metadata has the number of complete epochs as "epochs": pass it as
    `initial_epoch` of `fit()` after a restart. It does not contain the position within an epoch and the counters of other callbacks, which
    `trainrt.train.keras.fit()` saves.

    Parameters
    ----------
    checkpoint_on : str or list of str, default 'epoch_end'
        Events at which a checkpoint is reported, with metrics: names of Keras' hooks without `on_`.
    report_metrics_on : str or list of str, default 'epoch_end'
        Events at which metrics are reported.
    metrics : str, list of str or dict, optional
        Logs to report, or {reported name: name of the log}. Default: all.

    Raises
    ------
    TypeError, ValueError
        If an argument is invalid.

    Examples
    --------
    >>> import keras, numpy
    >>> from trainrt import train
    >>> from trainrt.train.keras import ReportCheckpointCallback
    >>> model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    >>> model.compile("sgd", "mse")
    >>> _ = model.fit(numpy.ones((8, 1)), numpy.ones(8), epochs=2, verbose=0, callbacks=[ReportCheckpointCallback()])
    >>> train.get_checkpoint().get_metadata()["epochs"]
    2
    """

    CHECKPOINT_NAME = _MODEL_FILE

    def __init__(self, checkpoint_on: Union[str, list[str]] = "epoch_end", report_metrics_on: Union[str, list[str]] = "epoch_end",
                 metrics: Union[str, list[str], dict[str, str], None] = None):
        self._checkpoint_on, self._report_metrics_on = _list_of(checkpoint_on), _list_of(report_metrics_on)
        if not isinstance(metrics, (type(None), str, list, tuple, dict)):
            raise TypeError(f"ReportCheckpointCallback(metrics={metrics!r}): it must be a name, a list of names, or a dict {{reported name: name of the log}}")
        self._metrics = metrics
        self._epochs = 0
        super().__init__([*self._checkpoint_on, *self._report_metrics_on])

    @staticmethod
    def get_model(checkpoint: Checkpoint) -> Any:
        """Returns the compiled model in a checkpoint, with the state of its optimizer. Under a strategy of TensorFlow, call it in strategy.scope().

        Raises ValueError if its file is not of the format .keras. Functions in the file, such as those of Lambda layers, are not loaded."""
        with checkpoint.as_directory() as folder:
            return load_model(_keras(), os.path.join(folder, _MODEL_FILE))

    def on_epoch_begin(self, epoch: int, logs: Union[dict[str, Any], None] = None) -> None:
        self._epochs = epoch
        super().on_epoch_begin(epoch, logs)

    def on_epoch_end(self, epoch: int, logs: Union[dict[str, Any], None] = None) -> None:
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
        """Saves the model, and returns the checkpoint on rank 0, else `None`. Under a strategy with several workers all ranks save, since some
        variables are read collectively."""
        model, is_first = self.model, _current.session().world_rank == 0
        if not is_first and not _has_several_workers(model):
            return None
        model.save(os.path.join(folder, _MODEL_FILE))
        if not is_first:
            return None
        checkpoint = Checkpoint.from_directory(folder)
        checkpoint.set_metadata({_FILE_KEY: _MODEL_FILE, "epochs": self._epochs})
        return checkpoint


def chosen_metrics(chosen, logs):
    """Returns the logs that `chosen` names, as plain numbers. Raises KeyError for a missing log."""
    logs = {name: _number(value) for name, value in (logs or {}).items()}
    if chosen is None:
        return logs
    pairs = chosen.items() if isinstance(chosen, dict) else [(name, name) for name in _list_of(chosen)]
    for _, name in pairs:
        if name not in logs:
            raise KeyError(f"ReportCheckpointCallback: no log '{name}'; Keras logs {', '.join(sorted(logs)) or 'nothing'} here")
    return {reported: logs[name] for reported, name in pairs}


def _keras():
    """Returns TensorFlow's Keras, which may be Keras 2, if the script uses TensorFlow; otherwise the package keras."""
    if "tensorflow" in sys.modules and os.environ.get("KERAS_BACKEND", "tensorflow") == "tensorflow":
        import tensorflow
        return tensorflow.keras
    import keras
    return keras


def _has_several_workers(model):
    strategy = getattr(model, "distribute_strategy", None)
    return strategy is not None and getattr(strategy.extended, "_in_multi_worker_mode", lambda: False)()


def _list_of(given):
    return [given] if isinstance(given, str) else list(given)


def _number(value):
    value = value.numpy() if hasattr(value, "numpy") else value
    return value.item() if hasattr(value, "item") and getattr(value, "size", 1) == 1 else value
