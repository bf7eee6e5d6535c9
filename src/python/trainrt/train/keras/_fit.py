"""`fit()`: Keras' `fit()` that may stop after any batch, and resumes with the next one."""

from collections.abc import Sequence
from typing import Any, Optional, Union

from .._sessions import _framework_state
from .._sessions._report import report
from . import _epoch_data, _order, _random
from ._callback_counters import CallbackCounters
from ._epoch_metrics import EpochMetrics
from ._event_callback import EventCallback
from ._joined_fits import JoinedFits
from ._report_callback import chosen_metrics
from ._state import attach

__doctest_requires__ = {"*": ["keras"]}
_NOT_TAKEN = {"x": "data is the second argument", "y": "data is (x, y), or a function of the epoch", "initial_epoch": "the checkpoint has the next epoch",
              "shuffle": "arrays are shuffled by seed and epoch; for another order, pass a function of the epoch", "validation_split": "pass validation_data"}


def fit(model: Any, data: Any, *, epochs: int, callbacks: Sequence[Any] = (), metrics: Union[str, list[str], dict[str, str], None] = None,
        batch_size: Optional[int] = None, steps_per_epoch: Optional[int] = None, verbose: Any = 0, **arguments: Any) -> Any:
    """Trains a Keras model over the ranks of a run, with `model.fit()` for each epoch.

    The run may stop after each batch, and a checkpoint is taken there if one is due. Each epoch is reported. A restart resumes after the last batch of the
    checkpoint, with the same results as a run without a restart. Calls `load_state()`: call it once in a run, on all ranks.

    A checkpoint contains the weights, the optimizer's variables, the counters of callbacks (such as EarlyStopping and ReduceLROnPlateau), the position in the
    data, the metrics of the current epoch, and the states of random generators. It does not contain: the order of data that shuffle themselves
    (Dataset.shuffle() without reshuffle_each_iteration=False, a DataLoader without a seeded generator), weights that EarlyStopping keeps
    (restore_best_weights), and the masks of Dropout in Keras 2, unless tf.keras.backend.experimental.enable_tf_random_generator() was called.

    Parameters
    ----------
    model : keras.Model
        Built and compiled.
    data : object
        A function of the epoch's number that returns the argument `x` of `model.fit()` (tf.data.Dataset, DataLoader, PyDataset, generator or arrays `(x, y)`),
        with the same batches for the same number. Or a dataset with the same batches in each epoch. Or arrays `(x, y)`, which are shuffled by run.seed and
        the epoch.
    epochs : int
        Number of epochs.
    callbacks : sequence, optional
        Callbacks of Keras.
    metrics : str, list of str or dict, optional
        Logs to report, as in ReportCheckpointCallback. Default: all.
    batch_size : int, optional
        For arrays only. Default: 32.
    steps_per_epoch : int, optional
    verbose : optional
    **arguments
        Other arguments of `model.fit()`, such as `validation_data`.

    Returns
    -------
    keras.callbacks.History
        History of the epochs of this start, or `None` if no epoch was left.

    Raises
    ------
    ValueError
        If an argument is invalid, or the model is not built and compiled.
    TypeError
        If `data` is an iterator, which ends after its first epoch.

    Examples
    --------
    >>> import keras, numpy
    >>> from trainrt.train.keras import fit
    >>> model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    >>> model.compile("sgd", "mse")
    >>> len(fit(model, (numpy.ones((8, 1)), numpy.ones(8)), epochs=2).history["loss"])
    2
    """
    _check(model, epochs, arguments)
    epoch_metrics = EpochMetrics(model)
    state = attach(model, {"epoch": 0, "batch": 0, "stopped": False, "callbacks": "{}"}, [epoch_metrics.leaf()])
    counters = CallbackCounters(list(callbacks))
    with JoinedFits(model, list(callbacks)) as fits:
        while state["epoch"] < epochs and not state["stopped"]:
            epoch, skipped = state["epoch"], state["batch"]
            position = _PositionCallback(state, counters, epoch_metrics, metrics, epoch, skipped)
            x = _order.of_epoch(data, epoch, _seed())
            with _epoch_data.remaining(model, x, skipped, batch_size, steps_per_epoch) as words:
                model.fit(**words, epochs=epoch + 1, initial_epoch=epoch, callbacks=[*fits.callbacks, position], verbose=verbose, **arguments)
            fits.take_history()
    return fits.history


def _seed():
    ctx = _framework_state.runtime()
    return ctx.seed if ctx is not None else 0


def _check(model, epochs, arguments):
    if isinstance(epochs, bool) or not isinstance(epochs, int) or epochs < 0:
        raise ValueError(f"fit(epochs={epochs!r}): it must be an integer, 0 or more")
    if getattr(model, "optimizer", None) is None:
        raise ValueError(f"the model {model.name} is not compiled; call model.compile(optimizer, loss) before fit()")
    for name, reason in _NOT_TAKEN.items():
        if name in arguments:
            raise ValueError(f"fit({name}=...) is not supported: {reason}")


class _PositionCallback(EventCallback):
    """Saves the position of the training. It must be the last of the callbacks."""

    def __init__(self, state, counters, epoch_metrics, metrics, epoch, skipped):
        super().__init__(["train_begin", "train_batch_begin", "train_batch_end", "epoch_end"])
        self._state, self._counters, self._metrics = state, counters, metrics
        self._restored_metrics = epoch_metrics if skipped else None  # set to `None` after they were added
        self._epoch, self._done, self._begun = epoch, skipped, 0

    def _handle(self, event, number, logs):
        if event == "train_begin":
            self._counters.begin(self._state["callbacks"])
        elif event == "train_batch_begin":
            self._begun = number
            _random.seed_step()
        elif event == "train_batch_end":
            self._done += number - self._begun + 1
            if self._restored_metrics is not None:
                self._restored_metrics.add_restored()
                self._restored_metrics = None
            _framework_state.step({"batch": self._done, "callbacks": self._counters.text()})
        else:
            self._state.change({"epoch": self._epoch + 1, "batch": 0, "stopped": bool(self._model.stop_training), "callbacks": self._counters.text()})
            report(chosen_metrics(self._metrics, logs))
